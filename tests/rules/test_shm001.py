"""SHM001 unreadable-file."""

from __future__ import annotations

from pathlib import Path

from tests.project import findings
from tests.rules.cases import SIZE_RULES, levels
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "not yaml": ("services: [\n", [("SHM001", "error")]),
    "twice": ("services:\n  a:\n    image: x\n    image: y\n", [("SHM001", "error")]),
    "nothing": ("", [("SHM001", "error")]),
    "no services": ("version: '3'\n", []),
}  # fmt: skip


@table(("text", "expected"), CASES.values(), ids=CASES)
def test_what_is_found(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(levels(findings(tmp_path, text, select=SIZE_RULES))) == expected
