"""Shell scripts."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats import sources
from shmlint.formats.shell.run import launches
from shmlint.model.launch import Launch
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import BOM, Problem
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import whole


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of scripts."""
    found: list[Launch] = []
    problems: list[Problem] = []
    for source in sources(paths, workspace, problems):
        if not mentions_engine(source.text):
            continue
        start = len(BOM) if source.text.startswith(BOM) else 0
        found += launches(list(commands(whole(source, start, len(source.text)))))
    return Reading(tuple(found), tuple(problems))


def mentions_engine(text: str) -> bool:
    """Whether a text can hold a launch at all."""
    return "docker" in text.lower() or "podman" in text.lower()
