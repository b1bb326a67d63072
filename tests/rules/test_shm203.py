"""SHM203 bytes-not-megabytes."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings, fixed
from tests.rules.cases import SIZE_RULES, levels, service
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "bare": (service("shm_size: 64"), [("SHM203", "error")]),
    "bare text": (service("shm_size: '8'"), [("SHM203", "error")]),
    "bare without gpu": (service("shm_size: 256", gpu=None), [("SHM203", "error")]),
    "bytes": (service("shm_size: 8589934592"), []),
}  # fmt: skip


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_found(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(levels(findings(tmp_path, text, select=SIZE_RULES))) == expected


MESSAGES: dict[str, tuple[str, str]] = {
    "bytes": (service("shm_size: 64"), "service `x`: shm_size 64 counts bytes: /dev/shm is 4 KiB"),
    "pages": (service("shm_size: 8192"), "service `x`: shm_size 8192 counts bytes: /dev/shm is 8 KiB"),
}  # fmt: skip


@table(("text", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages(tmp_path: Path, text: str, message: str) -> None:
    assert [f.message for f in findings(tmp_path, text, select=SIZE_RULES)] == [message]


REPAIRS: dict[str, tuple[str, str]] = {
    "bare": ("64", "64mb"),
    "too many": ("1000000", "1gb"),
    "one": ("1", "1gb"),
}  # fmt: skip


@table(("before", "after"), REPAIRS.values(), ids=REPAIRS)
def test_repairs_of_a_size_without_a_gpu(tmp_path: Path, before: str, after: str) -> None:
    def text(size: str) -> str:
        return service(f"shm_size: {size}", gpu=None, image="foo")

    assert fixed(tmp_path, text(before)) == {"compose.yaml": text(after)}
