"""SHM103 shm-size-below-recommended."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import SIZE_RULES, levels, service
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "below advice": (service("shm_size: 2gb"), [("SHM103", "note")]),
    "as advised": (service("shm_size: 8gb"), []),
    "more than advised": (service("shm_size: 64gb"), []),
    "below advice, unknown": (service("shm_size: 1gb", image="pytorch/pytorch"), []),
}  # fmt: skip


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_found(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(levels(findings(tmp_path, text, select=SIZE_RULES))) == expected


MESSAGES: dict[str, tuple[str, str]] = {
    "advice": (service("shm_size: 2gb"), "GPU service `x` gets 2 GiB of /dev/shm where 8 GiB is advised"),
}  # fmt: skip


@table(("text", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    assert [f.message for f in findings(tmp_path, text, select=SIZE_RULES)] == [message]
