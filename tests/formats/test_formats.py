"""What all formats share: one unreadable file of several stops nothing."""

from __future__ import annotations

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.model.reading import NotRead, Reading
from shmlint.model.source import Source, Span


def test_each_file_is_read_by_itself() -> None:
    def read_file(source: Source) -> Reading:
        if source.text == "broken":
            raise Unreadable(source.path, "not valid", 3, source)
        return Reading(not_read=(NotRead(Span(source, 0, 1), source.text, "unsupported"),))

    workspace = Workspace({"a": "one", "b": "broken", "c": "two"})
    reading = read_each(["a", "gone", "b", "c"], workspace, read_file)
    assert [place.because for place in reading.not_read] == ["one", "two"]
    assert [(problem.span.path, problem.span.start) for problem in reading.problems] == [("gone", 0), ("b", 3)]
