"""Settings of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from shmlint.model.finding import Severity
from shmlint.model.launch import DOCKER_DEFAULT_SHM
from shmlint.model.record import NamedTuple


class Accepted(NamedTuple):
    """A finding that a baseline accepts. What identifies it is the fingerprint; the rest is for people."""

    fingerprint: str
    rule: str
    path: str
    message: str


class Settings(NamedTuple):
    """What a run was told; sizes in bytes."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity | Literal["off"]], ...] = ()
    """The severity of the findings of rules, by id, prefix or name; the longest that fits counts."""
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns as in a ``.gitignore`` beside the settings file, and the rules that files lose by them."""
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
    projects: tuple[tuple[str, ...], ...] = ()
    """Compose files that belong together, in order, as paths like those of the run."""
    workloads: Sequence[Mapping[str, Any]] = ()
    """Entries put before the knowledge base's own, in the same form."""
    path: str | None = None
    """The file they came from."""
    given: tuple[str, ...] = ()
    """The keys that stand in it."""
    baseline: tuple[Accepted, ...] = ()
    """Findings that are accepted."""
