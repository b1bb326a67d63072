"""Compose files that the repository starts together: ``docker compose -f FILE -f FILE`` in a script or on a page.

What is written is used as it stands. A list whose files are not known, or are not all there, says nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from shmlint.files.cache import Key
from shmlint.files.kinds import PAGE_ENDINGS, kind_of
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats import scripts
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


_Lists = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
"""The files of each list as they are written, and the directories that these may count from."""

_IN_DIRECTORY: Key[_Lists] = Key("lists of compose files in a directory")


def lists_with(path: str, directories: Sequence[str], workspace: Workspace) -> Iterator[tuple[str, ...]]:
    """The lists with a path in them that are written in some directories, and in those in them.

    An empty one is a list that may have it, and of which not all is known or there.
    """
    own = os.path.basename(path)
    for directory in directories:
        written = workspace.once(_IN_DIRECTORY, directory, partial(_in_directory, directory))
        for names, places in written:
            if own in map(os.path.basename, names):
                found = _placed(names, [*places, *directories], workspace)
                if path in found or not found:
                    yield found


def _placed(names: Sequence[str], places: Iterable[str], workspace: Workspace) -> tuple[str, ...]:
    """The files of a list from the first place at which all are there; none where there is no such place."""
    if not all(names):
        return ()
    for place in dict.fromkeys(places):
        files = tuple(normal(os.path.join(place, name)) for name in names)
        if all(map(workspace.exists, files)) and all(workspace.inside(file, files[0]) for file in files):
            return files
    return ()


def _in_directory(directory: str, workspace: Workspace) -> _Lists:
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


_IN_FILE: Key[_Lists] = Key("lists of compose files in a file")


def _in_file(path: str, workspace: Workspace) -> _Lists:
    """The lists that a file writes, with the directories that their paths may count from."""
    source = workspace.peek(path)
    if source is None or "compose" not in source.text.lower() or re.search(_LISTS, source.text) is None:
        return ()
    return workspace.once(_IN_FILE, path, lambda files: tuple(_lists(source, files)))


def _lists(source: Source, workspace: Workspace) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    from shmlint.syntax.shell import values

    directory = os.path.dirname(source.path)
    for part in shell_of(source, workspace):
        commands = [command.words for command in part.commands]
        inside = [words[1].text for words in commands if len(words) == 2 and words[0].text == "cd"]
        here = os.path.join(directory, part.directory or "")
        places = (here, *(os.path.join(here, name) for name in inside if "$" not in name))
        set_to = [text for text in values(part.text).get("COMPOSE_FILE", ()) if "$" not in text]
        given = (each for words in commands for each in islice(_each_way(words), _MOST_WAYS))
        for names in (*map(_files_of, given), *(tuple(text.split(":")) for text in set_to)):
            if names:
                yield names, places


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


def _files_of(words: Sequence[Word]) -> tuple[str, ...]:
    """The files that a command of Compose names, empty where it is not known which."""
    from shmlint.docker.commands import compose_command

    command = compose_command(words)
    return tuple(map(_name, command.files)) if command is not None else ()


def _name(word: Word) -> str:
    """The path in a word, from a directory that may be unknown; empty where it is not known."""
    text = re.sub(_UNKNOWN_DIRECTORY, "", word.text) if word.unknown else word.text
    return "" if any(mark in text for mark in "$`*?") or text == "-" else text
