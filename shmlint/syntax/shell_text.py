"""ShellText: shell as it stands somewhere in a file, each character knowing its place there.

Around shell there are other languages: indentation, prompts, escapes, the variables of make.
What is theirs is left out or replaced, and the rest keeps its offsets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from shmlint.model.launch import ENGINE_VARIABLES, ENGINES
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span
from shmlint.syntax.word import Cause

OPEN, CLOSE = "\ue000", "\ue001"
"""Stand for ``<`` and ``>`` around a placeholder, which shell would take for redirections."""

OPEN_BRACE, CLOSE_BRACE = "\ue002", "\ue003"
"""Stand for ``{`` and ``}`` around a placeholder."""

BLANK = "\ue004"
"""Stands for a blank in a placeholder, at which the shell would end the word."""

ENGINE = rf"(?:nvidia-docker|podman-remote|{'|'.join(ENGINES)})"
"""The commands of container engines, as a pattern."""

BARE_START = rf"(?:\\n|\b){ENGINE}\s+(?:container\s+)?(?:run|create)"
"""The words that a container start begins with, as a pattern."""

STARTS = re.compile(rf"{BARE_START}\s+-")
"""A container start with an option, in a text whose words are not known."""

MAY_START = re.compile(rf"{BARE_START}(?:\s|\\\r?\n)+(?:-|[\"'\\]*(?:\$[\w({{@*{OPEN_BRACE}]|`))")
"""One with an option, or with a variable or the output of a command, which may be options."""

NOWHERE = -1
"""The offset of a character that is nowhere in the file."""


_MENTIONS = (*ENGINES, *ENGINE_VARIABLES)


def mentions_engine(text: str) -> bool:
    """Whether a text can hold a launch at all."""
    return holds_one(text.lower(), _MENTIONS)


def holds_one(text: str, parts: Iterable[str]) -> bool:
    """Whether a text holds one of some parts, of which none is empty."""
    return next(filter(text.__contains__, parts), "") != ""  # `any` of a generator takes longer than the search


RUNS = re.compile(r"run[ \t]+-"), re.compile(r"create[ \t]+-")
"""What follows an engine's name where a container is started with an option."""


def lines_with(words: Iterable[re.Pattern[str]], text: str) -> list[int]:
    """Where the lines start that hold one of some patterns.

    Each of these begins with letters, which are found at once; a pattern for the start of a line is tried everywhere.
    """
    found: set[int] = set()
    for word in words:
        end = 0
        for match in word.finditer(text):
            if match.start() >= end:  # the first in its line
                found.add(text.rfind("\n", end, match.start()) + 1)
                end = text.find("\n", match.start())
                end = end if end >= 0 else len(text)
    return sorted(found)


def not_set(name: str) -> Cause:
    """Why a variable that nothing in the text sets is not known."""
    return Cause("unset", name)


Splitting = Literal["blanks", "none", "options"]
"""Words at their blanks; one word, and one for each element of an array, as zsh has it; whichever its options say."""


Shell = Literal["posix", "cmd", "pwsh", "powershell", "unknown"]
"""Which shell reads a text: ``pwsh`` is PowerShell from 7.3 on, ``powershell`` any version of it."""


class ShellText(NamedTuple):
    """``text`` is what a shell would read; character ``i`` of it is at ``offsets[i]``."""

    source: Source
    text: str
    offsets: Sequence[int]
    home: Span
    """Where the text as a whole is."""
    used_at: Sequence[int] = ()
    """For each character the place it is used at, where that is not the place it is written at:
    a variable's value is written at its definition and used at its name."""
    unset: Callable[[str], Cause] = not_set
    """Why a variable that nothing sets is not known, by its name; some mean something that is not a variable."""
    for_options: frozenset[str] = frozenset()
    """Variables that stand for options which are not known."""
    splitting: Splitting = "blanks"
    """What the shell makes of variables that are not quoted."""
    shell: Shell = "posix"
    """Which shell it is for. Those of Windows are read as this one is, and quote in another way."""
    functions: frozenset[str] = frozenset()
    """Functions with the names of engines that files define which the text sources."""
    perhaps: tuple[tuple[str, str], ...] = ()
    """Variables and what each may hold, if anything; one that may hold several things is in several pairs."""
    settled: frozenset[str] = frozenset()
    """Those of them that hold one of these things in any case."""

    def offset(self, at: int) -> int:
        """The place of a character; that of the next one that has any, where it has none."""
        while at < len(self.offsets):
            if self.offsets[at] >= 0:
                return self.offsets[at]
            at += 1
        return self.offsets[-1] + 1 if self.offsets and self.offsets[-1] >= 0 else self.home.end

    def span(self, start: int, end: int) -> Span | None:
        """Characters ``start`` to ``end`` as a place in the file; None where they are apart."""
        if end <= start:
            at = self.offset(start)
            return Span(self.source, at, at)
        if self.used_at:
            begin, last = self.used_at[start], self.used_at[end - 1]
            return Span(self.source, begin, last + 1) if 0 <= begin <= last else None
        return place(self.source, self.offsets[start:end])


def place(source: Source, offsets: Sequence[int]) -> Span | None:
    """The place of characters that follow each other, with nothing but left-out ones between."""
    if not offsets or offsets[0] < 0:
        return None
    if not isinstance(offsets, range) and offsets != list(range(offsets[0], offsets[0] + len(offsets))):
        before = offsets[0] - 1
        for offset in offsets:
            if not before < offset < before + 200:
                return None
            before = offset
    return Span(source, offsets[0], offsets[-1] + 1)


def whole(source: Source, start: int, end: int) -> ShellText:
    """A stretch of a file that is shell as it is."""
    return ShellText(source, source.text[start:end], range(start, end), Span(source, start, end))


_STANDS = rf"\$(?:\{{|{OPEN_BRACE})(\w+)(?:\}}|{CLOSE_BRACE})"


class Places:
    """What is in a file for something that is known elsewhere, each read as a variable that nothing sets."""

    def __init__(self) -> None:
        self.written: dict[str, str] = {}
        """What is there, by the variable."""
        self.what: dict[str, str] = {}
        self.names: dict[str, str] = {}

    def name(self, text: str, what: str = "a placeholder") -> str:
        """The variable that a shell reads instead of a text."""
        if text in self.names:
            return self.names[text]
        # Its name tells an image from options: the prefix `params.` is not part of the name.
        plain = re.sub(r"[^A-Za-z0-9_]", "_", re.sub(r"\b(?:env|params)\.", "", text))
        name = f"_{len(self.written)}_{plain.strip('_')}"
        self.written[name], self.what[name], self.names[text] = text, what, name
        return name

    def because(self, name: str) -> Cause:
        """Why a variable is not known."""
        if name not in self.written:
            return not_set(name)
        return Cause("named placeholder", self.written[name], self.what[name])

    def as_written(self, text: str) -> str:
        """A text with what is in the file."""
        if not self.written or "_" not in text:
            return text
        return re.sub(_STANDS, lambda found: self.written.get(found[1], found[0]), text)


class Builder:
    """Puts a shell text together out of parts of a file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.parts: list[str] = []
        self.offsets: list[int] = []
        self.used_at: list[int] | None = None
        """Where the characters are used; None while that is where they are written."""
        self.for_options: set[str] = set()
        """Variables put in for options."""
        self.perhaps: dict[tuple[str, str], None] = {}
        """Variables put in for what a condition decides about, and what they may hold."""
        self.settled: set[str] = set()
        """Those of them that hold one of these in any case."""
        self.quotes = 0
        """How many single quotation marks have been put in."""

    def take(self, start: int, end: int) -> None:
        """Characters of the file as they are."""
        self.parts.append(self.source.text[start:end])
        self.quotes += self.source.text.count("'", start, end)
        self._place(range(start, end))

    def put(self, text: str, at: int = NOWHERE) -> None:
        """Characters in place of those at ``at`` (one for one), or standing nowhere."""
        self.parts.append(text)
        self.quotes += text.count("'")
        places = [NOWHERE] * len(text) if at < 0 else range(at, at + len(text))
        self._place(places)

    def copy(self, text: ShellText, start: int, end: int) -> None:
        """Characters of another text of the same file."""
        self.parts.append(text.text[start:end])
        self.quotes += text.text.count("'", start, end)
        if text.used_at and self.used_at is None:
            self.used_at = list(self.offsets)
        self._place(text.offsets[start:end], (text.used_at or text.offsets)[start:end])

    def _place(self, offsets: Sequence[int], used_at: Sequence[int] | None = None) -> None:
        """Note where the characters that were put in are written, and used."""
        self.offsets += offsets
        if self.used_at is not None:
            self.used_at += offsets if used_at is None else used_at

    def put_unknown(self, name: str, *, options: bool = False) -> None:
        """A variable, for what is not known here; between single quotes the shell would take one for text."""
        if options:
            self.for_options.add(name)
        quoted = self.quotes % 2 == 1
        self.put(f"${OPEN_BRACE}{name}{CLOSE_BRACE}" if quoted else f"${{{name}}}")

    def used(self, since: int, start: int, end: int) -> None:
        """Everything put in from character ``since`` on is used at ``start`` to ``end`` of the file."""
        count = len(self.offsets) - since
        if count:
            if self.used_at is None:
                self.used_at = list(self.offsets)
            self.used_at[since:] = [start] * (count - 1) + [end - 1]

    def build(self, home: Span) -> ShellText:
        text = "".join(self.parts)
        return ShellText(
            self.source, text, self.offsets, home, self.used_at or (), for_options=frozenset(self.for_options),
            perhaps=tuple(self.perhaps), settled=frozenset(self.settled),
        )  # fmt: skip


def restore(text: str) -> str:
    """A word's text with placeholders as they are written."""
    if text.isascii():
        return text
    return (
        text.replace(OPEN, "<").replace(CLOSE, ">").replace(OPEN_BRACE, "{").replace(CLOSE_BRACE, "}")
        .replace(BLANK, " ")
    )


def has_placeholder(text: str) -> bool:
    return not text.isascii() and any(mark in text for mark in (OPEN, OPEN_BRACE, BLANK))
