"""Suppression comments in CI files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats.comments import HASH, above, at_end, first_line, line_suppressions, outside_texts
from shmlint.model.launch import Launch
from shmlint.model.source import Edit, Source
from shmlint.model.suppression import Suppression


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The suppression comments of the file and of the scripts in it."""
    return line_suppressions(source, HASH, "#", outside_texts(source))


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """A comment after the key of a container, or above a command."""
    source, line = launch.span.source, launch.span.line
    if launch.kind == "ci-container":
        return at_end(source, line, f"# {text}")
    return above(source, first_line(source, line), f"# {text}")
