"""Scripts of fish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.formats.comments import HASH, above_command, line_suppressions, outside_texts
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import read_source
from shmlint.formats.shell.rest import same_others
from shmlint.formats.shell.run import with_reasons, with_texts
from shmlint.model.launch import Launch
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Source
from shmlint.model.suppression import Suppression
from shmlint.syntax.fish import translated
from shmlint.syntax.shell_text import Places


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of scripts."""
    return read_each(paths, workspace, partial(_read, workspace=workspace))


def _read(source: Source, workspace: Workspace) -> Reading:
    places = Places()
    reading = read_source(source, (Part(translated(source, places)),), workspace)
    return reading._replace(
        launches=tuple(with_texts(launch, places.as_written) for launch in reading.launches),
        not_read=with_reasons(reading.not_read, places.as_written),
    )


def _parts(source: Source) -> Iterator[Part]:
    yield Part(translated(source, Places()))


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether the commands that start no container get the words that they got."""
    return same_others(path, before, after, _parts, sizes_only=sizes_only)


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The suppression comments of a script."""
    return line_suppressions(source, HASH, "#", outside_texts(source))


ignore_comment = above_command
