"""Makefiles and justfiles: their recipes are shell, their variables are text put into it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from shmlint.files.workspace import Workspace
from shmlint.formats import read_each
from shmlint.formats.makefile.exported import of_just, of_make
from shmlint.formats.makefile.just import just_directory, just_recipes, just_starts
from shmlint.formats.makefile.make import followed_definitions, followed_variables, make_lines
from shmlint.formats.makefile.written import Expressions, is_justfile
from shmlint.formats.shell.part import Part
from shmlint.formats.shell.read import outside_commands, read_source
from shmlint.formats.shell.run import with_reasons, with_texts
from shmlint.model.launch import ENGINE_VARIABLES
from shmlint.model.reading import NotRead, Reading
from shmlint.model.settings import Settings
from shmlint.model.source import Source, Span
from shmlint.syntax.shell_text import ENGINE, lines_with
from shmlint.syntax.shell_variables import given


def read(paths: Sequence[str], workspace: Workspace, settings: Settings) -> Reading:
    """The ``docker run`` commands of recipes."""
    return read_each(paths, workspace, partial(_read, workspace=workspace))


def _read(source: Source, workspace: Workspace) -> Reading:
    reading = read_source(source, parts(source, workspace), workspace)
    just = is_justfile(source.path)
    written = Expressions(source, just=just).as_written
    reading = reading._replace(
        launches=tuple(with_texts(launch, written) for launch in reading.launches),
        not_read=with_reasons(reading.not_read, written),
    )
    if just:
        return reading._replace(not_read=(*reading.not_read, *_held_by_just(source)))
    stray = _stray(source, reading, workspace)
    return reading._replace(not_read=(*reading.not_read, *stray, *_held(source, reading, workspace)))


def _stray(source: Source, reading: Reading, workspace: Workspace) -> Iterator[NotRead]:
    """Container starts that are in no recipe, and not in a ``define`` that is read where it is used."""
    stray = [*outside_commands(source, reading, "it is not in a recipe")]
    defined = followed_definitions(source, workspace) if stray else {}
    places = (*(launch.home for launch in reading.launches), *(place.span for place in reading.not_read))
    told = {name for place in places if defined for name in _USED.findall(place.text)}
    for place in stray:
        names = {name for name, line in defined.items() if line.start <= place.span.start < line.end}
        if told.isdisjoint(names):
            yield place


def _held(source: Source, reading: Reading, workspace: Workspace) -> Iterator[NotRead]:
    """Container starts in variables that the makefile does not use, or of which it uses what is not known."""
    told = {place.span.line for place in reading.not_read}
    used = frozenset(_USED.findall(source.text))
    held = [found for at in lines_with(_STARTS, source.text) if (found := _HELD.match(source.text, at)) is not None]
    followed = followed_variables(source, workspace) if held else set()
    engines = frozenset(_ENGINES.findall(source.text)) if held else frozenset()
    for found in held:
        span = Span(source, found.start(2), found.end())
        if span.line in told:
            continue
        if found[1] in used and found[1] in followed:
            if re.search(_CHANGED.format(name=re.escape(found[1])), source.text):
                yield NotRead(span, f"what a function of make makes of variable {found[1]} is not read", "dynamic")
            continue
        by = found["variable"]
        if by is not None and (found[1] in used or (by not in engines and by.lower() not in ENGINE_VARIABLES)):
            continue  # where it is used the engine is known, or told not to be
        because = "no recipe is known to run what the variable holds"
        if found[1] in used:
            because = f"variable {found[1]} is set in several ways; the commands that begin with it are not read"
        yield NotRead(span, because, "dynamic")


def _held_by_just(source: Source) -> Iterator[NotRead]:
    """Container starts in variables that a justfile does not use: another one imports them."""
    for name, span in just_starts(source):
        if len(re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])", source.text)) == 1:
            yield NotRead(span, "no recipe is known to run what the variable holds", "dynamic")


_STARTS = tuple(re.compile(rf"{verb}[ \t]*(?:$|(?<=[ \t])[-$])", re.M) for verb in ("run", "create"))
_USED = re.compile(r"(?<!\$)\$(?:[({](?:call[ \t]+)?(?=[\w.-]))?((?<=\$)\w|(?<!\$)[\w.-]+)")
"""A variable where it is used: ``$(NAME)``, and ``$N``, which is its first letter."""
_CHANGED = (
    r"(?m)^\t[@+ \t-]*\$[({{](?:{name}:|(?:strip|subst|patsubst|filter(?:-out)?|sort|(?:first|last)?word|wordlist)"
    r"[ \t][^\n]*\$[({{]{name}[)}}])"
)
"""A command that begins with a variable of which make changes words: ``$(NAME:a=b)``, ``$(subst a,b,$(NAME))``."""
_HELD = re.compile(
    rf"(?m)(?:[\w.%/-]+[ \t]*:(?!=))?[ \t]*(?:(?:override|export)[ \t]+)*([\w.-]+)[ \t]*(?::{{0,3}}|\?)=[ \t]*"
    rf"((?:sudo[ \t]+)?(?:{ENGINE}|\$[({{](?P<variable>[\w.-]+)[)}}])"
    r"[ \t]+(?:container[ \t]+)?(?:run|create)(?=[ \t]+[-$]|[ \t]*$))"
)
_ENGINES = re.compile(rf"(?m)^[ \t]*(?:(?:override|export)[ \t]+)*([\w.-]+)[ \t]*(?::{{0,3}}|\?)=[^\n#]*\b{ENGINE}\b")
"""A variable that holds an engine, or something with one."""


def scripts(source: Source, workspace: Workspace, word: str) -> Iterator[Part]:
    """The recipes, whatever they hold."""
    return parts(source, workspace)


def parts(source: Source, workspace: Workspace | None = None) -> Iterator[Part]:
    """The recipes of a file."""
    just = is_justfile(source.path)
    environment = of_just(source) if just else of_make(source)
    variables = given(environment) if environment else None
    if just:
        found = ((text, just_directory(source, text.home.start)) for text in just_recipes(source))
        return (Part(text, variables, directory) for text, directory in found)
    return (Part(text, variables) for text in make_lines(source, workspace))
