"""Whole numbers as files write them."""

from __future__ import annotations

_MOST_DIGITS = 18


def whole_number(text: str) -> int | None:
    """The number that a text of the digits 0 to 9 is.

    None for any other text, and for one that is longer than every number that counts: Python refuses to read a
    number of some thousand digits.
    """
    return int(text) if len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit() else None
