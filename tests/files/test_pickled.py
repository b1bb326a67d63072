"""Results for another process: texts of files are named, all else is copied."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from shmlint.files.pickled import pickled, unpickled
from shmlint.files.workspace import Workspace
from shmlint.model.launch import Launch, ReadOnly, Words
from shmlint.model.source import Source, Span


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


def test_the_launches_of_both_processes_are_not_copied() -> None:
    place = Span(Source("run.sh", "docker run --gpus all a\n"), 0, 23)
    mine, another = (
        Launch("docker-run", name, place, place, Words("`docker run`", "--shm-size"), ReadOnly())
        for name in ("mine", "another")
    )
    again = unpickled(pickled({"mine": mine, "another": another}, Workspace(), [mine]), Workspace(), [mine])
    assert again["mine"] is mine
    with pytest.raises(pickle.UnpicklingError, match="only `unpickled` knows"):
        pickle.loads(pickled(mine, Workspace(), [mine]))
    assert again["another"] is not another
    assert (again["another"].name, again["another"].span.start) == ("another", 0)


def test_what_a_text_in_place_of_a_file_says_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text("docker run --gpus all a\n")
    workspace = Workspace()
    text = workspace.over({"run.sh": "docker run b\n"}).source("run.sh")
    assert unpickled(pickled(text, workspace), workspace).text == "docker run b\n"
