"""Reading: what a format made of its files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from shmlint.model.launch import Build, Launch
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem, Span

NotReadKind = Literal["unsupported", "excluded", "unreadable", "outside", "syntax", "template", "dynamic"]
"""Why something was not read: no format reads such files, the settings exclude it, the file cannot be read as text,
it is outside of the repository, its syntax is broken there, it is a template, or its text is built when it runs."""


class NotRead(NamedTuple):
    """A file or a launch that was seen and not read. ``because`` is for people, ``kind`` for code."""

    span: Span
    because: str
    kind: NotReadKind
    whole: bool = False
    """Nothing of the file was read."""


class Reading(NamedTuple):
    """What a format made of its files."""

    launches: tuple[Launch, ...] = ()
    problems: tuple[Problem, ...] = ()
    """What the files are refused for."""
    builds: tuple[Build, ...] = ()
    """The images that the same files build."""
    not_read: tuple[NotRead, ...] = ()
    """Files and launches that were seen and not read."""


NOTHING = Reading()


def joined(readings: Iterable[Reading]) -> Reading:
    """Several readings as one."""
    some = list(readings)
    return Reading(
        tuple(launch for reading in some for launch in reading.launches),
        tuple(problem for reading in some for problem in reading.problems),
        tuple(build for reading in some for build in reading.builds),
        tuple(place for reading in some for place in reading.not_read),
    )
