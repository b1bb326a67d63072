"""Texts on a terminal: how wide they are, where they break, and their colours."""

from __future__ import annotations

import re
from collections.abc import Callable

WIDTH = 80
"""Columns where there is no terminal."""
_LEAST = 40

_COLOURS = {"error": "31;1", "warning": "33;1", "note": "36;1", "dim": "2", "bold": "1", "good": "32"}

Paint = Callable[[str, str], str]
"""Gives a text a style: a severity, ``dim``, ``bold`` or ``good``."""


def painter(*, colour: bool) -> Paint:
    """How texts get their style."""
    return _ansi if colour else _plain


def _plain(text: str, style: str) -> str:
    return text


def _ansi(text: str, style: str) -> str:
    return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m"


def usable(width: int) -> int:
    """A width in which a report can be read."""
    return max(width, _LEAST)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, width: int) -> str:
    """A text padded with spaces to a width in columns."""
    return text + " " * (width - columns(text))


def fit(text: str, room: int) -> int:
    """How many characters of a text fit into so many columns."""
    if text.isascii():
        return min(len(text), room)
    used = 0
    for i, character in enumerate(text):
        used += columns(character)
        if used > room:
            return i
    return len(text)


def shortened(text: str, room: int) -> str:
    """A text of at most so many columns; an ellipsis replaces what is cut off at its end."""
    return text if columns(text) <= room else text[: fit(text, max(room - 1, 0))] + "…"


def wrapped(text: str, room: int) -> list[str]:
    """The lines of a text, broken between words. Paths and addresses are not broken, whatever their length."""
    if len(text) <= room and text.isascii() and text == " ".join(text.split()):
        return [text]
    lines: list[str] = []
    line = ""
    for word in _words(text):
        for part in [word] if "/" in word else _parts(word, room):
            if line and columns(line) + 1 + columns(part) <= room:
                line += f" {part}"
            else:
                lines += [line] if line else []
                line = part
    return [*lines, line]


_WORD = re.compile(r"--fix --unsafe-fixes\S*|\S*?`[^`\s]{1,14} [^`\s]{1,14}`\S*|\S+")
"""A word of a text; short commands are not broken."""
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "GPU", "GPUs", "rank", "ranks")


def _words(text: str) -> list[str]:
    """The words of a text; a number and its unit are one, so that they stay on one line."""
    words: list[str] = []
    for word in _WORD.findall(text):
        if words and words[-1].replace(".", "", 1).isdecimal() and word.rstrip(",;:.)") in _UNITS:
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words


def _parts(word: str, room: int) -> list[str]:
    """A word in pieces that fit."""
    parts = []
    while columns(word) > room:
        at = max(fit(word, room), 1)
        parts.append(word[:at])
        word = word[at:]
    return [*parts, word]


def labelled(label: str, text: str, room: int, margin: int) -> list[str]:
    """The lines of a text after a label that takes ``margin`` columns; the next lines are aligned with the text."""
    first, *rest = wrapped(text, max(room - margin, 20))
    return [padded(label, margin) + first, *(" " * margin + line for line in rest)]
