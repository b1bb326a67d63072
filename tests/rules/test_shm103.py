"""SHM103 shm-size-below-recommended."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import SIZE_RULES, levels_test, messages_test, service
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "below advice": (service("shm_size: 2gb"), [("SHM103", "note")]),
    "as advised": (service("shm_size: 8gb"), []),
    "more than advised": (service("shm_size: 64gb"), []),
    "below advice, unknown": (service("shm_size: 1gb", image="pytorch/pytorch"), []),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


MESSAGES: dict[str, tuple[str, str]] = {
    "advice": (service("shm_size: 2gb"), "GPU service `x` gets 2 GiB of /dev/shm where 8 GiB is advised"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)


TGI = "docker run --gpus all {} ghcr.io/huggingface/text-generation-inference:3.3.5 --model-id a/b\n"


@table("size, levels", [("--shm-size 1g", []), ("--shm-size 768m", ["SHM103"])])
def test_another_page_says_less_than_the_makers(tmp_path: Path, size: str, levels: list[str]) -> None:
    """They recommend 1 GiB; another page gives the same container 64 GiB."""
    files = {"start.md": f"```sh\n{TGI.format(size)}```\n", "large.md": f"```sh\n{TGI.format('--shm-size 64g')}```\n"}
    found = findings(tmp_path, files, select=SIZE_RULES)
    assert [finding.rule for finding in found if finding.span.path == "start.md"] == levels
