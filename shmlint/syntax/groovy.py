"""The strings of a Groovy text, and what is left of it without them and without comments.

Source: Groovy's documentation, "Syntax", "Strings" (src/spec/doc/core-syntax.adoc).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source


class String(NamedTuple):
    """A string literal: ``start`` to ``end`` with its quotation marks, ``first`` to ``last`` without."""

    source: Source
    start: int
    end: int
    first: int
    last: int

    @property
    def interpolates(self) -> bool:
        """Whether ``$name`` and ``${…}`` in it are replaced."""
        return self.source.text[self.start] in '"$'

    @property
    def is_dollar_slashy(self) -> bool:
        """Whether it is ``$/…/$``, in which ``$`` escapes and a backslash does not."""
        return self.source.text[self.start] == "$"

    @property
    def text(self) -> str:
        return self.source.text[self.first : self.last]


_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)
    |'''(?>(?:\\.|[^'\\]|'(?!''))*)'''
    |\"""(?>(?:\\.|\$\{[^{}]*\}|[^"\\]|"(?!""))*)\"""
    |(?<![\w$])\$/(?>(?:\$/\$|\$[$/]|[^/]|/(?!\$))*)/\$
    |'(?>(?:\\.|[^'\\\n])*)'
    |"(?>(?:\\.|\$\{[^{}\n]*\}|[^"\\\n])*)"
    """,
    re.S | re.X,
)


def strings(source: Source) -> tuple[dict[int, String], str]:
    """The strings of a text by where they start, and the text with ``"___"`` for each and blanks for comments."""
    found: dict[int, String] = {}
    pieces: list[str] = []
    at = 0
    for match in _TOKEN.finditer(source.text):
        pieces.append(source.text[at : match.start()])
        token = match[0]
        if token[0] == "/":
            pieces.append(re.sub(r"[^\n]", " ", token))
        else:
            marks = 3 if token[:3] in ("'''", '"""') and len(token) >= 6 else 2 if token[0] == "$" else 1
            found[match.start()] = String(
                source, match.start(), match.end(), match.start() + marks, match.end() - marks
            )
            pieces.append(f'"{"_" * (len(token) - 2)}"')
        at = match.end()
    return found, "".join([*pieces, source.text[at:]])


class Piece(NamedTuple):
    """A part of a string's value: ``text`` at ``start`` to ``end``, or an expression that gives it."""

    text: str
    start: int
    end: int
    expression: bool = False


_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "s": " "}
_SPECIAL = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(\r?\n)|(.))|\$\{([^{}]*)\}|\$([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)", re.S)
_OF_DOLLAR_SLASHY = re.compile(
    r"\\u([0-9A-Fa-f]{4})|(?!)()|\$(/\$|[$/])|\$\{([^{}]*)\}|\$([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
)
"""The same in ``$/…/$``, where nothing hides the end of a line."""


def pieces(string: String) -> Iterator[Piece]:
    """The value of a string in its order; a text that is not escaped is one piece, each escape one more."""
    source = string.source
    at = string.first
    special = _OF_DOLLAR_SLASHY if string.is_dollar_slashy else _SPECIAL
    for match in special.finditer(source.text, string.first, string.last):
        code, newline, letter, braced, plain = match.groups()
        expression = braced is not None or plain is not None
        if expression and not string.interpolates:
            continue
        if at < match.start():
            yield Piece(source.text[at : match.start()], at, match.start())
        at = match.end()
        if expression:
            yield Piece((braced if braced is not None else plain).strip(), match.start(), at, True)
        elif code:
            yield Piece(chr(int(code, 16)), match.start(), at)
        elif string.is_dollar_slashy:
            yield Piece(letter, match.start(), at)
        elif newline is None:
            yield Piece(_LETTERS.get(letter, letter), match.start(), at)
    if at < string.last:
        yield Piece(source.text[at : string.last], at, string.last)


class Blocks:
    """The blocks of a text without strings. ``ends`` is where that of each opening brace ends: after its closing brace,
    or at the end of the text."""

    __slots__ = ("_inside", "_marks", "ends", "outer")

    def __init__(self, code: str) -> None:
        self.ends: dict[int, int] = {}
        self.outer: dict[int, int] = {}
        """The block that each block is in; -1 where it is in none."""
        self._marks: list[int] = []
        self._inside: list[int] = []
        """The innermost block behind each mark; -1 where there is none."""
        open_: list[int] = []
        for match in re.finditer(r"[{}]", code):
            if match[0] == "{":
                self.outer[match.start()] = open_[-1] if open_ else -1
                open_.append(match.start())
            elif open_:
                self.ends[open_.pop()] = match.end()
            self._marks.append(match.start())
            self._inside.append(open_[-1] if open_ else -1)
        self.ends.update(dict.fromkeys(open_, len(code)))

    def inner(self, at: int) -> int:
        """The innermost block that a place is in, by its opening brace; -1 where it is in none."""
        mark = bisect_left(self._marks, at) - 1
        return self._inside[mark] if mark >= 0 else -1

    def around(self, at: int) -> list[int]:
        """The blocks that a place is in, from the outermost on."""
        found: list[int] = []
        inner = self.inner(at)
        while inner >= 0:
            found.append(inner)
            inner = self.outer[inner]
        return found[::-1]
