"""What the scripts, Makefiles and CI files of a repository that start Compose give to its variables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain

from shmlint.files.cache import Key
from shmlint.files.kinds import is_page
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.files import read_env_file
from shmlint.formats.compose.lists import files_that_start, shell_of
from shmlint.formats.shell.direnv import given_by_direnv
from shmlint.model.source import Source
from shmlint.syntax.word import Word

_Values = Mapping[str, frozenset[str]]
_GIVEN: Key[_Values] = Key("variables that launchers of Compose set in a directory and those in it")
_ABOVE: Key[_Values] = Key("variables that launchers of Compose set in a directory")


def given_by_launchers(directory: str, workspace: Workspace) -> _Values:
    """The values that files which start Compose give to variables: in a directory, below it and directly above it.

    What direnv gives to who starts it there counts, too.
    """
    own = workspace.once(_GIVEN, directory or ".", partial(_given_in, directory, inside=True))
    found = {**own}
    for above in workspace.upwards(os.path.join(directory, "compose.yaml"))[1:2]:
        for name, texts in workspace.once(_ABOVE, above or ".", partial(_given_in, above, inside=False)).items():
            found[name] = found.get(name, frozenset()) | texts
    for name, texts in given_by_direnv(directory, workspace).items():
        found[name] = found.get(name, frozenset()) | texts
    return found


def _given_in(directory: str, workspace: Workspace, *, inside: bool) -> _Values:
    found: dict[str, frozenset[str]] = {}
    for source in launchers(directory, workspace, inside=inside):
        for name, text in _given_by(source, directory, workspace):
            found[name] = found.get(name, frozenset()) | {text}
    return found


def launchers(directory: str, workspace: Workspace, *, inside: bool) -> Iterator[Source]:
    """The files of a directory, and of those ``inside`` of it, that may start Compose; pages only show how."""
    for path in files_that_start(directory, workspace, inside=inside):
        source = workspace.peek(path) if not is_page(path) else None
        if source is not None and "compose" in source.text.lower():
            yield source


def _given_by(source: Source, directory: str, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """What the shells set that start Compose, what is set around them, and what the env files say that they name.

    Where Compose looks for its file, in a directory above the one that it is started in, it reads the ``.env`` of the
    latter.
    """
    from shmlint.docker.commands import compose_command
    from shmlint.syntax.shell import values

    for part in shell_of(source, workspace):
        commands = [found for command in part.commands if (found := compose_command(command.words)) is not None]
        if not commands:
            continue
        yield from ((name, text) for name, texts in values(part.text).items() for text in texts)
        yield from ((name, f"${name}") for name in (part.given.of_environment() if part.given is not None else ()))
        here = os.path.join(os.path.dirname(source.path), part.directory or "")
        options = (one for command in commands for one in command.options)
        named = (file for option, word in options if word is not None for file in _env_files(option, word))
        looks = any(_LOCATE.isdisjoint(option for option, _ in command.options) for command in commands)
        own = (".env",) if looks and normal(here) != normal(directory) else ()
        for path in (normal(os.path.join(here, name)) for name in chain(named, own)):
            if workspace.inside(path, source.path):
                yield from ((name, text or "") for name, text in read_env_file(path, workspace, {}).items())


_LOCATE = frozenset({"-f", "--file", "--project-directory"})
"""Options of Compose that tell where its file is."""


def _env_files(option: str, word: Word) -> tuple[str, ...]:
    """The env files that an option of Compose names, or that Compose looks for in the directory that it names."""
    if option == "--env-file":
        return (word.text,)
    if option != "--project-directory":
        return ()
    if word.unknown or "$" in word.text:  # most often the directory of the script, or the one above
        return (".env", "../.env")
    return (os.path.join(word.text, ".env"),)
