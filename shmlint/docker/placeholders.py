"""Placeholders for sizes and numbers, which a reader or another tool replaces: ``<size>``, ``YOUR_SIZE``."""

from __future__ import annotations

import re

from shmlint.model.launch import Unknown

_MARKED = (
    r"<[^<>\n]+>|\[[A-Za-z_][\w ./-]*\]|#?\{{1,2}[ ]?[A-Za-z_][^{}\n]*\}{1,2}|__\w+__|%\w+%|@[\w.-]+@"
    r"|\.{3,}|…|\?+|_{2,}"
)
_ASKING = r"(?i:(?:replace|change|fill|insert|enter|your)(?:[-_ ]?[a-z])*|my[-_][\w-]+|todo|tbd|fixme|placeholder)"
_NAME = r"[A-Z]+(?:_[A-Z0-9]+)*|xx+|n"
_UNIT = r"(?i:[kmgtp](?:i?b)?|b)"
_VALUE = (
    rf"{_UNIT}|(?:ALL|NONE|AUTO|MAX|MIN|FULL|HALF|UNLIMITED|INF|INFINITY|NAN|NULL|HOST|DEFAULT|TRUE|FALSE|YES|NO|ON|OFF)\Z"
)
"""What people take for a value: a unit without its number, a word that other options know."""


def is_placeholder(text: str) -> bool:
    """Whether a text stands for a size or a number, with a unit or without one; its number is not known.

    >>> is_placeholder("XXg"), is_placeholder("lots"), is_placeholder("ALL")
    (True, False, False)
    """
    return re.fullmatch(rf"(?!(?:{_VALUE})\Z)(?:{_MARKED}|{_ASKING}|{_NAME}){_UNIT}?", text) is not None


def unknown(text: str, *, private: bool = False) -> Unknown | None:
    """Why a size or number is not known that was refused; None where it is no placeholder and so is an error."""
    if not is_placeholder(text):
        return None
    return Unknown("variable", f"{'it' if private else f'`{text}`'} is a placeholder", "" if private else text)
