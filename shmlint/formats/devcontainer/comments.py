"""Suppression comments in a devcontainer.json."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats.comments import SLASHES, at_end, before, line_suppressions
from shmlint.model.launch import Launch
from shmlint.model.source import Edit, Source
from shmlint.model.suppression import Suppression


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The suppression comments, which JSON with comments has after two slashes."""
    return line_suppressions(source, SLASHES, "//", lambda at: before(source, at).count('"') % 2 == 0)


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """A comment after the opening brace."""
    return at_end(launch.span.source, launch.span.line, f"// {text}")
