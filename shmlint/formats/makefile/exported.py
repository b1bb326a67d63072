"""The environment that make and just give to the shells of their recipes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.model.source import Source
from shmlint.syntax.shell_variables import ANY, Environment

_TARGETS = r"^[ ]*(?:[^\s:=#][^:=#\n]*::?[ \t]*)?(?:(?:override|private)[ \t]+)*"
_EXPORT = re.compile(rf"{_TARGETS}export\b[ \t]*(.*)$", re.M)
_ASSIGNED = re.compile(
    rf"{_TARGETS}(?:(?:export|override)[ \t]+)*"
    r"(?:define[ \t]+([A-Za-z_]\w*)|([A-Za-z_]\w*)[ \t]*(?:\?|\+|!|:{1,3})?=)",
    re.M,
)
_INCLUDES = re.compile(r"^[ ]*[-s]?include\b", re.M)
EXPORTS_ALL = re.compile(r"^[ ]*(?:\.EXPORT_ALL_VARIABLES\b|export[ \t]*(?:#.*)?$)", re.M)
"""What exports each variable of a makefile."""

JUST_EXPORTS_ALL = re.compile(r"^set[ \t]+export[ \t]*(?::=[ \t]*true[ \t]*)?(?:#.*)?$", re.M)
"""What exports each variable of a justfile."""
_JUST_FILES = re.compile(r"^set[ \t]+dotenv-(?!\w+[ \t]*:=[ \t]*false)", re.M)
_JUST_VARIABLE = re.compile(r"^(export[ \t]+)?([A-Za-z_]\w*)[ \t]*:=", re.M)
_JUST_HEADER = re.compile(r"^@?[A-Za-z_][\w-]*[ \t]+([^:\n]+):(?!=)", re.M)


def of_make(source: Source) -> Environment:
    """The variables that a makefile exports; what the recipes then find is not followed."""
    text = source.text
    if "export" not in text.lower():
        return {}
    assigned = {first or second for first, second in _ASSIGNED.findall(text)}
    included = _INCLUDES.search(text) is not None
    if EXPORTS_ALL.search(text):
        return dict.fromkeys(assigned | ({ANY} if included else set()))
    names = {name for rest in _EXPORT.findall(text) for name in _names(rest)}
    return dict.fromkeys(name for name in names if included or name in assigned or name == ANY)


def _names(rest: str) -> Iterator[str]:
    """The variables that an ``export`` names."""
    rest = rest.partition("#")[0]
    if "=" in rest:
        yield re.split(r"[\s:?+!=]", rest, maxsplit=1)[0]
    else:
        yield from (ANY if "$" in name else name for name in rest.split())


def of_just(source: Source) -> Environment:
    """The variables that a justfile exports, arguments of its recipes too."""
    text = source.text
    every = JUST_EXPORTS_ALL.search(text) is not None
    names = {name for export, name in _JUST_VARIABLE.findall(text) if export or every}
    arguments = r"\$([A-Za-z_]\w*)" if not every else r"([A-Za-z_]\w*)"
    names |= {name for header in _JUST_HEADER.findall(text) for name in re.findall(arguments, header)}
    return dict.fromkeys(names | ({ANY} if _JUST_FILES.search(text) else set()))
