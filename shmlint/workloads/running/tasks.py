"""Commands that a file of the repository calls by a name: scripts of package.json, tasks of pyproject.toml."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Sequence
from typing import Any

from shmlint.model.source import Source
from shmlint.workloads.commands import kind_of
from shmlint.workloads.filesystem import Files
from shmlint.workloads.packages.declared import table_of, toml

_LONGEST = 1_000
"""Characters of a command that somebody wrote by hand."""
_NODE = frozenset({"npm", "yarn", "pnpm", "bun"})
_TABLES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "poe": (("pyproject.toml", ("tool", "poe", "tasks")),),
    "pdm": (("pyproject.toml", ("tool", "pdm", "scripts")),),
    "rye": (("pyproject.toml", ("tool", "rye", "scripts")),),
    "task": (("pyproject.toml", ("tool", "taskipy", "tasks")),),
    "hatch": (("pyproject.toml", ("tool", "hatch", "envs", "default", "scripts")),),
    "pixi": (("pixi.toml", ("tasks",)), ("pyproject.toml", ("tool", "pixi", "tasks"))),
}
"""Where such programs look for their commands, and the keys of the table there."""
_IMPLIED = frozenset({"start", "test", "stop", "restart"})
"""The names of scripts that npm takes without ``run``."""


def task(words: Sequence[str], files: Files, directory: str) -> tuple[Source, str] | None:
    """The file that gives a command its name, and the command; None where words name none that is written down."""
    program, rest = posixpath.basename(words[0]), list(words[1:])
    if program in ("honcho", "foreman") and rest[:1] == ["start"]:
        return _of_procfile(rest[1:], files, directory)
    ran = rest[:1] in (["run"], ["run-script"])
    named = ran or program in ("poe", "task") or (program in _NODE and rest[:1] and (rest[0] in _IMPLIED))
    behind = rest[1:] if ran else rest
    builds = program in _NODE and kind_of(words) == "build"
    if not named or builds or not behind or behind[0].startswith("-"):
        return None
    places = (("package.json", ("scripts",)),) if program in _NODE else _TABLES.get(program, ())
    for file, keys in places:
        source = _source(file, files, directory)
        given = _command(_table(source, keys).get(behind[0])) if source is not None else None
        if source is not None and given is not None:
            more = behind[2:] if behind[1:2] == ["--"] else behind[1:]
            return source, " ".join((given, *more))
    return None


def _source(file: str, files: Files, directory: str) -> Source | None:
    place = files.find(file, directory)
    return files.repository.source(place.path) if place is not None else None


def _table(source: Source, keys: Sequence[str]) -> dict[str, Any]:
    if not source.path.endswith(".json"):
        return table_of(toml(source.text), *keys)
    try:
        return table_of(json.loads(source.text), *keys)
    except (ValueError, RecursionError):
        return {}


def _command(entry: object) -> str | None:
    """The command of an entry: a text, or a table with one."""
    if isinstance(entry, dict):
        entry = entry.get("cmd", entry.get("shell"))
    if isinstance(entry, list) and all(isinstance(word, str) for word in entry):
        entry = " ".join(entry)
    return entry if isinstance(entry, str) and entry.strip() and len(entry) <= _LONGEST else None


def _of_procfile(names: Sequence[str], files: Files, directory: str) -> tuple[Source, str] | None:
    """The commands of a Procfile, which run at the same time."""
    source = _source("Procfile", files, directory)
    lines = re.findall(r"(?m)^([A-Za-z0-9_-]+):[ \t]*(\S.*)$", source.text) if source is not None else []
    found = [line for name, line in lines if not names or name in names]
    together = " & ".join(found)
    return (source, together) if source is not None and found and len(together) <= _LONGEST else None
