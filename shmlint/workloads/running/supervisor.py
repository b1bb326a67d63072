"""The programs that supervisord starts, by its configuration."""

from __future__ import annotations

import re

from shmlint.model.record import NamedTuple
from shmlint.model.source import BOM, Source, Span

DEFAULTS = (
    "/etc/supervisord.conf", "/etc/supervisor/supervisord.conf", "supervisord.conf", "etc/supervisord.conf",
    "/etc/supervisor/conf.d/*.conf",
)  # fmt: skip
"""Where supervisord looks for its configuration (http://supervisord.org/configuration.html), and what the one of
Debian's package includes (its debian/supervisord.conf)."""
_SECTION = re.compile(r"^\[([^\]\n]+)\]", re.M)
_COMMAND = re.compile(r"^command[ \t]*[=:][ \t]*[^\n]*(?:\n[ \t]+[^\n]+)*", re.M | re.I)
_MOST = 100
"""Sections of one configuration."""
_LONGEST = 200_000
"""Characters of a configuration that is read."""
_NOT_STARTED = frozenset({"no", "false", "off", "0"})
"""Values of ``autostart``, in any case (supervisor/datatypes.py, ``boolean``)."""


class SupervisedProgram(NamedTuple):
    """A program that is started; ``directory`` is empty where the configuration names none.

    ``certain`` is False where a variable decides whether it is started, or the file is a template.
    """

    command: str
    directory: str
    span: Span
    certain: bool
    variables: tuple[str, ...] = ()
    """What it is given besides the environment of the container: ``NAME=value``."""


class Configuration(NamedTuple):
    """A configuration file: what it starts by itself, and the files that it includes, as patterns.

    ``readable`` is False where it has lines that supervisord refuses, such as those of a template.
    """

    programs: tuple[SupervisedProgram, ...] = ()
    included: tuple[str, ...] = ()
    readable: bool = True


def configuration(command: tuple[str, ...]) -> tuple[str, ...]:
    """The files in which a command of supervisord finds its configuration."""
    for at, word in enumerate(command):
        if word in ("-c", "--configuration") and at + 1 < len(command):
            return (command[at + 1],)
        if word.startswith("--configuration="):
            return (word.partition("=")[2],)
    return DEFAULTS


def read(source: Source) -> Configuration:
    """What a configuration file says, by the parser that supervisord uses (supervisor/options.py)."""
    from configparser import Error, RawConfigParser

    if len(source.text) > _LONGEST:
        return Configuration(readable=False)
    parser = RawConfigParser(strict=False, inline_comment_prefixes=(";", "#"))
    readable = True
    try:
        # Runs of blanks mean as much as one, and the parser takes long for long ones.
        parser.read_string(re.sub(r"(?<=\S)[^\S\n]{2,}", " ", source.text.removeprefix(BOM)))
    except Error:
        readable = False  # the parser keeps the lines that it could read
    places = _places(source)
    programs: list[SupervisedProgram] = []
    included: tuple[str, ...] = ()
    shared = _variables(parser.get("supervisord", "environment", fallback=None))
    for section in parser.sections()[:_MOST]:
        kind, _, name = section.partition(":")
        settings = {key: _value(value) for key, value in parser.items(section)}
        starts, command = settings.get("autostart", "").lower(), settings.get("command", "")
        if kind.strip() == "program" and name.strip() and command and starts not in _NOT_STARTED:
            place = places.get(section, Span(source, 0, 0))
            directory = settings.get("directory", "").strip("\"'")
            variables = (*shared, *_variables(settings.get("environment")))
            certain = readable and "$" not in starts
            programs.append(SupervisedProgram(command, directory, place, certain, variables))
        elif kind.strip() == "include":
            included = tuple(settings.get("files", "").split())[:_MOST]
    return Configuration(tuple(programs), included, readable)


def _value(written: str | None) -> str:
    """A value in one line, with the variables of the environment as a shell writes them."""
    return re.sub(r"%\(ENV_(\w+)\)s", r"${\1}", " ".join((written or "").split()))


def _variables(written: str | None) -> tuple[str, ...]:
    """The variables of ``environment=KEY="val",KEY2=val`` as words (http://supervisord.org/configuration.html)."""
    found = re.findall(_VARIABLE, _value(written)[:_LONGEST_LIST])
    return tuple(f"{name}={quoted or other or plain.strip()}" for name, quoted, other, plain in found)


_VARIABLE = r"""([A-Za-z_]\w*)[ ]?=[ ]?(?:"([^"]*)"|'([^']*)'|([^,"']*))"""
_LONGEST_LIST = 5_000
"""Characters of a list of variables that is read."""


def _places(source: Source) -> dict[str, Span]:
    """The place of each section: its last command, or else its name."""
    places = {}
    found = list(_SECTION.finditer(source.text))[: 2 * _MOST]
    for at, section in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(source.text)
        for match in (section, *_COMMAND.finditer(source.text, section.end(), end)):
            places[section[1]] = Span(source, match.start(), match.end())
    return places
