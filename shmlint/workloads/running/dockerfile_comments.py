"""The image that a Dockerfile's own comments build from it: ``# docker build -t me/tool .``."""

from __future__ import annotations

import os
import re
from itertools import islice

from shmlint.docker.images import DOCKERFILES
from shmlint.files.read import normal
from shmlint.formats.shell.build import builds as read
from shmlint.model.launch import Build
from shmlint.model.source import Source, Span
from shmlint.syntax.shell import commands
from shmlint.syntax.shell_text import Builder

_LONGEST = 100_000
"""Characters; a longer file is not written by hand."""
_MOST_COMMANDS = 20
_COMMAND = (
    r"(?m)^[ \t]*#+[ \t]*(?:[A-Za-z][^\n:#`]{0,40}:[ \t]{1,9})?(?:[$>][ \t]*)?"
    r"((?:sudo[ \t]+)?(?:docker|podman|nerdctl|buildah)[ \t])"
)
"""A command behind a comment's sign, also after what it is for: ``# Build: docker build .``."""
_COMMENT = r"\n[ \t]*#+"


def builds(source: Source) -> tuple[Build, ...]:
    """The builds that comments show, as far as they are of this very Dockerfile."""
    if len(source.text) > _LONGEST:
        return ()
    starts = [match.start(1) for match in islice(re.finditer(_COMMAND, source.text), _MOST_COMMANDS)]
    of_it = (_of(build, source.path) for start in starts for build in _shown(source, start))
    return tuple(build for build in of_it if build is not None)


def _shown(source: Source, start: int) -> tuple[Build, ...]:
    """The builds of the command that starts at an offset, with the lines of the comment in which it goes on."""
    end = _end_of_line(source, start)
    text, spoken = Builder(source), start
    text.take(start, end)
    while source.text.endswith("\\", start, end) and (following := re.compile(_COMMENT).match(source.text, end)):
        text.take(end, end + 1)
        start, end = following.end(), _end_of_line(source, following.end())
        text.take(start, end)
    found = commands(text.build(Span(source, spoken, end)))
    return tuple(read(tuple(found), os.path.dirname(source.path)))


def _end_of_line(source: Source, start: int) -> int:
    end = source.text.find("\n", start)
    return len(source.text) if end < 0 else end


def _of(build: Build, path: str) -> Build | None:
    """A build, typed in a directory from which its Dockerfile is the one with the comment; None for another one."""
    folder, name = os.path.split(normal(path))
    if build.dockerfile is not None:
        typed_in = _before(normal(path), normal(build.dockerfile))
    else:
        typed_in = _before(folder, normal(build.context)) if name in DOCKERFILES else None
    return build._replace(directory=typed_in) if typed_in is not None else None


def _before(path: str, end: str) -> str | None:
    """The directory from which a path's end leads to it."""
    if end in (".", path):
        return path if end == "." else ""
    return path.removesuffix(f"/{end}") if path.endswith(f"/{end}") else None
