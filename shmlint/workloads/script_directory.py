"""The directory of a script, as the script itself finds it: ``$(cd "$(dirname "$0")/.." && pwd)``."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import Counter
from functools import lru_cache

from shmlint.model.source import Source, Span

_LONGEST = 400
"""Characters of a text that is read."""
_MOST_INNER = 8
"""Commands and variables inside of each other."""
_SELF = re.compile(r"\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?(?::?-\$(?:0|\{0\}))?\})")
_SELF_OF_CALLER = re.compile(r"\$(?:0|\{0\})")
"""In a file that another one reads it is the name of that one."""
_BESIDE = re.compile(r"\$\{BASH_SOURCE(?:\[0\])?%/\*\}")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_LITERAL = re.compile(r"(?:/[\w.@+-]+)*/?")
_COMMAND = re.compile(r"\s*(?:(?:builtin|command)\s+)?(cd|dirname|realpath|readlink)((?:\s+-[A-Za-z-]+)*)\s+")
_THEN = re.compile(r"(?:\s*[&12]?>\s*(?:/dev/null|&1)){0,2}\s*(?:&&|;)\s*pwd(?:\s+-[LP])?\s*")
_SCRIPT = "\0"
"""Stands for the script in a path from its directory."""


def from_directory(text: str, span: Span) -> str | None:
    """The path from a script's directory that a text of a command surely gives, which begins with a command.

    None where it may be another: where it depends on how the script is called, on what another file sets, or on which
    shell reads it.
    """
    source = span.source
    if not _is_script(source) or _is_for_another_shell(source.text, span.start):
        return None
    found = _Reader(source.text, _given_at(text, span)).path(text, 0)
    return found[0] if found is not None and found[1] and _SCRIPT not in found[0] else None


def beside(word: str) -> str | None:
    """The path from a script's directory that a word of its gives by itself: ``$(dirname "$0")/fit.py``; else None."""
    found = _Reader("#!", 0).path(word, 0)
    return found[0] if found is not None and _SCRIPT not in found[0] else None


def _given_at(text: str, span: Span) -> int:
    """Where a script runs the command that a text begins with: a variable may hold it since then."""
    word = text.strip("\"'")
    command = word[: max(_closing(word, 1), 0)] if word.startswith("$(") else ""
    written = span.source.text.rfind(command, 0, span.end) if command else -1
    return written if written >= 0 else span.start


def _is_for_another_shell(text: str, at: int) -> bool:
    """Whether a place is in a here-document, which may become another script, or in a text for another shell."""
    documents = _here_documents(text)
    before = bisect_right(documents, (at, len(text)))
    if before and at < documents[before - 1][1]:
        return True
    quote = text.rfind("'", max(0, at - _LONGEST_COMMAND), at)
    return quote >= 0 and _OPENS.search(text, max(0, quote - 200), quote) is not None


_OPENS = re.compile(r"(?:(?<!\S)-\w{0,9}c|\beval|=|\bssh\b[^\n]*)[ \t]*$")
_LONGEST_COMMAND = 2_000
"""Characters before a command in which the text begins that it is in."""


@lru_cache(8)
def _here_documents(text: str) -> tuple[tuple[int, int], ...]:
    """Where the here-documents of a script begin and end."""
    found: list[tuple[int, int]] = []
    at = 0
    while (start := _HERE_DOCUMENT.search(text, at)) is not None:
        end = re.compile(rf"^[ \t]*{start[1]}[ \t]*$", re.MULTILINE).search(text, start.end())
        at = end.end() if end is not None else len(text)
        found.append((start.end(), at))
    return tuple(found)


_HERE_DOCUMENT = re.compile(r"(?<!<)<<(?!<)-?[ \t]{0,9}[\\\"']?([A-Za-z_]\w{0,99})")


def _is_script(source: Source) -> bool:
    return source.path.endswith((".sh", ".bash")) or re.match(r"#![^\n]*sh\b", source.text) is not None


class _Reader:
    """Reads what commands give; paths are from the script's directory, with whether they are absolute when it runs."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        """Where the script gives what is read."""

    def path(self, word: str, depth: int) -> tuple[str, bool] | None:
        """What a word stands for."""
        word = word.replace('"', "").strip()
        if depth > _MOST_INNER or len(word) > _LONGEST or "'" in word or "\\" in word:
            return None
        own = _SELF.fullmatch(word)
        if own is not None:
            started = self.text.startswith("#!") or _SELF_OF_CALLER.fullmatch(word) is None
            return (_SCRIPT, False) if started else None
        found, end = self._first(word, depth)
        rest = word[end:]
        if found is None or _LITERAL.fullmatch(rest) is None or (rest and found[0] == _SCRIPT):
            return None
        return posixpath.normpath(posixpath.join(found[0], rest.lstrip("/"))), found[1]

    def _first(self, word: str, depth: int) -> tuple[tuple[str, bool] | None, int]:
        """The directory at the start of a word, and where its text ends."""
        beside, variable = _BESIDE.match(word), _VARIABLE.match(word)
        if beside is not None:
            return (".", False), beside.end()
        if variable is not None:
            value, at = _values(self.text).get(variable[1] or variable[2], (None, 0))
            set_there = _Reader(self.text, at)
            return (set_there.path(value, depth + 1) if value is not None else None), variable.end()
        if word.startswith("$("):
            start, end = 2, _closing(word, 1)
        else:
            start, end = 1, word.find("`", 1) if word.startswith("`") else -1
        return (self._given(word[start:end], depth + 1) if end > 0 else None), end + 1

    def _given(self, command: str, depth: int) -> tuple[str, bool] | None:
        """What a command prints."""
        called = _COMMAND.match(command)
        if called is None:
            return None
        end = _end_of_word(command, called.end())
        found = self.path(command[called.end() : end], depth)
        if found is None:
            return None
        (path, absolute), rest = found, command[end:]
        if called[1] != "dirname" and not absolute and has_moved(self.text, self.at):
            return None  # it is started by a path from where it was
        if called[1] == "cd":
            return (path, True) if path != _SCRIPT and _THEN.fullmatch(rest) is not None else None
        if rest.strip():
            return None
        if called[1] == "dirname":  # of a relative path it is no other directory than that
            return (posixpath.normpath(f"{path}/.."), absolute) if absolute or path == _SCRIPT else None
        follows = called[1] == "realpath" or re.search(r"-\w*[fem]", called[2]) is not None
        return (path, True) if follows and "relative" not in called[2] else None


@lru_cache(8)  # the launches of a file ask one after the other
def _values(text: str) -> dict[str, tuple[str, int]]:
    """What a script gives to variables that are set once in it, in any case, and not by another file, and where."""
    if re.search(r"(?m)(?:^|[;&|({])[ \t]*(?:source|\.|eval)[ \t]", text) is not None:
        return {}
    often = Counter(re.findall(r"(?<!\w)([A-Za-z_]\w*):?\+?=", text))
    taken = {name for line in re.findall(r"\b(?:for|read|mapfile|readarray|unset|getopts|printf)\b([^\n;]*)", text)
             for name in re.findall(r"[A-Za-z_]\w*", line)}  # fmt: skip
    values = re.finditer(r"(?m)^(?:(?:export|readonly|declare(?:[ \t]+-[rx]+)?)[ \t]+)?([A-Za-z_]\w*)=([^\n#]*)$", text)
    return {found[1]: (found[2], found.start()) for found in values if often[found[1]] == 1 and found[1] not in taken}


def has_moved(text: str, at: int) -> bool:
    """Whether a script may have gone to another directory than its own before a place."""
    return _first_move(text) < at


@lru_cache(8)
def _first_move(text: str) -> int:
    moves = (move for move in _MOVES.finditer(text) if _TO_ITS_OWN.match(text, move.end()) is None)
    return next((move.start() for move in moves), len(text))


_MOVES = re.compile(
    r"(?m)(?:^|[;&|{]|(?<!\w)(?:then|do|else))[ \t]*(?:(?:builtin|command)[ \t]+)?(?:cd|pushd|popd)(?![\w./=-])"
)
_TO_ITS_OWN = re.compile(
    r"""[ \t]+(?:--[ \t]+)?["']?(?:\$\(|`)[ \t]*dirname[ \t]+(?:--[ \t]+)?["']?\$"""
    r"""(?:0|\{0\}|\{?BASH_SOURCE(?:\[0\])?\}?)["']?[ \t]*[)`]["']?[ \t]*(?:$|[;&|])""",
    re.MULTILINE,
)
"""A script that is found from there is right, or it is not found at all."""


def _closing(text: str, at: int) -> int:
    """The offset of the bracket that closes the one at ``at``; -1 where none does."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return -1


def _end_of_word(text: str, at: int) -> int:
    """Where the word at ``at`` ends."""
    depth, ticks = 0, False
    for place in range(at, len(text)):
        ticks ^= text[place] == "`"
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(text[place], 0)
        if depth <= 0 and not ticks and text[place] in " \t\n;&|<>":
            return place
    return len(text)
