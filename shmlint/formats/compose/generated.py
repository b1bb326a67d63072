"""Scripts that write files of a project before they start it: what these say of sizes is not read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial

from shmlint.docker.commands import compose_command
from shmlint.files.cache import Key
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.files import DEFAULT_FILES, OVERRIDE_FILES
from shmlint.formats.compose.launchers import launchers
from shmlint.formats.compose.lists import shell_of
from shmlint.formats.compose.project import Project
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source
from shmlint.syntax.word import Word

_MEMORY = r"\bshm_size\b|/dev/shm|\bipc\b"
_MAY_MERGE = r"<<:|\bextends\b|\*\w"
"""What takes over something that is written elsewhere."""
_TO_FILE = r"(?:>[ \t]*|\btee[ \t]+(?:-a[ \t]+)?)[\"']?([^\s\"'|;&<>()]*\.ya?ml)(?![\w.-])"
"""The name of a file after a redirection, or behind ``tee``."""
_MAKES = rf"{_TO_FILE}|(?:-f|--file)[ \t=]+-(?!\S)"


class _Generated(NamedTuple):
    """A stretch of shell that writes files of a project, or gives Compose one that is in no file."""

    path: str
    text: str
    written: tuple[str, ...]
    """The files that it writes."""
    together: tuple[tuple[str, ...], ...]
    """The names of each list of files that Compose gets; ``-`` is its standard input."""


def set_by_script(service: str, project: Project, workspace: Workspace) -> str:
    """Why a script may set the size of a service in a file that is not here as it is then; empty where none does."""
    for one in _around(project.directory, workspace):
        because = _why(one, service, project)
        if because:
            return because
    return ""


def _why(one: _Generated, service: str, project: Project) -> str:
    if not _gives_memory(one.text, service):
        return ""
    own = {os.path.basename(file) for file in project.files}
    for name in one.written:
        added = any(os.path.basename(name) in names and own.intersection(names) for names in one.together)
        if added or _is_at(name, _files_beside(project), one):
            return f"{one.path} writes {os.path.basename(name)}, which may set it"
    if any("-" in names and own.intersection(names) for names in one.together):
        return f"{one.path} gives Compose one more file, which may set it"
    return ""


def _files_beside(project: Project) -> list[str]:
    """The files of a project, and those that Compose would read with them if they were there."""
    found = [*project.files]
    if os.path.basename(project.files[0]) in DEFAULT_FILES:
        found += (normal(os.path.join(os.path.dirname(project.files[0]), name)) for name in OVERRIDE_FILES)
    return found


def _is_at(name: str, files: Sequence[str], one: _Generated) -> bool:
    """Whether a name that a script writes is that of a file: from the script's directory, or where the file is."""
    folder, base = os.path.split(name)
    return any(
        os.path.basename(file) == base
        and (not folder or "$" in folder or normal(os.path.join(os.path.dirname(one.path), name)) == normal(file))
        for file in files
    )


def _gives_memory(text: str, service: str) -> bool:
    """Whether a text has a service of a name as YAML, with a size in it or something that may hold one."""
    lines = text.replace("\\n", "\n").splitlines()
    key = re.compile(rf"(?<![\w.-]){re.escape(service)}[\"']?[ \t]*:")
    for number, line in enumerate(lines):
        found = key.search(line)
        if found is None:
            continue
        body = [line[found.end() :], *_deeper(lines[number + 1 :], len(line) - len(line.lstrip()))]
        if any(re.search(rf"{_MEMORY}|{_MAY_MERGE}", each) for each in body):
            return True
    return False


def _deeper(lines: Sequence[str], indentation: int) -> Iterator[str]:
    """The first of some lines, as far as they are empty or indented by more than a number of blanks."""
    for line in lines:
        if line.strip() and len(line) - len(line.lstrip()) <= indentation:
            return
        yield line


_IN_FILES: Key[tuple[_Generated, ...]] = Key("shell that makes Compose files in a directory and those in it")
_ABOVE: Key[tuple[_Generated, ...]] = Key("shell that makes Compose files in a directory")


def _around(directory: str, workspace: Workspace) -> Iterator[_Generated]:
    yield from workspace.once(_IN_FILES, directory or ".", partial(_in_directory, directory, inside=True))
    for above in workspace.upwards(os.path.join(directory, "compose.yaml"))[1:2]:
        yield from workspace.once(_ABOVE, above or ".", partial(_in_directory, above, inside=False))


def _in_directory(directory: str, workspace: Workspace, *, inside: bool) -> tuple[_Generated, ...]:
    sources = launchers(directory, workspace, inside=inside)
    return tuple(one for source in sources for one in _in_source(source, workspace))


def _in_source(source: Source, workspace: Workspace) -> Iterator[_Generated]:
    if re.search(_MEMORY, source.text) is None or re.search(_MAKES, source.text) is None:
        return
    for part in shell_of(source, workspace):
        commands = [command.words for command in part.commands]
        together = tuple(names for words in commands if (names := _named(words)))
        written = tuple(re.findall(_TO_FILE, part.text.text))
        if written or any("-" in names for names in together):
            yield _Generated(source.path, part.text.text, written, together)


def _named(words: Sequence[Word]) -> tuple[str, ...]:
    """The names of the files that a command gives to Compose, without their directories."""
    command = compose_command(words)
    return tuple(os.path.basename(word.text) for word in command.files) if command is not None else ()
