"""Env files as Compose reads them (compose-go dotenv/parser.go).

`NAME=value`, or `NAME: value`; `export` before it; values in quotes go over lines; variables are
substituted in values that are not in single quotes. A name alone is taken from the environment.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping

from shmlint.formats.compose.interpolate import InvalidInterpolation, interpolate

_BLANK = " \t\v\f\r\x85\xa0"
"""What Go counts as a blank, line breaks left out."""

_EXPORT = re.compile(r"export\s")
_ESCAPE = re.compile(r'\\(?:[abcfnrtv$"\\]|0\d{0,3})')
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"'}


_LONGER = 5_000_000
"""Characters that substitution may add to a file."""


class InvalidEnvFile(ValueError):
    """Compose refuses the file: why, without anything of what it holds, and the 1-based line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def parse(text: str, before: Mapping[str, str | None], found: dict[str, str | None]) -> None:
    """Add the variables of an env file to ``found``, values substituted from ``before`` and ``found``.

    Raises InvalidEnvFile; what is before the fault has been added then. Where its variables double and double,
    none is known.
    """
    text = text.removeprefix("\ufeff")
    at = _statement(text, 0)
    variables = ChainMap(dict(before), found)
    longer = 0
    while at < len(text):
        name, at, alone = _name(text, at)
        if alone:
            value = before.get(name)
            if value is not None:
                found[name] = value
        else:
            written = at
            value, at = _value(text, at, variables)
            longer += max(len(value or "") - (at - written), 0)
            if value is None or longer > _LONGER:
                found.clear()
                return
            found[name] = value
        at = _statement(text, at)


def _statement(text: str, at: int) -> int:
    """Where the next statement begins: blanks, line breaks and comments are passed over."""
    while at < len(text):
        if text[at] == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text[at].isspace():
            at += 1
        else:
            break
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _name(text: str, at: int) -> tuple[str, int, bool]:
    """A name, where its value begins, and whether it is alone on its line."""
    if _EXPORT.match(text, at):
        at = _behind_blanks(text, at + len("export"))
    start = end = at
    while end < len(text) and text[end] not in "=:\n":
        char = text[end]
        if not (char in _BLANK or char in "_.-[]" or char.isalpha() or char.isnumeric()):
            raise InvalidEnvFile("unexpected character in a variable's name", _line(text, start))
        end += 1
    if end == len(text):  # no line break: to Compose it is the value of a variable without a name
        return "", start, False
    name = text[start:end].rstrip()
    if " " in name:
        raise InvalidEnvFile("key cannot contain a space", _line(text, start))
    return name, _behind_blanks(text, end + 1), text[end] == "\n"


def _behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _value(text: str, at: int, variables: Mapping[str, str | None]) -> tuple[str | None, int]:
    """A value, None where it is too long, and where it ends."""
    quote = text[at : at + 1]
    if quote not in ("'", '"'):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        return _substituted(text[at:end].partition(" #")[0].rstrip(), variables, (text, at)), end
    pieces: list[str] = []
    end = at + 1
    while end < len(text):
        char = text[end]
        if char == quote:
            value = "".join(pieces)
            if quote == "'":
                return value, end + 1
            return _substituted(_ESCAPE.sub(_unescaped, value), variables, (text, at)), end + 1
        if char == "\\" and end + 1 < len(text):
            end += 1
            char = text[end] if text[end] == quote else "\\" + text[end]
        pieces.append(char)
        end += 1
    raise InvalidEnvFile("unterminated quoted value", _line(text, at))


def _substituted(value: str, variables: Mapping[str, str | None], place: tuple[str, int]) -> str | None:
    if "$" not in value:
        return value
    try:
        result = interpolate(value, variables)
        return result.text if result.room >= 0 else None
    except InvalidInterpolation:
        raise InvalidEnvFile("invalid interpolation: write $$ for a dollar sign", _line(*place)) from None


def _unescaped(match: re.Match[str]) -> str:
    escape = match[0][1:]
    if escape == "$":
        return "$$"
    if escape[0] == "0":
        digits = escape[1:]
        # Go wants three octal digits; of anything else Compose drops the zero.
        valid = len(digits) == 3 and all(digit in "01234567" for digit in digits) and int(digits, 8) < 256
        return chr(int(digits, 8)) if valid else "\\" + digits
    return _ESCAPED.get(escape, match[0])
