"""Compose's variable substitution (compose-go template/template.go).

``$VAR``, ``${VAR}``, ``:-`` ``-`` ``:?`` ``?`` ``:+`` ``+`` with nested defaults, ``$$`` for a
dollar. Variables come from the project's env files alone: what the shell of whoever starts the
containers holds is not known here, so a variable that no file sets is noted as unset. One that Compose
sets itself is set, and its value may not be known.
"""

from __future__ import annotations

from collections.abc import Mapping

_NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_NAME = _NAME_START | frozenset("0123456789")


class NotKnown(str):
    """The value of a variable that is set to something, which is not known."""

    __slots__ = ()


PROJECT_NAME = "COMPOSE_PROJECT_NAME"
"""Compose sets it to the name of the project, which an option, a variable or the directory may say."""


class InvalidInterpolation(ValueError):
    """Compose refuses the text. ``offset`` is where in it."""

    def __init__(self, offset: int) -> None:
        super().__init__("invalid interpolation: write $$ for a dollar sign")
        self.offset = offset


class Interpolated:
    """What a text becomes.

    ``text`` is Compose's reading with unset variables as empty strings. ``unset`` are the
    variables it lacked a value for, those among them that are set to something unknown.
    ``defaults`` are the spans (in the text as written) of the defaults that were used, the
    outermost first. ``private``: an env file's value went into it. ``room``: how many more
    characters the values of variables may have in it; one that is too long is not read, and its
    variable counts as unset.
    """

    __slots__ = ("defaults", "private", "room", "text", "unset", "used")

    def __init__(self, text: str, unset: list[str] | None = None) -> None:
        self.text = text
        self.unset = unset or []
        self.defaults: list[tuple[int, int]] = []
        self.used: list[str] = []
        self.private = False
        self.room = 1_000_000


def interpolate(text: str, variables: Mapping[str, str | None]) -> Interpolated:
    """Substitute the variables of a text. Raises InvalidInterpolation."""
    result = Interpolated("")
    result.text, _ = _substitute(text, 0, len(text), variables, result, depth=0)
    return result


def _substitute(
    text: str, at: int, end: int, variables: Mapping[str, str | None], result: Interpolated, depth: int
) -> tuple[str, int]:
    if depth > 50:
        raise InvalidInterpolation(at)
    pieces: list[str] = []
    while at < end:
        dollar = text.find("$", at, end)
        if dollar < 0:
            pieces.append(text[at:end])
            break
        pieces.append(text[at:dollar])
        following = text[dollar + 1] if dollar + 1 < end else " "
        if following == "$":
            pieces.append("$")
            at = dollar + 2
        elif following in _NAME_START:
            stop = dollar + 1
            while stop < end and text[stop] in _NAME:
                stop += 1
            pieces.append(_value(text[dollar + 1 : stop], variables, result))
            at = stop
        elif following == "{":
            piece, at = _braced(text, dollar, end, variables, result, depth)
            pieces.append(piece)
        else:  # Compose leaves a dollar before anything else as it is
            pieces.append("$")
            at = dollar + 1
    return "".join(pieces), at


def _value(name: str, variables: Mapping[str, str | None], result: Interpolated) -> str:
    result.used.append(name)
    value = variables.get(name)
    if value is None or isinstance(value, NotKnown):
        result.unset.append(name)
        return ""
    result.private = True
    return _fitting(name, value, result)


def _fitting(name: str, value: str, result: Interpolated) -> str:
    result.room -= len(value)
    if result.room >= 0:
        return value
    result.unset.append(name)
    return ""


def _closing(text: str, dollar: int, end: int) -> int:
    """The offset of the brace that closes the ``${`` at ``dollar``; -1 where none does.

    As Compose finds it: the braces on the same line are counted, but for one that directly follows
    an opening one; where that does not come out even, the last one on the line closes.
    """
    newline = text.find("\n", dollar, end)
    last = text.rfind("}", dollar, end if newline < 0 else newline)
    depth = 0
    at = dollar + 1
    while at <= last:
        if text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        elif text[at] == "{":
            depth += 1
            at += 1
        at += 1
    return last


def _braced(
    text: str, dollar: int, end: int, variables: Mapping[str, str | None], result: Interpolated, depth: int
) -> tuple[str, int]:
    close = _closing(text, dollar, end)
    if close < 0:
        raise InvalidInterpolation(dollar)
    stop = dollar + 2
    while stop < close and text[stop] in _NAME:
        stop += 1
    name = text[dollar + 2 : stop]
    if not name or name[0] not in _NAME_START:
        raise InvalidInterpolation(dollar)
    after = close + 1
    if stop == close:
        return _value(name, variables, result), after
    operator = text[stop : stop + 2] if text[stop] == ":" else text[stop]
    if operator not in (":-", "-", ":?", "?", ":+", "+"):
        raise InvalidInterpolation(dollar)
    argument = stop + len(operator)
    value = variables.get(name)
    is_set = bool(value) if operator[0] == ":" and not isinstance(value, NotKnown) else value is not None
    result.used.append(name)
    taken = is_set if operator[-1] == "+" else not is_set and operator[-1] == "-"
    # Compose reads the argument also where it does not take it, and refuses what is wrong in it.
    reading = result if taken else Interpolated("")
    if taken and operator[-1] == "-":
        result.defaults.append((argument, close))
    piece, _ = _substitute(text, argument, close, variables, reading, depth + 1)
    if taken:
        return piece, after
    if isinstance(value, NotKnown):
        result.unset.append(name)
    elif is_set:
        result.private = True
    elif operator[-1] == "?":
        result.unset.append(name)
    return _fitting(name, value or "", result) if is_set else "", after
