"""Variables to which other files give another value than a compose file and its env file.

People copy `.env.example` to `.env`: with ``RANKS=2`` there, ``${RANKS:-1}`` is 1 for some of them and 2 for others. A
script that starts Compose may set the variable, or name another env file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from shmlint.files.cache import Key
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.dotenv import InvalidEnvFile, parse
from shmlint.formats.compose.tree import Branch, Leaf, Tree, items_of

_DEFAULT = re.compile(r"(?<!\$)\$\{([A-Za-z_]\w*):?-([^${}\n]*)\}")
"""A variable with a default that is a plain text."""
_WORD = r"(?:example|sample|template|dist|default)"
_EXAMPLE = re.compile(rf"(?i)\.?env[._-]{_WORD}|\.?{_WORD}[._-]env|\.env[._-][\w-]{{1,40}}[._-]{_WORD}")
_MOST_FILES = 20


def contradicted(trees: Iterable[Tree | None], directory: str, workspace: Workspace) -> frozenset[str]:
    """The variables in some values that something else in the repository sets to another value than the used one.

    That is a script, a Makefile or a CI file that starts Compose, whatever the project's `.env` says; of a default it
    is also an example of an env file in the directory.
    """
    used = {item for leaf in _leaves(trees) for item in _used(leaf)}
    if not used:
        return frozenset()
    from shmlint.formats.compose.launchers import given_by_launchers

    examples = workspace.once(_GIVEN, directory or ".", lambda files: _given(directory, files))
    started = given_by_launchers(directory, workspace)
    none: frozenset[str] = frozenset()
    return frozenset(
        name for name, text, default in used
        if (started.get(name, none) | (examples.get(name, none) if default else none)) - {text, ""}
    )  # fmt: skip


def _leaves(trees: Iterable[Tree | None]) -> Iterator[Leaf]:
    for tree in trees:
        for part in items_of(tree):
            values = [entry.tree for entry in part.entries.values()] if isinstance(part, Branch) else [part]
            yield from (value for value in values if isinstance(value, Leaf) and "$" in value.written)


def _used(leaf: Leaf) -> Iterator[tuple[str, str, bool]]:
    """The variables of a text with the values that are used: that of an env file, or the default; which of them."""
    variables = leaf.layer.variables
    yield from ((name, text, True) for name, text in _DEFAULT.findall(leaf.written) if not variables.get(name))
    if leaf.interpolated.private:
        yield from ((name, text, False) for name in leaf.interpolated.used if (text := variables.get(name)))


_GIVEN: Key[Mapping[str, frozenset[str]]] = Key("variables of examples of env files")


def _given(directory: str, workspace: Workspace) -> Mapping[str, frozenset[str]]:
    """The values that the examples in a directory give to variables."""
    given: dict[str, frozenset[str]] = {}
    for name in sorted(filter(_EXAMPLE.fullmatch, workspace.names_in(directory)))[:_MOST_FILES]:
        found: dict[str, str | None] = {}
        try:
            parse(workspace.source(normal(os.path.join(directory, name))).text, {}, found)
        except (Unreadable, InvalidEnvFile):
            continue
        for variable, value in found.items():
            given[variable] = given.get(variable, frozenset()) | {value or ""}
    return given
