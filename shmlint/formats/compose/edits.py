"""What scripts of the repository change in a compose file before they start it: ``sed -i … compose.yaml``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from shmlint.docker.prefixes import program_at
from shmlint.files.cache import Key
from shmlint.files.kinds import is_page
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.lists import files_that_start, shell_of
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source

if TYPE_CHECKING:
    from shmlint.formats.shell.part import Part
    from shmlint.syntax.word import Word

_EDITORS = frozenset({"gsed", "perl", "sed", "yq"})
_NAMED = re.compile(r"(?<![\w.-])(?:g?sed|perl|yq)(?![\w.-])")
_LEVELS = 3
"""Directories above a compose file, with its own, in which scripts that change it are looked for."""
_IN_PLACE = re.compile(r"-(?:-in-?place|[A-Za-z0-9]*i).*")
_ONLY_PRINTS = re.compile(r"-(?:[A-Za-z]*n|-quiet|-silent)")
_SHM = re.compile(r"(?i)shm|\bipc\b")
_SIZE_SOUGHT = re.compile(r"(?i)(?:^|[\s;{/0-9$!])s(\W)(?:(?!\1)[^#\n])*?shm_?size[^\n]*?\1")
"""A ``s/…/…/`` that replaces a size which is there, and does not take it out of a comment."""
_PLAIN_SIZE_SOUGHT = re.compile(
    r"(?i)(?:^|[\s;{/0-9$!])s(\W)(?:(?!\1)[^#\n])*?shm_?size[\"']?\s*:\s*[\"']?(\d\w*)[\"']?\$?\1"
)
"""One that replaces no other size than the one that it names."""
_VARIABLE_SOUGHT = re.compile(r"(?:^|[\s;{/])s(\W)\$(?:\w+|\{[^{}]*\})\1")
"""One whose pattern is a variable, so what it replaces is not known."""
_SHORTEST = 2
"""Characters of a value that are looked for in a program."""


class Edit(NamedTuple):
    """A command that changes a compose file, or makes another one of it."""

    path: str
    """The file that the command is in."""
    tool: str
    program: str

    def may_replace(self, written: str) -> bool:
        """Whether the command may replace a size that is written so."""
        sought = {size for _, size in _PLAIN_SIZE_SOUGHT.findall(self.program)}
        if (_SHM.search(self.program) and not sought) or _VARIABLE_SOUGHT.search(self.program):
            return True
        return len(written) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(written)}(?!\w)", self.program) is not None

    def is_about(self, service: str) -> bool:
        """Whether the command may be about a service: one of yq names those that it changes."""
        named = re.findall(r"\bservices[.\[\"']+([\w-]+)", self.program) if self.tool == "yq" else ()
        return not named or service in named

    @property
    def may_add(self) -> bool:
        """Whether the command may add a size where there is none."""
        return _SHM.search(self.program) is not None and _SIZE_SOUGHT.search(self.program) is None

    @property
    def because(self) -> str:
        """What it does, for people."""
        return f"`{self.tool}` in {self.path} changes it before it is started"


_EDITS: Key[tuple[Edit, ...]] = Key("edits of a compose file by scripts")
_SCRIPTS: Key[tuple[str, ...]] = Key("scripts that change texts in a directory and those in it")


def edits_of(path: str, workspace: Workspace) -> tuple[Edit, ...]:
    """The commands in the scripts around a compose file that change it."""
    return workspace.once(_EDITS, path, lambda files: tuple(_edits(normal(path), files)))


def _edits(path: str, workspace: Workspace) -> Iterator[Edit]:
    name = os.path.basename(path)
    for one in dict.fromkeys(_scripts(path, workspace)):
        script = workspace.peek(one)
        if script is not None and name in script.text:
            for part in shell_of(script, workspace, name):
                yield from _of_part(part, script, path, workspace)


def _scripts(path: str, workspace: Workspace) -> Iterator[str]:
    """The scripts beside a file, in the directories there, and above, that run a program which changes texts."""
    for directory in workspace.upwards(path)[:_LEVELS]:
        yield from workspace.once(_SCRIPTS, directory or ".", partial(_in_directory, directory))


def _in_directory(directory: str, workspace: Workspace) -> tuple[str, ...]:
    paths = (path for path in files_that_start(directory, workspace) if not is_page(path))
    return tuple(path for path in paths if (found := workspace.peek(path)) and _NAMED.search(found.text) is not None)


def _of_part(part: Part, script: Source, path: str, workspace: Workspace) -> Iterator[Edit]:
    from shmlint.formats.shell.directories import directories, leads_to

    directory, name = os.path.split(path)
    commands = list(part.commands)
    words = [command.words for command in commands]
    for command in commands:
        tool = _tool(command.words)
        named = [word.text for word in command.words if os.path.basename(word.text) == name]
        named += [command.reads] if os.path.basename(command.reads) == name else []
        if not tool or not named or not _changes(tool, command.words):
            continue
        folders = [os.path.join(at, os.path.dirname(file)) for at in directories(part, script, words) for file in named]
        if any(leads_to(directory, folder, workspace) for folder in folders):
            program = "\n".join(word.text for word in command.words[1:] if word.text not in named)
            yield Edit(script.path, tool, program)


def _tool(words: Sequence[Word]) -> str:
    """The program that a command runs, if it is one that changes texts."""
    texts = [word.text for word in words]
    at = program_at(texts)
    name = texts[at].rpartition("/")[2] if at is not None else ""
    return name if name in _EDITORS else ""


def _changes(tool: str, words: Sequence[Word]) -> bool:
    """Whether a command changes what it reads, and does not only look for something in it."""
    texts = [word.text for word in words[1:]]
    if any(_IN_PLACE.fullmatch(text) for text in texts) or (tool == "yq" and texts[:1] == ["w"]):
        return True
    if tool == "yq":
        return any(re.search(r"(?<![=!<>])=(?!=)", text) for text in texts if not text.startswith("-"))
    return not any(_ONLY_PRINTS.fullmatch(text) for text in texts)
