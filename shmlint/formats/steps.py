"""The steps of a job of a CI system as one script: the container of the job runs these, not its image's own command."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from shmlint.model.launch import Bind, Launch, Value
from shmlint.syntax.shell_text import mentions_engine

if TYPE_CHECKING:
    from shmlint.model.source import Span

_MOST = 200_000
"""Characters of the scripts of a job that are read."""
_STARTS = re.compile(r"\b(?:run|create)\b")


def as_step(text: str, *, decided: bool) -> str:
    """A step as commands in a shell of its own, under a condition of which nothing is known where one decides."""
    if not text:
        return ""
    return f'if [ "$_condition_" ]; then (\n{text}\n)\nfi\n' if decided else f"(\n{text}\n)\n"


def starts_containers(text: str) -> bool:
    """Whether a step starts containers: these are launches of their own, and their options may be edited."""
    return mentions_engine(text) and _STARTS.search(text) is not None


def unread(what: str) -> str:
    """A step of which nothing is known, as a program that nobody knows; ``what`` says why."""
    return "$step_" + re.sub(r"\W+", "_", what)


def running(
    launch: Launch, shell: str, steps: Iterable[str], place: tuple[Span, str, str], binds: Iterable[Bind]
) -> Launch:
    """A container as it runs steps in a shell; ``place`` is where they stand, what they are called, and the workspace.

    The container stays as it is where they are too long to be read.
    """
    span, told, workspace = place
    script = "".join(steps)
    if len(script) > _MOST:
        return launch
    return launch._replace(
        entrypoint=Value((shell, "-e", "-c", script), span, told),
        command=None,
        binds=(*launch.binds, *binds),
        workdir=launch.workdir or Value(workspace, span, workspace),
    )
