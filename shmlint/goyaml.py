"""What go-yaml, the parser Compose uses, reads in a plain YAML scalar.

It follows neither YAML 1.1 nor 1.2: ``1e9`` is a float, ``017`` and ``0o17`` are 15, ``16:30``
and ``yes`` are texts (go-yaml resolve.go). Python's libraries each differ from it.
"""

from __future__ import annotations

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_DIGITS = frozenset("0123456789")


def resolve_plain(text: str) -> bool | int | float | str | None:
    """The value of an unquoted scalar. Timestamps stay texts: no key that is read takes one."""
    if text in _NULL:
        return None
    first = text[0]
    if first not in "+-.0123456789tTfF":
        return text
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if first in "tTfF":
        return text
    plain = text.replace("_", "")
    number = _integer(plain)
    if number is not None:
        return number
    return _float(plain, text)


def _integer(text: str) -> int | None:
    """Go's ``strconv.ParseInt(text, 0, 64)``, and ParseUint for what is larger."""
    sign = -1 if text[:1] == "-" else 1
    digits = text[1:] if text[:1] in ("+", "-") else text
    base = 10
    lowered = digits[:2].lower()
    if lowered in ("0x", "0o", "0b"):
        base = {"0x": 16, "0o": 8, "0b": 2}[lowered]
        digits = digits[2:]
    elif digits[:1] == "0" and len(digits) > 1:
        base = 8
        digits = digits[1:]
    if not digits or not digits.isascii() or not digits.isalnum():
        return None
    try:
        number = sign * int(digits, base)
    except ValueError:
        return None
    return number if -(2**63) <= number < (2**64 if text[:1] not in ("+", "-") else 2**63) else None


def _float(plain: str, text: str) -> float | str:
    unsigned = plain[1:] if plain[:1] in ("+", "-") else plain
    if unsigned in (".inf", ".Inf", ".INF"):
        return float(plain.replace(".", "").lower())
    if plain in (".nan", ".NaN", ".NAN"):
        return float("nan")
    mantissa, _, exponent = unsigned.lower().partition("e")
    whole, dot, fraction = mantissa.partition(".")
    if not (whole or fraction) or not set(whole + fraction) <= _DIGITS or (not whole and not dot):
        return text
    if "e" in unsigned.lower():
        power = exponent[1:] if exponent[:1] in ("+", "-") else exponent
        if not power or not set(power) <= _DIGITS:
            return text
    return float(plain)
