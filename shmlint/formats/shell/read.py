"""Shell scripts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats import sources
from shmlint.formats.shell.build import builds
from shmlint.formats.shell.run import launches
from shmlint.model.launch import Build, Launch
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import BOM, Problem, Source
from shmlint.syntax.shell import Command, commands
from shmlint.syntax.shell_text import ShellText, whole


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of scripts."""
    found: list[Launch] = []
    built: list[Build] = []
    problems: list[Problem] = []
    for source in sources(paths, workspace, problems):
        if not mentions_engine(source.text):
            continue
        read_commands = list(commands(_script(source)))
        found += launches(read_commands)
        built += builds(read_commands, os.path.dirname(source.path))
    return Reading(tuple(found), tuple(problems), tuple(built))


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


def mentions_engine(text: str) -> bool:
    """Whether a text can hold a launch at all."""
    return "docker" in text.lower() or "podman" in text.lower()
