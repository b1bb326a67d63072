"""Suppression: a comment that takes findings out of a report."""

from __future__ import annotations

from shmlint.model.record import NamedTuple
from shmlint.model.source import Span


class Suppression(NamedTuple):
    """A suppression comment, and what it speaks of.

    ``names`` is None where it means every rule. ``first`` and ``last`` are the lines it speaks of,
    if it does not speak of the ``whole_file``. ``own_line``: nothing else is on its line.
    ``certain``: it is a comment, and not part of a text that only shows one.
    """

    span: Span
    names: tuple[Span, ...] | None
    whole_file: bool
    first: int
    last: int
    own_line: bool
    certain: bool = True
