"""Shell scripts."""

from __future__ import annotations

import os
from collections.abc import Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats import sources
from shmlint.formats.shell.build import builds
from shmlint.formats.shell.run import launches
from shmlint.model.launch import Build, Launch
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import BOM, Problem
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import whole


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of scripts."""
    found: list[Launch] = []
    built: list[Build] = []
    problems: list[Problem] = []
    for source in sources(paths, workspace, problems):
        if not mentions_engine(source.text):
            continue
        start = len(BOM) if source.text.startswith(BOM) else 0
        read_commands = list(commands(whole(source, start, len(source.text))))
        found += launches(read_commands)
        built += builds(read_commands, os.path.dirname(source.path))
    return Reading(tuple(found), tuple(problems), tuple(built))


def mentions_engine(text: str) -> bool:
    """Whether a text can hold a launch at all."""
    return "docker" in text.lower() or "podman" in text.lower()
