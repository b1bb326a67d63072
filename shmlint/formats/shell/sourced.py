"""What files of the repository that a text sources do to its commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import partial

from shmlint.files.cache import Key
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats.shell.callers import scripts_around
from shmlint.formats.shell.part import Part
from shmlint.model.launch import ENGINES
from shmlint.model.source import Source
from shmlint.syntax.fish import translated
from shmlint.syntax.shell_calls import sourced
from shmlint.syntax.shell_sharing import sharing
from shmlint.syntax.shell_text import Places, ShellText, whole

_NAMED = "|".join(ENGINES)
_MAY_DEFINE = re.compile(rf"\b(?:{_NAMED})\s*\(|\bfunction\s+(?:{_NAMED})\b")
_COMPUTED = re.compile(r"[$`*?\[{]")
_DEPTH = 5
"""Files that source others are followed this deep."""

_DEFINED: Key[AbstractSet[str]] = Key("functions with the names of engines")
"""By the file."""


def with_sourced(part: Part, source: Source, workspace: Workspace) -> Part:
    """A part that knows which functions with the names of engines the files define that it sources."""
    names = sourced(part.text)
    if not names:
        return part
    return part._replace(text=part.text._replace(functions=_defined_in(names, source, workspace, _DEPTH)))


def _defined_in(names: Iterable[str], source: Source, workspace: Workspace, depth: int) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for file in _files(names, source, workspace):
        found |= workspace.once(_DEFINED, file.path, partial(_functions, file.path))
        if depth and file.path != source.path:
            inner = sourced(_shell(file))
            found |= _defined_in(inner, file, workspace, depth - 1) if inner else frozenset()
    return found


def _functions(path: str, workspace: Workspace) -> AbstractSet[str]:
    file = workspace.source(path)
    if _MAY_DEFINE.search(file.text) is None:
        return frozenset()
    return sharing(_shell(file)).functions & frozenset(ENGINES)


def _shell(file: Source) -> ShellText:
    return translated(file, Places()) if file.path.endswith(".fish") else whole(file, 0, len(file.text))


def _files(names: Iterable[str], source: Source, workspace: Workspace) -> Iterator[Source]:
    """The files that may be sourced: those near by with the name, or any with such a function where it is computed."""
    given = {os.path.basename(name.strip("\"'")) for name in names}
    computed = any(_COMPUTED.search(name) is not None for name in given)
    seen = {normal(source.path)}
    for name in names:
        path = normal(os.path.join(os.path.dirname(source.path), name.strip("\"'")))
        if _COMPUTED.search(name) is None and path not in seen and workspace.inside(path, source.path):
            seen.add(path)
            file = workspace.peek(path)
            if file is not None:
                yield file
    for file in scripts_around(source, workspace):
        named = os.path.basename(file.path) in given
        if file.path not in seen and (named or (computed and _MAY_DEFINE.search(file.text) is not None)):
            seen.add(file.path)
            yield file
