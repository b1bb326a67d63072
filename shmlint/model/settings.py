"""Settings of a run, and of the directories in it that have settings of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from shmlint.model.finding import Severity
from shmlint.model.launch import DOCKER_DEFAULT_SHM
from shmlint.model.record import NamedTuple


class InvalidSettings(Exception):
    """A settings file cannot be used: file, line and what is wrong in one line."""


class Accepted(NamedTuple):
    """A finding that a baseline accepts. What identifies it is the fingerprint; the rest is for people."""

    fingerprint: str
    rule: str
    path: str
    message: str


class Origin(NamedTuple):
    """Where a setting is written. ``directory`` is the one that its patterns count from."""

    path: str
    line: int
    directory: str


NESTED: Mapping[str, Settings | None] = {}  # nobody changes it; a view of it could not go to other processes


class Settings(NamedTuple):
    """What holds for a run; sizes in bytes."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity | Literal["off"]], ...] = ()
    """The severity of the findings of rules, by id, prefix or name; the longest that fits counts."""
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns as in a ``.gitignore`` next to the settings file, and the rules that files lose by them."""
    fail_on: Severity = "error"
    min_severity: Severity = "note"
    """Findings below it are neither shown nor fixed."""
    shm_size: int | None = None
    """What fixes write instead of a workload's recommended size."""
    default_shm_size: int = DOCKER_DEFAULT_SHM
    """The daemon's own default on the hosts this repository is for."""
    engine: Literal["docker", "podman", "swarm"] = "docker"
    """What starts the containers; for ``swarm``, compose files that it takes are stacks."""
    unknown_workload: Literal["note", "warn", "error", "ignore"] = "note"
    follow_outside: bool = False
    """Whether files may refer to others outside of their repository."""
    pod_kinds: tuple[str, ...] = ()
    """Kinds of Kubernetes objects whose controllers pass the template of a pod on as it is."""
    projects: tuple[tuple[str, ...], ...] = ()
    """Compose files that belong together, in order, as paths like those of the run."""
    workloads: Sequence[Mapping[str, Any]] = ()
    """Entries put before the knowledge base's own, in the same form."""
    path: str | None = None
    """The file they came from."""
    origins: tuple[tuple[str, Origin], ...] = ()
    """Where each key is written that is in a settings file."""
    baseline: tuple[Accepted, ...] = ()
    """Findings that are accepted."""
    for_all: bool = False
    """The settings hold for all files, whatever settings files lie next to them."""
    nested: Mapping[str, Settings | None] = NESTED
    """The settings of directories, where not all follow the same; None for those that follow these."""

    def of(self, path: str) -> Settings:
        """The settings for a file of the run."""
        while self.nested:
            directory = os.path.dirname(path)
            if directory in self.nested:
                return self.nested[directory] or self
            if directory == path or not directory:
                break
            path = directory
        return self

    @property
    def every(self) -> tuple[Settings, ...]:
        """These settings and those of directories, each once."""
        found = {id(settings): settings for settings in (self, *self.nested.values()) if settings is not None}
        return tuple(found.values())

    def changed(self, change: Callable[[Settings], Settings]) -> Settings:
        """The settings with a change to each of them."""
        new = {id(settings): change(settings) for settings in self.every}
        nested = {directory: new[id(some)] if some else None for directory, some in self.nested.items()}
        return new[id(self)]._replace(nested=nested)

    def directory(self, key: str) -> str:
        """The directory that the patterns of a key count from."""
        origin = dict(self.origins).get(key)
        return origin.directory if origin is not None else ""
