"""What the scripts, Makefiles and CI files of a repository that start Compose give to its variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial

from shmlint.files.cache import Key
from shmlint.files.kinds import kind_of
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.files import read_env_file
from shmlint.formats.compose.lists import files_that_start
from shmlint.model.source import Source

_STARTS = re.compile(r"\b(?:docker|podman|nerdctl)[ \t-]compose\b|\bCOMPOSE\b")
_PAGES = (".md", ".mdx", ".rst")
_ASSIGNED = re.compile(r"(?m)(?:^|[\s;&|(])([A-Za-z_]\w*)[ \t]*[:?+]{0,2}=[ \t]*[\"']?([^\s\"';&|#)]*)")
_ENTRY = re.compile(r"(?m)^[ \t]+([A-Za-z_]\w*):[ \t]+[\"']?([^\s\"']+)")
"""A variable in a mapping of YAML."""
_ENV_FILE = re.compile(r"--env-file[ =]+[\"']?([\w./-]+)")

_Values = Mapping[str, frozenset[str]]
_GIVEN: Key[_Values] = Key("variables that launchers of Compose set in a directory and those in it")
_ABOVE: Key[_Values] = Key("variables that launchers of Compose set in a directory")


def given_by_launchers(directory: str, workspace: Workspace) -> _Values:
    """The values that files which start Compose give to variables: in a directory, below it and directly above it."""
    above = normal(os.path.join(directory, ".."))
    own = workspace.once(_GIVEN, directory or ".", partial(_given_in, directory, inside=True))
    found = {**own}
    if workspace.inside(above, normal(os.path.join(directory, "compose.yaml"))):
        for name, texts in workspace.once(_ABOVE, above, partial(_given_in, above, inside=False)).items():
            found[name] = found.get(name, frozenset()) | texts
    return found


def _given_in(directory: str, workspace: Workspace, *, inside: bool) -> _Values:
    found: dict[str, frozenset[str]] = {}
    for path in files_that_start(directory, workspace, inside=inside):
        source = workspace.peek(path) if not path.endswith(_PAGES) else None
        if source is not None and _STARTS.search(source.text) is not None:
            for name, text in _given_by(source, workspace):
                found[name] = found.get(name, frozenset()) | {text}
    return found


def _given_by(source: Source, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """What a file sets, and the env files that it names."""
    kind = kind_of(source, workspace.top)
    if kind == "compose":
        return
    yield from _ASSIGNED.findall(source.text)
    if kind in ("ci", "taskfile"):
        yield from _ENTRY.findall(source.text)
    for named in _ENV_FILE.findall(source.text):
        path = normal(os.path.join(os.path.dirname(source.path), named))
        if workspace.inside(path, source.path):
            yield from ((name, text or "") for name, text in read_env_file(path, workspace, {}).items())
