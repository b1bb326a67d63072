"""Formats: a module each. They read files into launches and write edits back.

A format is a function ``read(paths, workspace, settings) -> Reading``; what is a format's own
(its grammar, its positions) stays behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.launch import Launch
from shmlint.settings import Settings
from shmlint.source import Problem, Source, Span
from shmlint.workspace import Unreadable, Workspace

KINDS = frozenset({"compose", "shell", "makefile", "markdown", "ci", "devcontainer", "inspect"})
"""The kinds of files that are read."""


class Reading:
    """What a format made of its files."""

    __slots__ = ("launches", "problems")

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.problems: list[Problem] = []


def sources(paths: Sequence[str], workspace: Workspace, reading: Reading) -> Iterator[Source]:
    """The files that can be read as text; of the others the reading gets a problem."""
    for path in paths:
        try:
            yield workspace.source(path)
        except Unreadable as error:
            reading.problems.append(Problem(Span(error.source, error.offset, error.offset), error.message))


def read(kind: str, paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """Read files of one kind. Formats are imported when a file asks for them."""
    from importlib import import_module

    if kind not in KINDS:
        raise ValueError(f"no format reads {kind}")
    found: Reading = import_module(f"shmlint.formats.{kind}").read(paths, workspace, settings)
    return found
