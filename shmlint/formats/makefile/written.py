"""The expressions of a makefile or justfile as they are written, which a shell text has as variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from shmlint.model.source import Source
from shmlint.syntax.shell_text import Places
from shmlint.syntax.word import Cause

_LONGEST = 60
"""Characters of an expression that are shown."""
_LONGEST_READ = 500
"""Characters in which its end is looked for."""
_MAKE = re.compile(r"(?<!\$)(?:\$\$)*(\$(?:(?P<opening>[({])|(?P<number>\d)))")
_JUST = re.compile(r"\{\{\s*(?P<name>.*?)\s*\}\}", re.S)
JUST_CALL = r"[A-Za-z_]\w*\([^()\n]*\)"
"""The call of a function in a justfile, as a pattern."""
_JUST_OPERAND = re.compile(rf"(?m)^([A-Za-z_][\w-]*)[ \t]*:=|(?<![\w-])({JUST_CALL})")
"""What an expression in a justfile may be made of."""
_HERE = re.compile(r"shell\s+pwd(?:\s+-[LP])?|(?:abspath|realpath)\s+\./?|(?:justfile|invocation)_directory\(\)")
"""What gives the directory that recipes run in, as make's own variable ``CURDIR`` does."""


def is_justfile(path: str) -> bool:
    return os.path.basename(path).lower().lstrip(".") == "justfile" or path.endswith(".just")


def as_variable(expression: str) -> str:
    """The shell variable that stands for an expression: ``$(NAME)``, ``$(if …,--rm)``, ``{{ name }}``."""
    plain = "CURDIR" if _HERE.fullmatch(expression.strip()) else re.sub(r"\W", "_", expression) or "_"
    return f"_{plain}" if plain[0].isdigit() else plain


def closing(text: str, opening: int, end: int) -> int:
    """The offset of the bracket that closes the one at ``opening``; the end where none does."""
    pairs = {"(": ")", "{": "}"}
    open_, close = text[opening], pairs[text[opening]]
    depth = 0
    for at in range(opening, end):
        if text[at] == open_:
            depth += 1
        elif text[at] == close:
            depth -= 1
            if depth == 0:
                return at
    return end


AUTOMATIC = {"@": "_target", "<": "_first", "^": "_needs", "+": "_each", "?": "_newer", "*": "_stem", "|": "_order"}
"""The shell variables that stand for the variables of one sign that make itself sets for each rule."""


class Expressions(Places):
    """The expressions of a file, found when the first of them is asked for."""

    def __init__(self, source: Source, *, just: bool) -> None:
        super().__init__()
        self._source = source
        self._just = just
        self._found = False

    def because(self, name: str) -> Cause:
        self._find()
        return super().because(name)

    def as_written(self, text: str) -> str:
        if "${" in text:
            self._find()
        return super().as_written(text)

    def _find(self) -> None:
        """Note each expression by the variable that stands for it; two that have the same one are left out."""
        if self._found:
            return
        self._found = True
        several: set[str] = set()
        for sign, name in AUTOMATIC.items() if not self._just else ():
            self.written[name], self.what[name] = f"${sign}", "a variable that make sets for the rule"
        for name, text in self._of_just() if self._just else self._of_make():
            plain = as_variable(name)
            shown = " ".join(text.replace("\\\n", " ").split())
            shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
            if plain in (name, "CURDIR") or self.written.setdefault(plain, shown) != shown:
                several.add(plain)
            self.what[plain] = "an expression of just" if self._just else "an expression of make"
        for plain in several:
            self.written.pop(plain, None)

    def _of_make(self) -> Iterator[tuple[str, str]]:
        text = self._source.text
        for found in _MAKE.finditer(text):
            start, end = found.start(1), found.end()
            if found["opening"] is not None:
                close = closing(text, end - 1, min(end + _LONGEST_READ, len(text)))
                yield text[end:close], text[start : close + 1]
            else:
                yield found["number"], text[start:end]

    def _of_just(self) -> Iterator[tuple[str, str]]:
        text = self._source.text
        used = {found["name"]: found[0] for found in _JUST.finditer(text)}
        operands = (found[1] or found[2] for found in _JUST_OPERAND.finditer(text))
        return iter(({name: name for name in operands} | used).items())
