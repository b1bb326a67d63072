"""Formats: a module each. They read files into launches and write edits back.

A format is a function ``read(paths, workspace, settings) -> Reading``; what is a format's own
(its grammar, its positions) stays behind it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from shmlint.files.cache import Key, Made
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.model.reading import Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Problem, Source

_MODULES = {
    "compose": "shmlint.formats.compose.read",
    "shell": "shmlint.formats.shell.read",
    "makefile": "shmlint.formats.makefile",
    "markdown": "shmlint.formats.markdown",
    "ci": "shmlint.formats.ci",
    "devcontainer": "shmlint.formats.devcontainer",
    "inspect": "shmlint.formats.inspect",
}

KINDS = frozenset(_MODULES)
"""The kinds of files that are read."""

ALONE = frozenset({"shell", "makefile", "markdown", "ci"})
"""Kinds whose files are each read by themselves; the others say things of each other."""

_READINGS = {kind: Key[Reading](f"{kind} reading") for kind in ALONE}

MUCH = 500_000
"""Bytes in such files from which on several processes read them: about half a second of one."""

PORTION = 64 * 1024
"""Bytes that one of them takes at a time, or one larger file."""


_Result = tuple[Key[Reading], str, Made[Reading]]


def sources(paths: Sequence[str], workspace: Workspace, problems: list[Problem]) -> Iterator[Source]:
    """The files that can be read as text; of each of the others a problem is added to ``problems``."""
    for path in paths:
        try:
            yield workspace.source(path)
        except Unreadable as error:
            problems.append(error.problem)


def read(kind: str, paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """Read files of one kind. Formats are imported when a file asks for them."""
    from importlib import import_module

    if kind not in KINDS:
        raise ValueError(f"no format reads {kind}")
    found: Reading = import_module(_MODULES[kind]).read(paths, workspace, settings)
    return found


_BESIDE = {"compose": "shmlint.formats.compose.rewrite"}
"""The kinds whose files hold more than their launches say of them, and the modules that compare it."""


def same_beside(kind: str | None, path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether what launches do not tell of a file has stayed the same when it was edited.

    ``sizes_only``: nothing but sizes was meant to change. A file of no kind is one that compose files refer to.
    """
    from importlib import import_module

    module = _BESIDE.get(kind or "compose")
    return module is None or bool(import_module(module).same_beside(path, before, after, sizes_only=sizes_only))


def read_all(
    files: Mapping[str, Sequence[str]], workspace: Workspace, settings: Settings, jobs: int = 1
) -> Iterator[Reading]:
    """Read the files of all kinds, in their order; up to ``jobs`` processes do it where there is much to read."""
    portions = list(_portions(files)) if jobs > 1 and workspace.untouched else []
    related: dict[str, Reading] = {}

    def read_related() -> None:
        for kind, paths in files.items():
            if kind not in ALONE:
                related[kind] = read(kind, paths, workspace, settings)

    if portions:
        from functools import partial

        from shmlint.files.parallel import share

        for texts, readings in share(partial(_read_portion, settings), portions, jobs, read_related):
            workspace.adopt(texts, readings)
    else:
        read_related()
    for kind, paths in files.items():
        if kind in ALONE:
            yield from (_read_alone(kind, path, workspace, settings) for path in paths)
        else:
            yield related[kind]


def _read_alone(kind: str, path: str, workspace: Workspace, settings: Settings) -> Reading:
    """A file that stands alone, read again only where a file that it depends on has changed."""
    return workspace.once(_READINGS[kind], path, lambda files: read(kind, [path], files, settings))


def _portions(files: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    """The files that stand alone, each kind in several portions; nothing where they are not much."""
    sizes = {path: _size(path) for kind in ALONE for path in files.get(kind, ())}
    if sum(sizes.values()) < MUCH:
        return
    for kind, paths in files.items():
        some: list[str] = []
        size = 0
        for path in paths if kind in ALONE else ():
            some.append(path)
            size += sizes[path]
            if size >= PORTION:
                yield kind, some
                some, size = [], 0
        if some:
            yield kind, some


def _size(path: str) -> int:
    """Bytes; 0 for what cannot be read."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def _read_portion(settings: Settings, portion: tuple[str, list[str]]) -> tuple[list[Source], list[_Result]]:
    """The texts that are read for files of one kind that stand alone, and what is made of them."""
    kind, paths = portion
    workspace = Workspace(follow_outside=settings.follow_outside)
    for path in paths:
        _read_alone(kind, path, workspace, settings)
    return workspace.results(_READINGS.values())
