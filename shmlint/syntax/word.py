"""Word: one argument of a command line and the place it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from shmlint.model.record import NamedTuple
from shmlint.model.source import Span

TALKERS = frozenset(
    {
        "echo", "printf", "cat", "grep", "egrep", "fgrep", "sed", "awk", "log", "info", "warn", "warning",
        "error", "die", "fail", "usage", "print", "git", "test", "[", "[[", "msg", "say", "fatal", "abort",
        "notice", "debug", "success", "note", "read", "alias", "trap", "export", "type", "which", "gum", "complete",
        ":", "true", "false",
    }
)  # fmt: skip
"""Commands whose arguments are talk, not commands: what they print starts nothing, and some ignore them."""


def also_runs(name: str) -> bool:
    """Whether the name of a function that prints its arguments says that it runs them, too: ``log_and_run``."""
    return re.search(_ALSO_RUNS, name) is not None


_ALSO_RUNS = r"(?i)(?:and|n|then)[_-]?(?:run|exec\w*|do|eval|call)\Z|\A(?:run|exec\w*|do|eval)[_-]?and"


def talks(name: str) -> bool:
    """Whether a command prints its arguments, or looks for them, by its name; not one that says that it runs them."""
    return name in TALKERS or (re.search(_TALK, name) is not None and not also_runs(name))


_TALK = (
    r"(?i)log|print|echo|msg|info|warn|err|desc|note|dry|skip|assert|expect|title|usage|help|say|man\Z|\(\)\Z|test"
    r"|show|display|append|banner|dialog|whiptail|colou?r|(?:^|_)(?:red|green|yellow|blue|cyan|bold)(?:_|\Z)"
)


CauseKind = Literal[
    "unset", "array", "contained", "tested", "one branch", "several ways", "many ways", "between calls",
    "recursion", "elsewhere", "set around", "command", "separators",
    "shell options", "index", "function",
    "argument", "argument of command", "argument of function", "argument in many ways", "argument between calls",
    "shifted", "contained argument",
    "placeholder", "named placeholder", "unset placeholder", "expression", "substitution", "ellipsis", "host",
    "output", "run time", "braces", "nested", "too long", "too many",
]  # fmt: skip
"""What is not known: a variable, an argument, a placeholder or expression, or what only a shell computes."""

_SENTENCES: Mapping[CauseKind, str] = {
    "unset": "variable {name} is not set here",
    "array": "variable {name} is an array",
    "contained": "it contains variable {name}",
    "tested": "it depends on a variable",
    "one branch": "a branch decides what variable {name} holds",
    "several ways": "variable {name} is set in several ways",
    "many ways": "variable {name} is set in many ways",
    "between calls": "variable {name} differs from call to call",
    "recursion": "variable {name} is set in a function that calls itself",
    "elsewhere": "variable {name} is set from elsewhere",
    "set around": "variable {name} is set in the text and around it",
    "command": "`{name}` may set it",
    "shell options": "options of the shell decide what words `{name}` becomes",
    "function": "`{name}` is a function here, which may add options",
    "index": "`{name}` is a part of an array of zsh",
    "separators": "IFS is set, which decides what words `{name}` becomes",
    "argument": "argument {name} is not known",
    "argument of command": "argument {name} of the command is not known here",
    "argument of function": "argument {name} of the function is not known here",
    "argument in many ways": "argument {name} of the function is given in many ways",
    "argument between calls": "argument {name} differs from call to call",
    "shifted": "argument {name} is moved by `shift`",
    "contained argument": "it contains an argument that is not known",
    "placeholder": "a placeholder",
    "named placeholder": "{name} is {what}",
    "unset placeholder": "`{name}` is not set here",
    "expression": "it depends on an expression",
    "substitution": "a substitution",
    "ellipsis": "`{name}` may stand for more options",
    "host": "`{name}` is passed on from the host",
    "output": "it is the output of a command",
    "run time": "it is computed at run time",
    "braces": "its braces make several words of it",
    "nested": "it is nested too deep",
    "too long": "the text before it is too long",
    "too many": "it has more than {name} words",
}


class Cause(NamedTuple):
    """Why a word is not known: its kind, for code, and the name of what it is about, as the file writes it."""

    kind: CauseKind
    name: str = ""
    what: str = ""
    """What a placeholder is in its format, ``a template``; the command that may have set an unset variable."""
    values: tuple[str, ...] = ()
    """All that a variable may hold where it is set; empty where that is not known."""
    every: bool = False
    """Whether it is sure to hold one of these, and not nothing because it is not set."""

    @property
    def sentence(self) -> str:
        """The cause for people."""
        return _SENTENCES[self.kind].format(name=self.name, what=self.what)


def is_expansion(text: str) -> bool:
    """Whether a text is one variable, ``${NAME:+text}`` or the output of one command, and nothing else."""
    return re.fullmatch(_EXPANSION, text) is not None


_EXPANSION = r"(?s)\$\{?\w+\}?|\$\{\w+:?\+[^{}]*\}|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`"


class Word(NamedTuple):
    """One argument.

    ``text`` is what the command receives. Where it holds a variable or a placeholder that is
    not known, ``unknown`` says why, and ``text`` is what is written. ``maybe_many`` marks a
    word that may become any number of words, none included: ``"${ARGS[@]}"``, unquoted ``$OPTS``.
    ``harmless``: whatever it becomes, it asks for no GPU and decides nothing about /dev/shm.
    ``options``: what it may become are options, so it is not the image.

    ``offsets`` are the places of the text's characters (-1: none). ``used`` is where a word is
    in its command whose text, and so its ``span``, is in an assignment; ``array`` is the array
    literal that holds it. These three do not count when words are compared.
    """

    text: str
    span: Span | None = None
    unknown: Cause | None = None
    maybe_many: bool = False
    harmless: bool = False
    options: bool = False
    offsets: Sequence[int] = ()
    used: Span | None = None
    array: Span | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """All texts that a word may be which is one expansion as a whole; empty where they are not known."""
        held = self.unknown.values if self.unknown is not None else ()
        return held if held and is_expansion(self.text) else ()

    def as_one_of(self, values: Iterable[str]) -> Word:
        """A word that is not known, as one of other texts."""
        return self._replace(unknown=self.unknown and self.unknown._replace(values=tuple(values), every=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word) and self[:_COMPARED] == other[:_COMPARED]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:_COMPARED])

    @property
    def because(self) -> str:
        """Why the text is not fully known; empty where it is."""
        return self.unknown.sentence if self.unknown is not None else ""

    def part_span(self, part: str) -> Span | None:
        """Where the last characters of the text, ``part``, are in the file.

        None where they are not there letter by letter: escapes, a variable's value.
        A quotation mark closing the word, or around the part, is left out.
        """
        home = self.span or self.used
        if part and home is not None and len(self.offsets) == len(self.text):
            places = self.offsets[len(self.text) - len(part) :]
            first = places[0]
            if first >= 0 and (type(places) is range or all(place == first + i for i, place in enumerate(places))):
                return Span(home.source, first, places[-1] + 1)
        if self.span is None:
            return None
        written = self.span.text
        end = len(written)
        if written != self.text:
            if not part:
                return None
            if not written.endswith(part):
                if written[-1:] not in ("'", '"'):
                    return None
                end -= 1
        start = end - len(part)
        if start < 0 or written[start:end] != part:
            return None
        return Span(self.span.source, self.span.start + start, self.span.start + end)


_COMPARED = 6
"""The fields that count when words are compared: all before ``offsets``."""
