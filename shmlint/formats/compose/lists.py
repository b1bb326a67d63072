"""Compose files that the repository starts together: ``docker compose -f FILE -f FILE`` in a script or on a page.

What is written is used as it stands. A list whose files are not known, or are not all there, says nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from shmlint.files.cache import Key
from shmlint.files.kinds import PAGE_ENDINGS, kind_of
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats import scripts
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source

if TYPE_CHECKING:
    from shmlint.formats.shell.part import Part
    from shmlint.syntax.word import Word

_MOST_FILES = 300
_MOST_FOLDERS = 40
_WRITTEN = (
    rf"(?i)(?:.*\.(?:sh|bash|zsh|sbatch|slurm|mk|just|ya?ml|groovy|service|{PAGE_ENDINGS})"
    r"|(?:gnu)?makefile|justfile|jenkinsfile|package\.json)"
)
_LISTS = r"(?<!\S)(?:-f|--file)[ \t=]|COMPOSE_FILE"
_UNKNOWN_DIRECTORY = r"\$(?:\w+|\{\w+\}|\([^()]*\))/(?=[^$`]*\Z)"
"""The start of a path whose directory is not known, with the rest of it known."""
_WORKING_DIRECTORY = r"\A\$(?:PWD\b|\{PWD\}|\(pwd\))"
"""The directory that a command is started in, as the start of a path."""


class Start(NamedTuple):
    """The files that a command gives to Compose; no file where not all is known or there."""

    files: tuple[str, ...] = ()
    directory: str | None = None
    """The project directory, where it is not that of the first file."""


class _List(NamedTuple):
    """A list as it is written."""

    files: tuple[str, ...]
    project_directory: str
    """Empty where none is given, or it is not known which."""
    places: tuple[str, ...]
    """The directories that the paths may count from."""


_IN_DIRECTORY: Key[tuple[_List, ...]] = Key("lists of compose files in a directory")


def lists_with(path: str, directories: Sequence[str], workspace: Workspace) -> Iterator[Start]:
    """The lists with a path in them that are written in some directories, and in those in them.

    One without files is a list that may have it.
    """
    own = os.path.basename(path)
    for directory in directories:
        written = workspace.once(_IN_DIRECTORY, directory, partial(_in_directory, directory))
        for one in written:
            if own in map(os.path.basename, one.files):
                found = _placed(one, directories, workspace)
                if path in found.files or not found.files:
                    yield found


def _placed(one: _List, directories: Sequence[str], workspace: Workspace) -> Start:
    """The files of a list from the first place at which all are there; none where there is no such place."""
    for place in dict.fromkeys((*one.places, *directories)) if all(one.files) else ():
        files = tuple(normal(os.path.join(place, name)) for name in one.files)
        if all(map(workspace.exists, files)) and all(workspace.inside(file, files[0]) for file in files):
            directory = normal(os.path.join(place, one.project_directory)) if one.project_directory else None
            return Start(files, directory if directory != os.path.dirname(files[0]) else None)
    return Start()


def _in_directory(directory: str, workspace: Workspace) -> tuple[_List, ...]:
    """The lists in the files of a directory, and of those in it."""
    paths = files_that_start(directory, workspace)
    return tuple(dict.fromkeys(one for path in paths for one in _in_file(path, workspace)))


def files_that_start(directory: str, workspace: Workspace, *, inside: bool = True) -> list[str]:
    """The files of a directory, and of those ``inside`` of it, that may start Compose."""
    names = sorted(workspace.names_in(directory)) if inside else []
    folders = [directory, os.path.join(directory, ".github", "workflows")]
    folders += [os.path.join(directory, name) for name in names if "." not in name and name != "node_modules"]
    paths = [
        normal(os.path.join(folder, name))
        for folder in folders[:_MOST_FOLDERS] for name in workspace.names_in(folder)
        if re.fullmatch(_WRITTEN, name) is not None
    ]  # fmt: skip
    return sorted(paths)[:_MOST_FILES]


_IN_FILE: Key[tuple[_List, ...]] = Key("lists of compose files in a file")


def _in_file(path: str, workspace: Workspace) -> tuple[_List, ...]:
    """The lists that a file writes."""
    source = workspace.peek(path)
    if source is None or "compose" not in source.text.lower() or re.search(_LISTS, source.text) is None:
        return ()
    return workspace.once(_IN_FILE, path, lambda files: tuple(_lists(source, files)))


def _lists(source: Source, workspace: Workspace) -> Iterator[_List]:
    from shmlint.syntax.shell import values

    directory = os.path.dirname(source.path)
    for part in shell_of(source, workspace):
        commands = [command.words for command in part.commands]
        inside = [words[1].text for words in commands if len(words) == 2 and words[0].text == "cd"]
        here = os.path.join(directory, part.directory or "")
        places = (here, *(os.path.join(here, name) for name in inside if "$" not in name))
        set_to = [text for text in values(part.text).get("COMPOSE_FILE", ()) if "$" not in text]
        given = (each for words in commands for each in islice(_each_way(words), _MOST_WAYS))
        for files, directory in (*map(_files_of, given), *((tuple(text.split(":")), "") for text in set_to)):
            if files:
                yield _List(files, directory, places)


def shell_of(source: Source, workspace: Workspace, *words: str) -> list[Part]:
    """The shell in a file that holds one of some words, or may start Compose; nothing where it is not known."""
    if os.path.basename(source.path) == "package.json":
        from shmlint.formats.shell.part import Part
        from shmlint.syntax.json import parse
        from shmlint.syntax.shell_text import ShellText

        root, _ = parse(source)
        given = root.get("scripts") if root is not None else None
        texts = [value for _, value in given.entries.values() if value.kind == "string"] if given is not None else []
        return [Part(ShellText(source, one.text, [-1] * len(one.text), one.span)) for one in texts]
    kind = kind_of(source, workspace.top)
    if kind == "compose":
        return []
    wanted = words or ("compose", "COMPOSE_FILE")
    found = next((parts for word in wanted if (parts := scripts(source, workspace, word))), [])
    # A page has much code, and each piece of it is read by itself.
    return found if kind != "markdown" else [part for part in found if re.search(_LISTS, part.text.text) is not None]


def _each_way(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The words of a command with what a variable holds in some branches: ``[ -n "$GPU" ] && FILES+=" -f gpu.yml"``."""
    at = next((i for i, word in enumerate(words) if any("-f" in value for value in word.values)), None)
    if at is None:
        yield words
        return
    for value in dict.fromkeys(("", *words[at].values)):
        inside = [words[at]._replace(text=text, unknown=None) for text in value.split()]
        yield from _each_way([*words[:at], *inside, *words[at + 1 :]])


_MOST_WAYS = 16


def _files_of(words: Sequence[Word]) -> tuple[tuple[str, ...], str]:
    """The files and the project directory that a command of Compose names, empty where it is not known which."""
    from shmlint.docker.commands import compose_command

    command = compose_command(words)
    if command is None:
        return (), ""
    directories = [word for option, word in command.options if option == "--project-directory" and word is not None]
    return tuple(map(_name, command.files)), next(map(_directory, reversed(directories)), "")


def _directory(word: Word) -> str:
    """The directory in a word; empty where it is not known."""
    return _name(word._replace(text=re.sub(_WORKING_DIRECTORY, ".", word.text)))


def _name(word: Word) -> str:
    """The path in a word, from a directory that may be unknown; empty where it is not known."""
    text = re.sub(_UNKNOWN_DIRECTORY, "", word.text) if word.unknown else word.text
    return "" if any(mark in text for mark in "$`*?") or text == "-" else text
