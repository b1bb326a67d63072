"""Frames: the lines of files that show a finding, with markers under what is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shmlint.model.finding import Finding
from shmlint.model.record import NamedTuple
from shmlint.model.source import Span
from shmlint.reports import escape
from shmlint.reports.terminal import Paint, columns, fit, wrapped

_MOST = 6
"""So many places of a finding are shown."""
_INDENT = 2
_INDICATOR = re.compile(r"[>|][-+0-9]*(?: +#.*)?")


class Mark(NamedTuple):
    """A place, what is said about it, and whether it is the finding's own."""

    span: Span
    text: str
    main: bool


class View(NamedTuple):
    """A part of a line: its offsets in the text, whether something is cut on each side, and what is marked in it."""

    start: int
    end: int
    cut_left: bool
    cut_right: bool
    marks: tuple[Mark, ...]


def frames(findings: Sequence[Finding], paint: Paint, width: int) -> Iterator[str]:
    """The places of findings that are told together: those of their own file first, then each other file's."""
    finding, marks = findings[0], _marks(findings)
    digits = max((len(str(mark.span.line)) for mark in marks), default=1)
    room = width - _INDENT - digits - 3
    paths = dict.fromkeys((finding.span.path, *(mark.span.path for mark in marks)))
    for path in paths:
        here = sorted((m for m in marks if m.span.path == path), key=lambda mark: mark.span.start)
        if path != finding.span.path:
            yield f"{' ' * _INDENT}{paint(escape(path), 'bold')}"
        yield from _lines(here, digits, room, paint)


def _marks(findings: Sequence[Finding]) -> list[Mark]:
    """The places of findings; what is said about one place is combined. The message of the first stands above."""
    texts: dict[Span, list[str]] = {}
    for number, finding in enumerate(findings):
        if finding.span.source.text:
            texts.setdefault(finding.span, []).extend([finding.says.strip()] if number else ())
    for evidence in findings[0].evidence:
        if evidence.span is None or not evidence.span.source.text:
            continue
        if evidence.span in texts or len(texts) < _MOST:
            said = texts.setdefault(evidence.span, [])
            if evidence.text not in said:
                said.append(evidence.text)
    main = {finding.span for finding in findings}
    return [Mark(_content(span), "; ".join(said), span in main) for span, said in texts.items()]


def _content(span: Span) -> Span:
    """The first line of a block of YAML instead of the block, which begins with its indicator."""
    head, newline, rest = span.text.partition("\n")
    if not newline or not _INDICATOR.fullmatch(head.rstrip()):
        return span
    start = span.start + len(head) + 1 + len(rest) - len(rest.lstrip())
    return span._replace(start=min(start, span.end))


def _lines(marks: Sequence[Mark], digits: int, room: int, paint: Paint) -> Iterator[str]:
    """The marked lines of one file."""
    bar = paint("│", "dim")
    margin = " " * (_INDENT + digits)
    for number in dict.fromkeys(mark.span.line for mark in marks):
        on_line = [mark for mark in marks if mark.span.line == number]
        lead = str(number).rjust(_INDENT + digits)
        for view in _views(on_line, room):
            yield f"{lead} {bar} {_source_line(view)}".rstrip()
            lead = margin
            for mark in view.marks:
                for text in _mark(mark, view, room):
                    yield f"{margin} {bar} {paint(text, 'bold' if mark.main else 'dim')}"


def _views(marks: Sequence[Mark], room: int) -> Iterator[View]:
    """The line of some marks: whole where it fits, else the parts that show each mark."""
    if marks[0].span.source.marked_only:  # the text around a mark may be secret
        for mark in marks:
            start, end = mark.span.start, min(mark.span.end, _bounds(mark.span)[1])
            yield _view(mark.span, start, start, end, room, (mark,))
        return
    start, end = _bounds(marks[0].span)
    rest = tuple(marks)
    while rest:
        span = rest[0].span
        before = span.start - start
        needed = before + min(max(span.end - span.start, 1), room // 2)
        at = start
        if not _fits(span, start, end, room) and (needed > room or _columns(span, start, span.start) > room // 2):
            at = max(start, span.start - room // 4)
        view = _view(span, start, at, end, room, ())
        shown = tuple(m for m in rest if m is rest[0] or (at <= m.span.start and m.span.end <= view.end))
        yield view._replace(marks=shown)
        rest = tuple(m for m in rest if m not in shown)


def _view(span: Span, start: int, at: int, end: int, room: int, marks: tuple[Mark, ...]) -> View:
    """As much of a line from ``at`` on as fits."""
    room -= at > start
    if _fits(span, at, end, room):
        return View(at, end, at > start, False, marks)
    text = span.source.text[at : min(end, at + room)]
    count = fit(text, room - 1)
    while count > 0 and columns(_shown(span, at, at + count)) > room - 1:  # control characters take more
        count -= 1
    return View(at, at + max(count, 1), at > start, True, marks)


def _fits(span: Span, start: int, end: int, room: int) -> bool:
    return end - start <= 2 * room and columns(_shown(span, start, end)) <= room


def _bounds(span: Span) -> tuple[int, int]:
    """The first line of a span, without a byte order mark."""
    start, end = span.source.line_span(span.line)
    if start == 0 and span.source.text.startswith("\ufeff"):
        start = 1
    return start, max(start, end)


def _shown(span: Span, start: int, end: int) -> str:
    return escape(span.source.text[start:end].replace("\t", " "))


def _columns(span: Span, start: int, end: int) -> int:
    return columns(_shown(span, start, end))


def _source_line(view: View) -> str:
    text = _shown(view.marks[0].span, view.start, view.end)
    return f"{'…' if view.cut_left else ''}{text}{'…' if view.cut_right else ''}"


def _mark(mark: Mark, view: View, room: int) -> Iterator[str]:
    """A marker, and what is said about the place: after it, or below it if that does not fit."""
    start, end = max(mark.span.start, view.start), min(mark.span.end, view.end)
    pad = _columns(mark.span, view.start, start) + view.cut_left
    length = max(min(_columns(mark.span, start, max(start, end)), room - pad), 1)
    line = " " * pad + ("^" if mark.main else "-") * length
    text = escape(mark.text)
    if not text:
        yield line
    elif pad + length + 1 + columns(text) <= room:
        yield f"{line} {text}"
    else:
        yield line
        margin = min(pad, max(room - columns(text), 0), room // 2)
        yield from (" " * margin + part for part in wrapped(text, room - margin))
