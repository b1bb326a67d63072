"""SHM001 unreadable-file."""

from __future__ import annotations

from tests.rules.cases import SIZE_RULES, levels_test

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "not yaml": ("services: [\n", [("SHM001", "error")]),
    "twice": ("services:\n  a:\n    image: x\n    image: y\n", [("SHM001", "error")]),
    "nothing": ("", [("SHM001", "error")]),
    "no services": ("version: '3'\n", []),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)
