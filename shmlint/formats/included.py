"""Files that a file reads, sources or starts, and whether they use what it defines.

An edit of a definition reaches these too: a variable, a function, what ``define`` holds. Who starts another file
may have exported the variable, so that is not told from reading it: the edit is made at the single launch instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.model.source import Source
from shmlint.syntax.yaml import MappingNode, Node, Scalar, SequenceNode

_NAMED = re.compile(
    r"(?<![\w.*?/-])/?((?:[\w.*?-]+/)*[\w.*?-]+\.(?:sh|bash|zsh|fish|ksh|mk|mak|make|just|ya?ml|inc|bat|cmd|ps1)"
    r"|(?:[\w.*?-]+/)*(?:GNUm|m|M)akefile(?:\.\w+)?)(?![\w.-])"
)
_SOURCED = re.compile(r"(?m)(?:^|[\s;&|({])(?:\.|source|-?include|sinclude|import\??)[ \t]+[\"']?([^\s\"';&|#]+)")
_DEPTH = 3
"""Files that read others are followed this deep."""
_MOST, _MOST_NAMES = 100, 1_000
"""So many files are looked at, and so many names that a file writes."""


def used_by_others(names: Collection[str], source: Source, workspace: Workspace) -> bool:
    """Whether a file that a file names, or one that such a file names, uses variables or functions of some names."""
    if not names:
        return False
    uses = _uses(names)
    return any(uses.search(other.text) is not None for other in _named_by(source, workspace))


_HOLD_VARIABLES = frozenset({"env", "environment", "vars", "variables"})


def variables_changed(before: Node, after: Node) -> frozenset[str]:
    """The variables, of the environment or of templates, to which two YAML texts of one shape give other values."""
    found: set[str] = set()
    pending = [(before, after, "", False)]
    while pending:
        old, new, name, inside = pending.pop()
        if isinstance(old, MappingNode) and isinstance(new, MappingNode):
            for (key, value), (_, other) in zip(old.pairs, new.pairs, strict=False):
                word = key.value if isinstance(key, Scalar) else ""
                pending.append((value, other, name or (word if inside else ""), inside or word in _HOLD_VARIABLES))
        elif isinstance(old, SequenceNode) and isinstance(new, SequenceNode):
            pending += [(one, other, name, False) for one, other in zip(old.items, new.items, strict=False)]
        elif isinstance(old, Scalar) and isinstance(new, Scalar) and name and old.value != new.value:
            found.add(name)
    return frozenset(found)


def _uses(names: Collection[str]) -> re.Pattern[str]:
    """Uses of variables in shells, make, just and templates, and calls of functions."""
    every = "|".join(map(re.escape, sorted(names)))
    before = r"\$\$?[({]?[#!]?|%|![#]?|\{\{[^{}]*?|\bifn?def[ \t]+|\$[({](?:call|value|origin)[ \t]+"
    calls = r"^[ \t]*|[;&|({][ \t]*|\b(?:then|do|else|time|!)[ \t]+"
    return re.compile(rf"(?m)(?:{before})(?:{every})(?!\w)|(?:{calls})(?:{every})(?![\w.=:+-])")


def _named_by(source: Source, workspace: Workspace) -> Iterator[Source]:
    """The files that a text names and that are there, as seen from its directory or one above it."""
    pending, seen = [(source, 0)], {normal(source.path)}
    for one, depth in pending:  # grows while it is walked
        for path in _paths(one, workspace) if depth < _DEPTH else ():
            found = workspace.peek(path) if path not in seen and len(seen) < _MOST else None
            seen.add(path)
            if found is not None:
                pending.append((found, depth + 1))
                yield found


def _paths(source: Source, workspace: Workspace) -> Iterator[str]:
    written = {*_NAMED.findall(source.text), *(name.rpartition("}/")[2] for name in _SOURCED.findall(source.text))}
    folders = workspace.upwards(source.path)
    for name in sorted(written)[:_MOST_NAMES]:
        end = re.sub(r"^.*[$`)\"'}][^/]*/", "", name).lstrip("/")
        for path in (normal(os.path.join(folder, end)) for folder in folders if end):
            if "*" in end or "?" in end:
                directory, pattern = os.path.split(path)
                held = sorted(workspace.names_in(directory))
                yield from (normal(os.path.join(directory, one)) for one in held if fnmatchcase(one, pattern))
            elif workspace.exists(path) and workspace.inside(path, source.path):
                yield path
