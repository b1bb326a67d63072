"""Results for another process: texts of files are named, all else is copied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shmlint.files.pickled import pickled, unpickled
from shmlint.files.workspace import Workspace
from shmlint.model.source import Source, Span

if TYPE_CHECKING:
    import pytest


def test_the_texts_of_files_are_those_of_the_other_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text("docker run --gpus all a\n" * 1000)
    ours, theirs = Workspace(), Workspace()
    other = Source("made up", "docker run b\n")
    given = (Span(ours.source("run.sh"), 0, 6), Span(other, 0, 6))
    data = pickled(given, ours)
    assert len(data) < 1000
    named, copied = unpickled(data, theirs)
    assert named == Span(theirs.source("run.sh"), 0, 6)
    assert (copied.source.path, copied.source.text) == ("made up", other.text)


def test_what_both_processes_have_is_not_copied() -> None:
    common = [["a"], ["b"]]
    again = unpickled(pickled({"one": common[1], "equal": ["b"]}, Workspace(), common), Workspace(), common)
    assert again["one"] is common[1]
    assert again["equal"] == ["b"] and again["equal"] is not common[1]


def test_what_a_text_in_place_of_a_file_says_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text("docker run --gpus all a\n")
    workspace = Workspace()
    text = workspace.over({"run.sh": "docker run b\n"}).source("run.sh")
    assert unpickled(pickled(text, workspace), workspace).text == "docker run b\n"
