"""The directories in which the commands of a file may run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats.shell.part import Part
from shmlint.model.source import Source
from shmlint.syntax.word import Word

_KNOWN_END = re.compile(r"[$`~][^/]*/([^$`]*)")
"""The end of a path behind a part of it that is not known."""


def directories(part: Part, caller: Source, commands: Sequence[Sequence[Word]]) -> Iterator[str]:
    """The directories in which commands may run: nothing says where a script is called."""
    directory = os.path.dirname(normal(caller.path))
    if part.directory is None:
        yield "$directory"
        return
    bases = [normal(os.path.join(directory, part.directory))]
    while part.directory in ("", ".") and os.path.basename(directory) not in ("", ".."):
        directory = os.path.dirname(directory)
        bases.append(directory)
    inside = [words[1].text for words in commands if len(words) == 2 and words[0].text == "cd"]
    for base in bases:
        yield from (base, *(os.path.join(base, name) for name in inside), os.path.join(base, *inside))


def leads_to(directory: str, path: str, workspace: Workspace) -> bool:
    """Whether a path may be that of a directory; of one that is not known the end counts, or of one from the root."""
    ends = _KNOWN_END.findall(path)
    if not any(mark in path for mark in "$`~") and not os.path.isabs(path):
        return normal(path) == normal(directory)
    end = normal(ends[-1] if ends else "" if "$" in path or "`" in path else os.path.basename(path.rstrip("/")))
    real = os.path.realpath(workspace.on_disk(directory or "."))
    return end in ("", ".") or ".." in end or f"{real}/".endswith(f"/{end}/")
