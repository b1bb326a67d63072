"""The programs that supervisord starts, by its configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span

DEFAULTS = (
    "/etc/supervisord.conf", "/etc/supervisor/supervisord.conf", "supervisord.conf", "etc/supervisord.conf",
    "/etc/supervisor/conf.d/*.conf",
)  # fmt: skip
"""Where supervisord looks for its configuration (http://supervisord.org/configuration.html), and what the one of
Debian's package includes (its debian/supervisord.conf)."""
_SECTION = re.compile(r"^\[([^\]\n]+)\]", re.M)
_SETTING = re.compile(r"^(\w+)[ \t]*[=:][ \t]*([^\n]*(?:\n[ \t]+[^\n]+)*)", re.M)
_MOST = 100
"""Programs of one configuration."""


class SupervisedProgram(NamedTuple):
    """A program that is started; ``directory`` is empty where the configuration names none."""

    command: str
    directory: str
    span: Span


def configuration(command: tuple[str, ...]) -> tuple[str, ...]:
    """The files in which a command of supervisord finds its configuration."""
    for at, word in enumerate(command):
        if word in ("-c", "--configuration") and at + 1 < len(command):
            return (command[at + 1],)
        if word.startswith("--configuration="):
            return (word.partition("=")[2],)
    return DEFAULTS


def programs(source: Source) -> Iterator[SupervisedProgram]:
    """The programs that a configuration starts by itself."""
    for kind, name, settings, span in _sections(source):
        command = settings.get("command", "")
        if kind != "program" or not name or not command or settings.get("autostart", "") in ("false", "no", "0"):
            continue
        yield SupervisedProgram(command, settings.get("directory", "").strip("\"'"), span)


def included(source: Source) -> tuple[str, ...]:
    """The files that a configuration includes, as patterns."""
    for kind, _, settings, _ in _sections(source):
        if kind == "include":
            return tuple(settings.get("files", "").split())[:_MOST]
    return ()


def _sections(source: Source) -> Iterator[tuple[str, str, dict[str, str], Span]]:
    """The sections of a configuration: ``[program:x]`` is of the kind ``program`` and has the name ``x``."""
    found = list(_SECTION.finditer(source.text))[:_MOST]
    for at, section in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(source.text)
        settings = {}
        span = Span(source, section.start(), section.end())
        for setting in _SETTING.finditer(source.text, section.end(), min(end, section.end() + 20_000)):
            value = re.sub(r"[ \t];.*", "", setting[2])
            settings[setting[1].lower()] = re.sub(r"%\(ENV_(\w+)\)s", r"${\1}", " ".join(value.split()))
            if setting[1].lower() == "command":
                span = Span(source, setting.start(), setting.end())
        kind, _, name = section[1].strip().partition(":")
        yield kind.strip(), name.strip(), settings, span
