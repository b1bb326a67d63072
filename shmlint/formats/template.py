"""Templates of manifests, scripts and compose files (``deploy.yaml.j2``): they are seen, and reported as not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.files.kinds import is_example
from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.model.launch import Launch
from shmlint.model.reading import NotRead, Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Edit, Source, Span
from shmlint.model.suppression import Suppression
from shmlint.syntax.template import statements

RENDERED = "shmlint reads the file that it renders to"


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """No launches; each file as one that is not read."""
    return read_each(paths, workspace, lambda source: Reading(not_read=(_by_name(source),)))


def _by_name(source: Source) -> NotRead:
    """A template whose name says that it is one, or an example."""
    if is_example(source.path):
        return whole(source, because="it is an example; shmlint reads the file that people copy it to")
    return whole(source)


def whole(source: Source, at: int = 0, because: str = f"it is a template; {RENDERED}") -> NotRead:
    """A template that is not read, with the offset of what shows that it is one."""
    return NotRead(Span(source, at, at), because, "template", whole=True)


def unnamed(source: Source) -> Reading | None:
    """A file of another format that is a template by its statements (``{% if gpu %}``); None where it is none."""
    at = next(statements(source.text), None)
    return Reading(not_read=(whole(source, at),)) if at is not None else None


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """None: nothing is found there."""
    return iter(())


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """None: nothing is found there."""
    return None
