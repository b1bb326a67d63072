"""Scripts of fish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats.comments import HASH, above_command, line_suppressions, outside_texts
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import read_parts
from shmlint.formats.shell.rest import same_others
from shmlint.model.launch import Launch
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Source
from shmlint.model.suppression import Suppression
from shmlint.syntax.fish import translated


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of scripts."""
    return read_parts(paths, workspace, _parts)


def _parts(source: Source) -> Iterator[Part]:
    yield Part(translated(source))


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether the commands that start no container get the words that they got."""
    return same_others(path, before, after, _parts, sizes_only=sizes_only)


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The suppression comments of a script."""
    return line_suppressions(source, HASH, "#", outside_texts(source))


ignore_comment = above_command
