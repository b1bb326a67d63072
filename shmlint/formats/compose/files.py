"""Files that Compose reads without being told to, and what a file by itself says of the project it is part of."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from shmlint.files.cache import Key
from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.project import DEFINING
from shmlint.formats.compose.tree import Branch, Layer, Tree, Variables
from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem, Span
from shmlint.syntax.yaml_read import read_documents

DEFAULT_FILES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
OVERRIDE_FILES = (
    "compose.override.yml", "compose.override.yaml",
    "docker-compose.override.yml", "docker-compose.override.yaml",
)  # fmt: skip
"""Compose takes the first of each that is there (compose-go cli/options.go)."""


class RefusedEnvFile(NamedTuple):
    """A line of an env file that Compose refuses."""

    path: str
    line: int
    message: str

    def problem(self, span: Span) -> Problem:
        """The problem, at the place that the file is read for."""
        said = f"Compose cannot read {self.path}, line {self.line}: {self.message}"
        return Problem(span, said, facts=(self.path, str(self.line)))


def read_variables(
    paths: Iterable[str], workspace: Workspace, before: Variables, problems: list[RefusedEnvFile]
) -> dict[str, str | None]:
    """The variables of a project: those of ``before``, then of its env files, later files over earlier ones.

    A file that is not there gives none. What Compose refuses in one is added to ``problems``.
    """
    found: dict[str, str | None] = {}
    for path in paths:
        _read_env_file(path, workspace, before, found, problems)
    return {**found, **before}


def read_env_file(path: str, workspace: Workspace, before: Variables) -> dict[str, str | None]:
    """The variables that an env file gives to a container, substituted from ``before``."""
    found: dict[str, str | None] = {}
    _read_env_file(path, workspace, before, found, [])
    return found


def is_literal(path: str, workspace: Workspace) -> bool:
    """Whether an env file says its values as they are, whatever its format and what else is set where it is read."""
    try:
        text = workspace.source(path).text
    except Unreadable:
        return False
    return re.search(r"[$'\"\\#]", text) is None


def _read_env_file(
    path: str, workspace: Workspace, before: Variables, found: dict[str, str | None], problems: list[RefusedEnvFile]
) -> None:
    try:
        text = workspace.source(path).text if workspace.exists(path) else ""
    except Unreadable:
        return
    if not text:
        return
    from shmlint.formats.compose.dotenv import InvalidEnvFile, parse

    try:
        parse(text, before, found)
    except InvalidEnvFile as error:
        problems.append(RefusedEnvFile(normal(path), error.line, error.message))


def named_files(directory: str, workspace: Workspace) -> tuple[str, ...]:
    """The files that ``COMPOSE_FILE`` in the `.env` of a directory names; empty where it names none that are there."""
    env = os.path.join(directory, ".env")
    if not workspace.exists(env):
        return ()
    try:
        if "COMPOSE_FILE" not in workspace.source(env).text:
            return ()
    except Unreadable:
        return ()
    variables = read_env_file(env, workspace, {})
    separator = variables.get("COMPOSE_PATH_SEPARATOR") or ":"
    names = (variables.get("COMPOSE_FILE") or "").split(separator)
    files = tuple(normal(os.path.join(directory, name)) for name in names if name)
    return files if all(workspace.exists(file) for file in files) else ()


def default_files(directory: str, workspace: Workspace) -> tuple[str, ...]:
    """What ``docker compose`` reads in a directory when no file is named; empty where it finds nothing.

    ``COMPOSE_FILE`` in ``.env`` counts.
    """
    named = named_files(directory, workspace)
    if named:
        return named
    base = next((f for f in DEFAULT_FILES if workspace.exists(os.path.join(directory, f))), None)
    if base is None:
        return ()
    files_ = [base]
    override = next((f for f in OVERRIDE_FILES if workspace.exists(os.path.join(directory, f))), None)
    if override is not None:
        files_.append(override)
    return tuple(normal(os.path.join(directory, f)) for f in files_)


_SERVICES: Key[list[tuple[str, Tree]]] = Key("compose services")


def _written(path: str, workspace: Workspace) -> list[tuple[str, Tree]]:
    """The services that a file itself writes, extends not followed. Raises Unreadable."""
    # Every overlay asks this of every file beside it.
    return workspace.once(_SERVICES, path, lambda files: list(_services(path, files)))


def _services(path: str, workspace: Workspace) -> Iterator[tuple[str, Tree]]:
    for document in read_documents(path, workspace):
        root = Layer(document.source, {}, "").tree(document.root)
        found = root.get("services") if isinstance(root, Branch) else None
        if isinstance(found, Branch):
            yield from ((name, entry.tree) for name, entry in found.entries.items())


def incomplete(path: str, workspace: Workspace) -> list[str]:
    """The services of a file that need another file before they can start. Raises Unreadable."""
    names: dict[str, bool] = {}
    for name, tree in _written(path, workspace):
        whole = isinstance(tree, Branch) and any(
            key in tree.entries for key in ("image", "build", "extends", "provider")
        )
        names[name] = names.get(name, False) or whole
    return [name for name, whole in names.items() if not whole]


_HARDWARE = frozenset(
    {"build", "deploy", "device_cgroup_rules", "devices", "gpus", "group_add", "image", "ipc", "runtime", "shm_size",
     "ulimits"}
)  # fmt: skip
"""Keys that say on what a service runs, and not what it does."""


def is_variant(path: str, base: Sequence[str], workspace: Workspace) -> bool:
    """Whether a file only says on what the services of others run, which say what they do. Raises Unreadable.

    Started alone, its services would lose their commands, mounts and ports.
    """
    others: dict[str, set[str]] = {}
    for file in base:
        for name, tree in _written(file, workspace):
            others.setdefault(name, set()).update(tree.entries if isinstance(tree, Branch) else ())
    own = _written(path, workspace)
    return bool(own) and all(
        isinstance(tree, Branch) and tree.entries.keys() <= _HARDWARE and others.get(name, set()) - _HARDWARE
        for name, tree in own
    )


_DEFINED: Key[frozenset[str]] = Key("compose names")


def defined_names(path: str, workspace: Workspace) -> frozenset[str]:
    """The names of all that a file itself defines: services, volumes, networks and the like. Raises Unreadable."""
    return workspace.once(_DEFINED, path, lambda files: frozenset(_defined(path, files)))


def _defined(path: str, workspace: Workspace) -> Iterator[str]:
    for document in read_documents(path, workspace):
        root = Layer(document.source, {}, "").tree(document.root)
        for key in ("services", *DEFINING):
            group = root.get(key) if isinstance(root, Branch) else None
            if isinstance(group, Branch):
                yield from group.entries


_NAMES: Key[frozenset[str]] = Key("names of compose services")


def service_names(path: str, workspace: Workspace) -> frozenset[str]:
    """The names of the services a file itself writes. Raises Unreadable."""
    return workspace.once(_NAMES, path, lambda files: frozenset(name for name, _ in _written(path, files)))
