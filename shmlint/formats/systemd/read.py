"""Units of systemd: ``ExecStart=`` and its like, and the containers that Quadlet makes of ``.container`` files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial

from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.formats.comments import HASH, above_command, line_suppressions
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import read_source
from shmlint.formats.shell.rest import reads_environment, same_others
from shmlint.formats.shell.run import with_reasons, with_texts
from shmlint.formats.systemd.quadlet import DECIDING, containers
from shmlint.model.launch import Launch, Unknown
from shmlint.model.reading import NotRead, Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Source, Span
from shmlint.model.suppression import Suppression
from shmlint.syntax.shell_text import Places, mentions_engine
from shmlint.syntax.shell_variables import ANY, given
from shmlint.syntax.systemd import Char, Setting, Writer, settings, without_marks, words

_STARTED = ("ExecStart", "ExecStartPre", "ExecStartPost", "ExecCondition", "ExecReload", "ExecStop", "ExecStopPost")
_SETTING = ("Environment", "EnvironmentFile", "PassEnvironment")


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The container starts of services, and Quadlet's containers."""
    return read_each(paths, workspace, partial(_read, workspace=workspace))


def _read(source: Source, workspace: Workspace) -> Reading:
    places = Places()
    keys = _keys_of_drop_ins(source, workspace)
    reading = read_source(source, parts(source, places, elsewhere=not keys.isdisjoint(_SETTING)))
    launches: list[Launch] = []
    for found, deciding in ((reading.launches, _STARTED), (containers(source, places), DECIDING)):
        if not keys.isdisjoint(deciding):
            because = f"a file in {source.path}.d replaces a part of it, which is not merged"
            found = (launch._replace(undecided=Unknown("arguments", because)) for launch in found)
        launches += (with_texts(launch, places.as_written) for launch in found)
    return reading._replace(
        launches=tuple(launches),
        not_read=(*with_reasons(reading.not_read, places.as_written), *_broken(source)),
    )


def scripts(source: Source, workspace: Workspace, word: str) -> Iterator[Part]:
    """The command lines, whatever they hold."""
    elsewhere = not _keys_of_drop_ins(source, workspace).isdisjoint(_SETTING)
    return parts(source, Places(), elsewhere=elsewhere)


def same_rest(path: str, before: Workspace, after: Workspace, *, sizes_only: bool) -> bool:
    """Whether the commands that start no container get the words that they got."""
    changed = _environment(before.source(path)) != _environment(after.source(path))
    if changed and (_composes(before.source(path)) or _is_in_parts(path, before)):
        return False
    return same_others(path, before, after, partial(parts, places=Places()), sizes_only=sizes_only)


def _is_in_parts(path: str, workspace: Workspace) -> bool:
    """Whether a unit has drop-in files, or is one: all of them see the environment that one sets."""
    drop_ins = any(name.endswith(".conf") for name in workspace.names_in(f"{path}.d"))
    return drop_ins or os.path.dirname(path).endswith(".d")


def _environment(source: Source) -> list[str]:
    return [setting.text for setting in settings(source) if setting.key == "Environment"]


def _composes(source: Source) -> bool:
    """Whether a command of a unit may put its environment into files that it reads, as Compose does."""
    found = (command for part in parts(source, Places()) for command in part.commands)
    return any(reads_environment(command) for command in found)


def _keys_of_drop_ins(source: Source, workspace: Workspace) -> frozenset[str]:
    """The keys that files in the directory ``NAME.d`` of a unit set; of commands those that are taken back."""
    folder = f"{source.path}.d"
    found: set[str] = set()
    for name in workspace.names_in(folder):
        try:
            if name.endswith(".conf"):
                given_ = settings(workspace.source(f"{folder}/{name}"))
                found.update(s.key for s in given_ if s.key not in _STARTED or not s.text.strip())
        except Unreadable:
            continue
    return frozenset(found)


def parts(source: Source, places: Places, *, elsewhere: bool = False) -> Iterator[Part]:
    """The command lines of a unit. An empty one takes back those before it.

    ``elsewhere``: another file may set the variables, too.
    """
    lines: dict[str, list[Setting]] = {}
    variables: dict[str, Sequence[Char] | None] = {}
    passed: list[str] = []
    by_file = False
    for setting in settings(source):
        if setting.key in _STARTED:
            kept = lines.setdefault(setting.key, [])
            if setting.text.strip():
                kept.append(setting)
            else:
                kept.clear()
        elif setting.key == "Environment":
            if not setting.text.strip():
                variables.clear()
            variables.update(_assignments(setting))
        elif setting.key == "PassEnvironment":
            passed += setting.text.split()
        elif setting.key == "EnvironmentFile" and setting.section == "Service":
            by_file = bool(setting.text.strip())
    variables = {**dict.fromkeys(passed), **variables}
    known: dict[str, str | None] = {
        name: None if value is None else "".join(char for char, _ in value) for name, value in variables.items()
    }
    if elsewhere or by_file:  # what the file says wins
        variables, known = {}, {ANY: None}
    for setting in sorted((s for some in lines.values() for s in some), key=lambda s: s.span.start):
        writer = Writer(source, variables, places)
        writer.command(list(words(without_marks(setting.chars, places))))
        yield Part(writer.text(setting.span), given(known))


def _assignments(setting: Setting) -> Iterator[tuple[str, Sequence[Char] | None]]:
    """The variables of an ``Environment=``; one with a specifier is not known."""
    for word in words(setting.chars):
        chars = [(item.char, item.at) for item in word if not item.mark]
        name, equals, value = "".join(char for char, _ in chars).partition("=")
        if equals:
            yield name, None if "%" in value or "@" in value or "{{" in value else chars[len(name) + 1 :]


def _broken(source: Source) -> Iterator[NotRead]:
    """Where a blank after a backslash ends a container start that goes on for its reader."""
    for setting in settings(source):
        if setting.key in _STARTED and mentions_engine(setting.text):
            for at in setting.broken:
                because = "the blank after the backslash ends the command: the options after it are not passed on"
                yield NotRead(Span(source, at, at + 1), because, "syntax")


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The suppression comments: lines of their own, for elsewhere ``#`` is a character like others."""
    return (comment for comment in line_suppressions(source, HASH, "#", lambda at: True) if comment.own_line)


ignore_comment = above_command
