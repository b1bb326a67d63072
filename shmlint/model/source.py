"""One file's text exactly as it is on disk, with spans and edits on it.

Offsets are characters from the start of the text, byte order mark and carriage returns
included, so that splicing an edit into the text and encoding it again gives back every
untouched byte.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Literal

from shmlint.model.record import NamedTuple

BOM = "\ufeff"


class Position(NamedTuple):
    """A place in a file: 1-based line and column; columns count characters."""

    line: int
    column: int


class Source:
    """The text of one file and the path it is reported under.

    ``path`` is what is printed: relative to the directory the run started in, with ``/``.
    """

    __slots__ = ("_starts", "marked_only", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.marked_only = False
        """A report shows what is marked and not the line around it, which may hold passwords."""
        self._starts: list[int] | None = None

    def __repr__(self) -> str:
        return f"Source({self.path!r})"

    @property
    def line_starts(self) -> list[int]:
        """Offset of the first character of each line."""
        if self._starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        return self._starts

    def position(self, offset: int) -> Position:
        """Line and column of a character offset. A byte order mark takes no column."""
        starts = self.line_starts
        line = bisect_right(starts, offset)
        column = offset - starts[line - 1] + 1
        if line == 1 and self.text.startswith(BOM):
            column = max(1, column - 1)
        return Position(line, column)

    def line_span(self, line: int) -> tuple[int, int]:
        """Start and end offset of a 1-based line, its line ending left out."""
        starts = self.line_starts
        start = starts[line - 1]
        end = starts[line] - 1 if line < len(starts) else len(self.text)
        if end > start and self.text[end - 1] == "\r":
            end -= 1
        return start, end

    def line_spans(self) -> list[tuple[int, int]]:
        """Start and end offset of each line, in their order, their line endings left out."""
        starts = self.line_starts
        if "\r" in self.text:
            return [self.line_span(line) for line in range(1, len(starts) + 1)]
        return list(zip(starts, [*(start - 1 for start in starts[1:]), len(self.text)], strict=True))

    def line_text(self, line: int) -> str:
        start, end = self.line_span(line)
        return self.text[start:end].removeprefix(BOM) if line == 1 else self.text[start:end]

    @property
    def newline(self) -> str:
        """The file's own line ending: that of its first line, ``\\n`` where it has none."""
        at = self.text.find("\n")
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"


class Span(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of a source."""

    source: Source
    start: int
    end: int

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        return self.source.position(self.start).line

    @property
    def begin(self) -> Position:
        return self.source.position(self.start)

    @property
    def finish(self) -> Position:
        return self.source.position(self.end)


class Edit(NamedTuple):
    """Replace characters ``start`` to ``end`` of the file at ``path`` by ``text``."""

    path: str
    start: int
    end: int
    text: str


ProblemKind = Literal["unreadable", "syntax", "wrong-file", "refused", "missing", "limit"]
"""A file that is not text, a text that does not parse, a file that is something else than its name says,
what an engine refuses, what is not followed any further."""


class Problem(NamedTuple):
    """Something a file is refused for, and where: a parser's or an engine's own rule."""

    span: Span
    message: str
    kind: ProblemKind = "refused"
    facts: tuple[str, ...] = ()
    """What the message states, where one place may be refused for several things."""

    @property
    def key(self) -> tuple[str, int, ProblemKind, tuple[str, ...]]:
        """What tells it from other problems of a run."""
        return self.span.path, self.span.start, self.kind, self.facts


class OverlappingEdits(ValueError):
    """Two edits want to change the same characters."""


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Splice edits into a text; the same edit given twice counts once.

    Raises OverlappingEdits where two of them touch the same characters.
    """
    return "".join(_pieces(text, sorted(set(edits))))


def _pieces(text: str, edits: list[Edit]) -> Iterator[str]:
    at = 0
    inserted_at = -1
    for edit in edits:
        if edit.start < at or (edit.start == inserted_at == edit.end):
            raise OverlappingEdits(f"{edit.path}: two edits at offset {edit.start}")
        yield text[at : edit.start]
        yield edit.text
        at = edit.end
        inserted_at = edit.start
    yield text[at:]


def character_offsets(text: str) -> list[int] | None:
    """For each byte of a text's UTF-8 form, and for its end, the character it belongs to.

    None where they are the same, in a text of nothing but ASCII.
    """
    if text.isascii():
        return None
    offsets: list[int] = []
    at = 0
    for found in re.finditer(r"[^\x00-\x7f]", text):
        i, code = found.start(), ord(found[0])
        offsets += range(at, i)
        offsets += [i] * (2 if code < 0x800 else 3 if code < 0x10000 else 4)
        at = i + 1
    offsets += range(at, len(text) + 1)
    return offsets
