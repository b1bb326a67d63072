"""Formats: a module each. They read files into launches and write edits back.

A format is a function ``read(paths, workspace, settings) -> Reading``; what is a format's own
(its grammar, its positions) stays behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shmlint.launch import Launch
from shmlint.settings import Settings
from shmlint.source import Problem
from shmlint.workspace import Workspace


KINDS = frozenset({"compose"})
"""The kinds of files that are read."""


@dataclass(slots=True)
class Reading:
    """What a format made of its files."""

    launches: list[Launch] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read(kind: str, paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """Read files of one kind. Formats are imported when a file asks for them."""
    if kind == "compose":
        from shmlint.formats import compose

        return compose.read(paths, workspace, settings)
    raise ValueError(f"no format reads {kind}")
