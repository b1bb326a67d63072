"""SHM205 build-only-shm-size."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.fixing.plan import planned
from tests.project import findings, fixed
from tests.rules.cases import SIZE_RULES, levels_test, overridden_test, service

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "build only": (service("build: {context: ., shm_size: 8gb}"), [("SHM205", "error")]),
    "build only, an unknown program":
        (service("build: {context: ., shm_size: 8gb}", image="example/own"), [("SHM205", "warning")]),
    "build and own": (service("build: {context: ., shm_size: 8gb}", "shm_size: 8gb"), []),
    "build only, needs nothing":
        (service("build: {context: ., shm_size: 8gb}", image="ollama/ollama"), [("SHM205", "note")]),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


test_a_size_that_does_not_count = overridden_test(
    [
        (("build: {context: ., shm_size: 8gb}",), ["SHM205"]),
        (("build: {context: ., shm_size: 8gb}", "ipc: host"), []),
        (("build: {context: ., shm_size: 8gb}", "tmpfs: /dev/shm"), []),
        (("build: {context: ., shm_size: 8gb}", "shm_size: 1gb"), []),
        (("build: {context: ., shm_size: 8gb}", "shm_size: '${SIZE}'"), []),
    ]
)


@pytest.mark.parametrize(
    ("build", "default", "given"),
    [
        ("8gb", 64 << 20, "gets 64 MiB of /dev/shm"),
        ("8gb", 4 << 30, "gets 4 GiB of /dev/shm"),
        ("8gb", 8 << 30, ""),
        ("1gb", 32 << 30, ""),
    ],
)
def test_a_size_of_the_build_is_measured_by_the_daemons_default(
    tmp_path: Path, build: str, default: int, given: str
) -> None:
    text = f"services:\n  x:\n    build: {{context: ., shm_size: {build}}}\n    gpus: all\n"
    found = findings(tmp_path, text, select=("SHM205",), default_shm_size=default)
    assert [given in f.message for f in found] == ([True] if given else [])


def test_the_size_of_the_build_is_what_is_written(tmp_path: Path) -> None:
    text = "services:\n  x:\n    build: {context: ., shm_size: 16gb}\n    gpus: all\n"
    titles = [plan.title for plan in map(planned, findings(tmp_path, text)) if plan]
    assert len(titles) == 1 and all("shm_size: 16gb" in title for title in titles)
    assert fixed(tmp_path, text)["compose.yaml"] == text + "    shm_size: 16gb\n"


BUILD_ONLY = "services:\n  x:\n    build: {context: ., shm_size: 8gb}\n    gpus: all\n    command: %s\n"


def test_one_finding_says_what_is_needed_and_where_the_size_went(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, BUILD_ONLY % "torchrun --nproc_per_node=4 train.py")
    assert (found.rule, found.severity) == ("SHM205", "error")
    assert "and needs" in found.message and "under `build`" in found.message
    assert "NCCL" in [reason.label for reason in found.why]


def test_without_this_rule_the_lack_is_reported(tmp_path: Path) -> None:
    found = findings(tmp_path, BUILD_ONLY % "torchrun --nproc_per_node=4 train.py", ignore=("SHM205",))
    assert [(one.rule, one.severity) for one in found] == [("SHM101", "error")]
