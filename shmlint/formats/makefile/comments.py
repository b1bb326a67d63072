"""Suppression comments in makefiles and justfiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats.comments import HASH, above, first_line, line_suppressions, outside_texts
from shmlint.formats.makefile.written import is_justfile
from shmlint.model.launch import Launch
from shmlint.model.source import Edit, Source
from shmlint.model.suppression import Suppression


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The suppression comments of the file and of its recipes."""
    return line_suppressions(source, HASH, "#", outside_texts(source))


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """A comment above the first line of the command.

    In a makefile it is at the margin, where it is make's own: further in, the shell would get
    it, and make would print it.
    """
    source = launch.span.source
    return above(source, first_line(source, launch.span.line), f"# {text}", margin=not is_justfile(source.path))
