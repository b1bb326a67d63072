"""Shell scripts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from shmlint.docker.engines import skip_to_engine
from shmlint.files.workspace import Workspace
from shmlint.formats import sources
from shmlint.formats.shell.build import builds
from shmlint.formats.shell.run import launches, tied
from shmlint.model.launch import Build, Launch
from shmlint.model.reading import NotRead, Reading
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import BOM, Problem, Source, Span
from shmlint.syntax.shell import Command, commands
from shmlint.syntax.shell_repair import repaired
from shmlint.syntax.shell_text import ShellText, mentions_engine, whole
from shmlint.syntax.shell_variables import Variables


class Part(NamedTuple):
    """A stretch of a file that a shell reads, or that is read as a shell reads it."""

    text: ShellText
    given: Variables | None = None
    """Variables that something around it sets."""

    @property
    def commands(self) -> Iterator[Command]:
        """Its simple commands."""
        return commands(self.text, self.given)


Parts = Callable[[Source], Iterable[Part]]
"""How a format takes a file apart."""


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of scripts."""
    return read_parts(paths, workspace, _parts)


def read_parts(paths: Sequence[str], workspace: Workspace, parts: Parts) -> Reading:
    """The ``docker run`` commands in the parts of files."""
    found: list[Launch] = []
    built: list[Build] = []
    problems: list[Problem] = []
    unread: list[NotRead] = []
    for source in sources(paths, workspace, problems):
        if not mentions_engine(source.text):
            continue
        for part in parts(source):
            if mentions_engine(part.text.text):
                read_commands = list(part.commands)
                found += launches(read_commands)
                unread += not_read(part.text, read_commands)
                built += builds(read_commands, os.path.dirname(source.path))
    return Reading(tuple(tied(found)), tuple(problems), tuple(built), tuple(unread))


_GLUED = re.compile(r"(?:run|create)-\S+")


def not_read(text: ShellText, found: Iterable[Command]) -> Iterator[NotRead]:
    """Where a shell ends a container start that goes on for its reader, and starts that it takes for others."""
    for repair in repaired(text)[1]:
        because = f"{repair.because}: a shell does not pass on the options behind it"
        yield NotRead(Span(text.source, repair.at, repair.at + 1), because, "syntax")
    for command in found:
        at = skip_to_engine(command.words)
        if at is not None and at + 1 < len(command.words) and _GLUED.fullmatch(command.words[at + 1].text):
            because = f"`{command.words[at + 1].text}` is no command of the engine: a blank is missing"
            yield NotRead(command.span, because, "syntax")


def _parts(source: Source) -> Iterator[Part]:
    start = len(BOM) if source.text.startswith(BOM) else 0
    yield Part(whole(source, start, len(source.text)))


def same_beside(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether the commands that start no container get the words that they got."""
    return same_others(path, before, after, _parts)


def same_others(path: str, before: Workspace, after: Workspace, parts: Parts) -> bool:
    """Whether the commands of a file's parts that start no container get the words that they got."""
    old, new = ([list(others(part.commands)) for part in parts(files.source(path))] for files in (before, after))
    return old == new


_HARMLESS = ("", "echo", "printf", "export", "local", "declare", "readonly", "typeset", "set")
"""Commands that only print or assign; what is made of an assignment is compared where it is used."""


def others(found: Iterable[Command]) -> Iterator[tuple[str, ...]]:
    """The words of the commands that start no container and do more than print or assign."""
    for command in found:
        words = tuple(word.text for word in command.words)
        name = next((word for word in words if not _ASSIGNMENT.match(word)), "")
        if name not in _HARMLESS and not any(map(mentions_engine, words)):
            yield words


_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


