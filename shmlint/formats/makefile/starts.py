"""What other files of the repository give to a makefile where they start make: ``make train SIZE=8g``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from shmlint.docker.prefixes import program_at
from shmlint.files.cache import Key
from shmlint.files.kinds import kind_of
from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.formats import scripts
from shmlint.formats.makefile.written import is_justfile
from shmlint.formats.shell.callers import scripts_around
from shmlint.formats.shell.directories import directories, leads_to
from shmlint.formats.shell.direnv import given_by_direnv
from shmlint.formats.shell.part import Part
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source
from shmlint.syntax.word import Word

NAMES = ("GNUmakefile", "makefile", "Makefile")
"""The makefiles that make reads where it is given none."""
_MAKE = re.compile(r"(?<![\w./-])(?:g?make\b(?!\.)|\$[({]MAKE[)}])(?![\w/-])")
_PROGRAM = re.compile(r"(?:.*/)?g?make|\$\{?MAKE\}?")
_ASSIGNMENT = re.compile(r"([A-Za-z_][\w.-]*)(?::{1,3}|\?|\+)?=(.*)", re.S)
_WITH_VALUE = re.compile(r"(?:-(?P<short>[Cf])|--(?P<long>directory|file|makefile)=?)(?P<value>.*)", re.S)


class Start(NamedTuple):
    """A start of make in another file."""

    words: Mapping[str, Collection[str]]
    """The variables that it is given in its own words, with their values: they replace what the makefile sets."""
    environment: Mapping[str, Collection[str]]
    """Those that it finds in its environment: they replace what the makefile sets with ``?=``."""
    targets: tuple[str, ...]
    """What it makes; empty where that is not known, or is the makefile's default."""


class _Asked(NamedTuple):
    """What a command asks of make."""

    start: Start
    directory: str
    file: str


_STARTS: Key[tuple[Start, ...]] = Key("starts of make in other files")


_Recipes = Callable[[Source], Iterable[Part]]
"""How a makefile is read alone: what it is given itself is not asked for, as two of them may start each other."""


def starts_elsewhere(
    source: Source, workspace: Workspace, names: Collection[str], recipes: _Recipes
) -> tuple[Start, ...]:
    """The starts of a makefile in other files, or with direnv, that may give a value to some of its variables."""

    def found(files: Workspace) -> tuple[Start, ...]:
        files.peek(source.path)  # the names are from it
        by_direnv = given_by_direnv(os.path.dirname(source.path), files)
        around = (Start({}, by_direnv, ()),) if not by_direnv.keys().isdisjoint(names) else ()
        return (*around, *_starts(source, files, names, recipes))

    return workspace.once(_STARTS, source.path, found) if names else ()


def _starts(source: Source, workspace: Workspace, names: Collection[str], recipes: _Recipes) -> Iterator[Start]:
    for caller in scripts_around(source, workspace):
        if caller.path == normal(source.path) or _MAKE.search(caller.text) is None:
            continue
        if any(name in caller.text for name in names):
            alone = kind_of(caller, workspace.top) == "makefile" and not is_justfile(caller.path)
            for part in recipes(caller) if alone else scripts(caller, workspace, "make") or ():
                yield from _of_part(part, caller, source, workspace)


def _of_part(part: Part, caller: Source, source: Source, workspace: Workspace) -> Iterator[Start]:
    if _MAKE.search(part.text.text) is None:
        return
    from shmlint.syntax.shell import values
    from shmlint.syntax.shell_sharing import sharing

    commands = [command.words for command in part.commands]
    asked = [found for words in commands if (found := _asked(words)) is not None]
    places = [*directories(part, caller, commands)]
    here = [one for one in asked if _is_of(source, one, places, workspace)]
    if not here:
        return
    set_to = values(part.text)
    exported = {name: set_to.get(name, [""]) for name in sharing(part.text).exported}
    around = {name: [""] for name in (part.given.of_environment() if part.given is not None else ())}
    for start in (one.start for one in here):
        yield start._replace(environment={**around, **exported, **start.environment})


def _asked(words: Sequence[Word]) -> _Asked | None:
    """What a command asks of make; None of another command."""
    at = program_at([word.text for word in words])
    if at is None or _PROGRAM.fullmatch(words[at].text) is None:
        return None
    before = [match for word in words[:at] if (match := _ASSIGNMENT.match(word.text)) is not None]
    given: dict[str, list[str]] = {}
    targets: list[str] = []
    options = {"C": "", "f": ""}
    rest = iter(words[at + 1 :])
    for word in rest:
        if (option := _WITH_VALUE.fullmatch(word.text)) is not None:
            value = option["value"] or getattr(next(rest, None), "text", "")
            letter = option["short"] or ("C" if option["long"] == "directory" else "f")
            options[letter] = os.path.join(options["C"], value) if letter == "C" else value
        elif (assigned := _ASSIGNMENT.fullmatch(word.text)) is not None:
            given.setdefault(assigned[1], []).append(assigned[2])
        elif not word.text.startswith("-"):
            targets.append(word.text)
    start = Start(given, {match[1]: [match[2]] for match in before}, tuple(targets))
    return _Asked(start, options["C"], options["f"])


def _is_of(source: Source, asked: _Asked, places: Iterable[str], workspace: Workspace) -> bool:
    """Whether make may read a makefile, by its name and directory; other makefiles may include one of another name."""
    directory, name = os.path.split(normal(source.path))
    file = os.path.basename(asked.file)
    if file and "$" not in file and file != name and name in NAMES:
        return False
    if not file and name not in NAMES:
        return True
    below = os.path.join(asked.directory, os.path.dirname(asked.file))
    return any(leads_to(directory, os.path.join(place, below), workspace) for place in places)
