"""Sizes: Docker's grammar, Compose's, and the kernel's for tmpfs; all in bytes."""

from __future__ import annotations

import math

_POWERS = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_OVERFLOW = -(2**63)
"""What Go's conversion of an out-of-range float to int64 gives on amd64; it is not noticed."""


class InvalidSize(ValueError):
    """A text is no size; the message says why."""


def parse_docker(text: str) -> int:
    """Bytes as docker/go-units ``RAMInBytes`` reads them (``--shm-size``, ``--memory``).

    A number, at most one space, and one of b k m g t p with an optional b or ib; 1024-based,
    truncated. Raises InvalidSize.

    >>> parse_docker("1.5g")
    1610612736
    """
    if not text:
        raise InvalidSize("there is no size")
    space = text.find(" ")
    if space >= 0:
        number, suffix = text[:space], text[space + 1 :]
    else:
        last = max(text.rfind(char) for char in "0123456789.")
        number, suffix = text[: last + 1], text[last + 1 :]
    value = _go_float(number)
    if value is None:
        raise InvalidSize(f"`{text}` does not start with a number" if not number else f"`{number}` is no number")
    if value < 0:
        raise InvalidSize("a size cannot be negative")
    lowered = suffix.lower()
    if lowered[:1] in _POWERS and lowered[1:] in ("", "b", "ib"):
        value *= 1 << _POWERS[lowered[0]]
    elif lowered not in ("", "b"):
        raise InvalidSize(f"`{suffix}` is no unit Docker knows; it knows b, k, m, g (also kb, mb, gb)")
    return int(value) if math.isfinite(value) and value < 2.0**63 else _OVERFLOW


def _go_float(text: str) -> float | None:
    """Go's ``strconv.ParseFloat``; None where it refuses."""
    if not text.isascii() or text != text.strip():
        return None
    digits = text.lstrip("+-").lower()
    try:
        if digits.startswith("0x"):
            return float.fromhex(text.replace("_", "")) if "p" in digits else None
        value = float(text)
    except (ValueError, OverflowError):
        return None
    return None if math.isinf(value) and "inf" not in digits else value


def parse_compose(value: int | str) -> int:
    """Bytes as Compose reads ``shm_size`` (compose-go types/bytes.go): a whole number first, so
    "-1" passes, then Docker's grammar. Raises InvalidSize."""
    if isinstance(value, int):
        return value
    digits = value[1:] if value[:1] in ("+", "-") else value
    if digits.isascii() and digits.isdigit() and abs(int(value)) < 2**63:
        return int(value)
    return parse_docker(value)


def parse_tmpfs_option(text: str) -> int | None:
    """Bytes as the kernel reads ``size=`` of a tmpfs mount (lib/cmdline.c ``memparse``); 0 is unlimited.

    None for a percentage: a share of the host's memory. Raises InvalidSize for what fails the
    mount, which Docker's own units ``gb`` and ``GiB`` do.
    """
    if text.endswith("%"):
        if text[:-1].isascii() and text[:-1].isdigit():
            return None
        raise InvalidSize(f"`{text}` is no share the kernel knows")
    number, power = text, 0
    if text and text[-1].lower() in ("k", "m", "g", "t", "p", "e"):
        power = "kmgtpe".index(text[-1].lower()) * 10 + 10
        number = text[:-1]
    try:
        if not number.isascii() or not number[:1].isdigit() or "_" in number:
            raise ValueError
        if number[:2] in ("0x", "0X"):
            count = int(number, 16)
        else:
            count = int(number, 8) if number[0] == "0" and len(number) > 1 else int(number)
    except ValueError:
        raise InvalidSize(f"the kernel does not take `{text}` for a tmpfs; it takes k, m, g and %") from None
    return (count << power) % 2**64


def spell_compose(size: int) -> str:
    """A size in Compose's spelling, the largest unit up to gb that divides it.

    >>> spell_compose(1610612736)
    '1536mb'
    """
    for unit in ("g", "m", "k"):
        if size and size % (1 << _POWERS[unit]) == 0:
            return f"{size >> _POWERS[unit]}{unit}b"
    return f"{size}b"


def spell_docker(size: int) -> str:
    """A size as people write it behind ``--shm-size``: ``8g``."""
    text = spell_compose(size)
    return text[:-1] if text[-2:] in ("gb", "mb", "kb") else text


def human(size: int) -> str:
    """A size for a sentence, to a tenth.

    >>> human(67108864)
    '64 MiB'
    """
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{size / (1 << power):.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} byte{'' if size == 1 else 's'}"
