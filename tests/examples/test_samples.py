"""The sample repositories of fixtures/: what is reported, what repair gives, and that it leaves nothing to report."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.formats import FORMATS
from tests.examples.samples import FIXTURES, KINDS, NAMED, NOT_READ, copied, shmlint, texts


def test_every_kind_of_file_has_a_sample() -> None:
    assert FORMATS.keys() <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_report(kind: str, tmp_path: Path) -> None:
    """`python -m tests.examples.samples` writes the reports."""
    status, report = shmlint(copied(kind, "before", tmp_path), "--fail-on", "warning", *NAMED.get(kind, ["."]))
    assert status == (0 if kind in NOT_READ else 1)
    assert report == (FIXTURES / kind / "report.txt").read_bytes().decode()


def test_repair_gives_the_other_form(tmp_path: Path) -> None:
    for kind in KINDS:
        copied(kind, "before", tmp_path)
    shmlint(tmp_path, "--fix", ".")
    for kind in KINDS:
        form = "before" if kind == "inspect" else "after"
        assert texts(tmp_path / kind) == texts(FIXTURES / kind / form), kind


def test_nothing_is_left_after_repair(tmp_path: Path) -> None:
    for kind in KINDS:
        copied(kind, "after", tmp_path)
    status, report = shmlint(tmp_path, "--fail-on", "note", ".", "inspect/inspect.json")
    assert (status, report.partition(";")[0]) == (0, "nothing found")
