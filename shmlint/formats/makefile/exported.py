"""The environment that make and just give to the shells of their recipes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shmlint.model.source import Source
from shmlint.syntax.shell_variables import ANY, Environment

_TARGETS = r"^[ ]*(?:[^\s:=#][^:=#\n]*::?[ \t]*)?(?:(?:override|private)[ \t]+)*"
_EXPORT = rf"(?m){_TARGETS}export\b[ \t]*(.*)$"
_ASSIGNED = (
    rf"(?m){_TARGETS}(?:(?:export|override)[ \t]+)*"
    r"(?:define[ \t]+([A-Za-z_]\w*)|([A-Za-z_]\w*)[ \t]*(?:\?|\+|!|:{1,3})?=)"
)
_INCLUDES = r"(?m)^[ ]*[-s]?include\b"
EXPORTS_ALL = r"(?m)^[ ]*(?:\.EXPORT_ALL_VARIABLES\b|export[ \t]*(?:#.*)?$)"
"""What exports each variable of a makefile."""

JUST_EXPORTS_ALL = r"(?m)^set[ \t]+export[ \t]*(?::=[ \t]*true[ \t]*)?(?:#.*)?$"
"""What exports each variable of a justfile."""
_JUST_FILES = r"(?m)^set[ \t]+dotenv-(?!\w+[ \t]*:=[ \t]*false)"
_JUST_VARIABLE = r"(?m)^(export[ \t]+)?([A-Za-z_]\w*)[ \t]*:="
_JUST_HEADER = r"(?m)^@?[A-Za-z_][\w-]*[ \t]+([^:\s][^:\n]*):(?!=)"


def of_make(source: Source) -> Environment:
    """The variables that a makefile exports; what the recipes then find is not followed."""
    text = source.text
    if "export" not in text.lower():
        return {}
    assigned = {first or second for first, second in re.findall(_ASSIGNED, text)}
    included = re.search(_INCLUDES, text) is not None
    if re.search(EXPORTS_ALL, text):
        return dict.fromkeys(assigned | ({ANY} if included else set()))
    names = names_exported(text)
    return dict.fromkeys(name for name in names if included or name in assigned or name == ANY)


def names_exported(text: str) -> frozenset[str]:
    """The variables that the lines of a makefile name for export; ``ANY`` where a name is computed."""
    return frozenset(name for rest in re.findall(_EXPORT, text) for name in _names(rest))


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
    every = re.search(JUST_EXPORTS_ALL, text) is not None
    names = {name for export, name in re.findall(_JUST_VARIABLE, text) if export or every}
    arguments = r"\$([A-Za-z_]\w*)" if not every else r"([A-Za-z_]\w*)"
    names |= {name for header in re.findall(_JUST_HEADER, text) for name in re.findall(arguments, header)}
    return dict.fromkeys(names | ({ANY} if re.search(_JUST_FILES, text) else set()))
