"""Shell scripts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from shmlint.docker.engines import skip_to_engine
from shmlint.files.workspace import Workspace
from shmlint.formats import sources
from shmlint.formats.shell.build import builds
from shmlint.formats.shell.run import launches
from shmlint.model.launch import Build, Launch
from shmlint.model.reading import NotRead, Reading
from shmlint.model.settings import Settings
from shmlint.model.source import BOM, Problem, Source, Span
from shmlint.syntax.shell import Command, commands
from shmlint.syntax.shell_repair import repaired
from shmlint.syntax.shell_text import ShellText, mentions_engine, whole


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of scripts."""
    found: list[Launch] = []
    built: list[Build] = []
    problems: list[Problem] = []
    unread: list[NotRead] = []
    for source in sources(paths, workspace, problems):
        if not mentions_engine(source.text):
            continue
        text = _script(source)
        read_commands = list(commands(text))
        found += launches(read_commands)
        unread += not_read(text, read_commands)
        built += builds(read_commands, os.path.dirname(source.path))
    return Reading(tuple(found), tuple(problems), tuple(built), tuple(unread))


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


def _script(source: Source) -> ShellText:
    start = len(BOM) if source.text.startswith(BOM) else 0
    return whole(source, start, len(source.text))


def same_beside(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether the commands that start no container get the words that they got."""
    old, new = (list(others(commands(_script(files.source(path))))) for files in (before, after))
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


