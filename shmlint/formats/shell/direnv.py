"""What direnv gives to the commands in a directory: the variables that the nearest ``.envrc`` exports."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice

from shmlint.files.cache import Key
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.files import read_env_file
from shmlint.model.source import Source

_MOST_FILES = 8
_LOADS = re.compile(r"(?m)^[ \t]*(source_up|(?:dotenv|source_env)(?:_if_exists)?)(?:[ \t]+[\"']?([^\s\"'#;&|]+))?")
"""What makes direnv read another file: https://direnv.net/man/direnv-stdlib.1.html"""

_Values = Mapping[str, frozenset[str]]
_GIVEN: Key[_Values] = Key("variables that direnv gives in a directory")


def given_by_direnv(directory: str, workspace: Workspace) -> _Values:
    """The variables that commands in a directory have by direnv, with their values as they are written."""
    return workspace.once(_GIVEN, directory or ".", partial(_given, directory))


def _given(directory: str, workspace: Workspace) -> _Values:
    found: dict[str, frozenset[str]] = {}
    pending = [*_nearest(directory, workspace)]
    for path in pending:  # grows while it is walked
        source = workspace.peek(path) if len(pending) <= _MOST_FILES else None
        if source is None:
            continue
        if os.path.basename(path) == ".envrc":
            given = [*_exported(source)]
            pending += _loaded(source, workspace)
        else:
            given = [(name, text or "") for name, text in read_env_file(path, workspace, {}).items()]
        for name, text in given:
            found[name] = found.get(name, frozenset()) | {text.strip()}
    return found


def _nearest(directory: str, workspace: Workspace) -> Iterator[str]:
    """The ``.envrc`` of a directory, or of the first one above it that has one and belongs to the same repository."""
    paths = (normal(os.path.join(here, ".envrc")) for here in workspace.upwards(os.path.join(directory, ".envrc")))
    yield from islice(filter(workspace.exists, paths), 1)


def _exported(source: Source) -> Iterator[tuple[str, str]]:
    """The variables that a script exports, each with the texts that it is set to."""
    if "export" not in source.text and "set -" not in source.text:
        return
    from shmlint.syntax.shell import values
    from shmlint.syntax.shell_sharing import sharing
    from shmlint.syntax.shell_text import whole

    text = whole(source, 0, len(source.text))
    set_to = values(text)
    for name in sharing(text).exported:
        yield from ((name, value) for value in set_to.get(name, ()))


def _loaded(source: Source, workspace: Workspace) -> Iterator[str]:
    """The files that an ``.envrc`` makes direnv read, too."""
    directory = os.path.dirname(source.path)
    for word, name in _LOADS.findall(source.text):
        if word == "source_up":
            yield from (one for above in workspace.upwards(source.path)[1:2] for one in _nearest(above, workspace))
            continue
        path = normal(os.path.join(directory, name or (".env" if word.startswith("dotenv") else ".envrc")))
        if workspace.inside(path, source.path):
            yield path
