"""Projects whose names try to be something else, and edits as a stranger would apply them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from shmlint.model.finding import Finding, Reason
from shmlint.model.source import Source, Span

NAMES = (
    "100%", "a,b", "a:b", "a::b", "::error::x", "x%0A::stop-commands::y", "a\n::add-mask::b", "a\r\n::error::b",
    "##[error]a", "a=b,line=7", "a|b", "a`b", "`a` ![x](http://x)", "[a](1)", "<b>&amp;\"'", "]]>", "a\\|b",
    "\x00\x07\x1b[31m", "\x0b\x0c\x85\u2028", "\u202e", "\ufffe\uffff", "\ud800", "\udcff", "訓練 🚀", "@team www.x",
)  # fmt: skip

TWO = "services:\n  a: {image: nvcr.io/nvidia/nemo, gpus: all}\n  b: {image: nvcr.io/nvidia/nemo, gpus: all}\n"


def hostile(finding: Finding, name: str) -> Finding:
    """The same finding in a file of that name, saying that name."""
    span = Span(Source(name, finding.span.source.text), finding.span.start, finding.span.end)
    says = f"service `{name}` {name}"
    return finding._replace(span=span, says=says, about="", advice=name, why=(Reason(name),), fix=None)


class Change(NamedTuple):
    """Replace the text between two places, given as line and column, by a text."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def place(position: dict[str, int]) -> tuple[int, int]:
    return position["line"], position["column"]


def apply(data: bytes, changes: Iterable[Change], column: Callable[[bytes, int], int]) -> bytes:
    """The bytes after changes; each distinct one counts once. ``column`` says how many bytes come before one."""
    starts = [0]
    for number, byte in enumerate(data):
        if byte == 0x0A:
            starts.append(number + 1)

    def offset(at: tuple[int, int]) -> int:
        start = starts[at[0] - 1]
        return start + column(data[start:], at[1])

    for change in sorted(set(changes), reverse=True):
        data = data[: offset(change.start)] + change.text.encode() + data[offset(change.end) :]
    return data


def parsed(text: str) -> Any:
    """JSON as it arrives: what is no text is escaped on the way out."""
    return json.loads(text.encode("utf-8", "backslashreplace"))
