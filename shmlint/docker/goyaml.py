"""What go-yaml v3, the parser Compose uses, reads in a plain YAML scalar.

It follows neither YAML 1.1 nor 1.2: ``1e9`` is a float, ``017`` and ``0o17`` are 15, ``16:30``
and ``yes`` are texts (go-yaml resolve.go). Python's libraries each differ from it.
"""

from __future__ import annotations

import re

from shmlint.docker.sizes import go_float

NULLS = ("", "~", "null", "Null", "NULL")
"""Plain scalars that are nothing."""
_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(NULLS, None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}


_CORE = "tag:yaml.org,2002:"
_KINDS = {type(None): "null", bool: "bool", int: "int", float: "float", str: "str"}


class WrongTag(ValueError):
    """A scalar is not a value of the kind that its tag names."""


def resolve(text: str, tag: str | None, *, plain: bool) -> bool | int | float | str | None:
    """The value of a scalar with its tag; ``plain`` is one without quotes. Raises WrongTag.

    A tag of YAML's own counts for quoted scalars too; under any other tag everything is a text.
    """
    if tag is None or tag == "!":
        return resolve_plain(text) if plain else text
    kind = tag.removeprefix(_CORE)
    if kind == "binary":
        return _decoded(text)
    if kind == tag or kind not in ("null", "bool", "int", "float"):
        return text
    value = resolve_plain(text)
    if kind == "float" and type(value) is int:
        return float(value)
    if _KINDS[type(value)] != kind:
        raise WrongTag(f"cannot decode !!{_KINDS[type(value)]} `{text}` as a !!{kind}")
    return value


def _decoded(text: str) -> str:
    """``!!binary``: base64 as Go decodes it, with its padding and with line breaks anywhere."""
    import base64

    try:
        return base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True).decode(errors="replace")
    except ValueError:
        raise WrongTag("!!binary value contains invalid base64 data") from None


def resolve_plain(text: str) -> bool | int | float | str | None:
    """The value of an unquoted scalar. Timestamps stay texts: no key that is read takes one.

    An integer that fits neither a signed nor an unsigned 64-bit integer is a float; a float out
    of range is a text.
    """
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        value = go_float(text)
        return text if value is None else value
    if first not in "+-0123456789":
        return text
    plain = text.replace("_", "")
    number = _integer(plain)
    if number is not None:
        return number
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", plain):
        value = go_float(plain)
        return text if value is None else value
    return text


def is_timestamp(text: str) -> bool:
    """Whether go-yaml reads an unquoted scalar as a time (``allowedTimestampFormats`` in its resolve.go).

    >>> is_timestamp("2024-08-06"), is_timestamp("2024-13-06"), is_timestamp("2024-08-06 10:00:00")
    (True, False, True)
    """
    found = re.fullmatch(_TIMESTAMP, text, re.ASCII) if text[4:5] == "-" else None
    if found is None:
        return False
    from datetime import datetime

    month, day, hour, minute, second = (int(found[n] or 0) for n in ("month", "day", "hour", "minute", "second"))
    try:
        datetime(int(found["year"]) or 4, month, day, hour, minute, second)  # Go knows a year 0, which is a leap year
    except ValueError:
        return False
    return True


_TIMESTAMP = (
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?:(?:(?P<zoned>[Tt])| )(?P<hour>\d{1,2}):(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:[.,]\d+)?"
    r"(?(zoned)(?:Z|[+-]\d\d:\d\d)))?"
)


def _integer(text: str) -> int | None:
    """Go's ``strconv.ParseInt(text, 0, 64)``, then ParseUint, which takes no sign; None where both refuse."""
    match = re.fullmatch(
        r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]{0,19}))", text
    )
    if match is None:
        return None
    sign, hexadecimal, binary, octal, decimal = match.groups()
    if hexadecimal:
        number = int(hexadecimal, 16)
    elif binary:
        number = int(binary, 2)
    else:
        number = int(octal, 8) if octal else int(decimal)
    number = -number if sign == "-" else number
    return number if -(2**63) <= number < (2**63 if sign else 2**64) else None
