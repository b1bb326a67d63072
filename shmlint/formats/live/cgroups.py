"""The memory limit of this process, by its cgroup and those above it; versions 1 and 2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shmlint.formats.live.machine import Machine
from shmlint.formats.live.mountinfo import MountPoint
from shmlint.model.launch import Value
from shmlint.model.source import Source, Span

_NO_LIMIT = 2**62
"""Bytes; a cgroup without a limit says the largest number of pages there is."""


def memory_limit(machine: Machine, mounts: Sequence[MountPoint]) -> Value[int] | None:
    """The lowest memory limit from this process's cgroup up to the top that can be seen."""
    found: list[Value[int]] = []
    for line in machine.text("/proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "memory" in controllers.split(","):
            name, filesystem = "memory.limit_in_bytes", "cgroup"
        elif number == "0" and not controllers:
            name, filesystem = "memory.max", "cgroup2"
        else:
            continue
        for mount in mounts:
            if mount.filesystem == filesystem and (filesystem == "cgroup2" or "memory" in mount.super_options):
                found += _limits_above(machine, mount, path, name)
    return min(found, key=lambda limit: limit.known or 0) if found else None


def _limits_above(machine: Machine, mount: MountPoint, path: str, name: str) -> Iterator[Value[int]]:
    root = mount.root.rstrip("/")
    below = path.removeprefix(root) if path == root or path.startswith(root + "/") else ""
    parts = [part for part in below.split("/") if part]
    if ".." in parts:  # another cgroup namespace: what is mounted is all there is to see
        parts = []
    for depth in range(len(parts), -1, -1):
        folder = "/".join([mount.point, *parts[:depth]])
        yield from _limit_in(f"{folder}/{name}", machine.text(f"{folder}/{name}"))
        if name == "memory.limit_in_bytes" and depth == len(parts):
            # Version 1 also says what the cgroups above allow, where those are out of sight.
            for line in machine.text(f"{folder}/memory.stat").splitlines():
                if line.startswith("hierarchical_memory_limit "):
                    yield from _limit_in(f"{folder}/memory.stat", line.partition(" ")[2])


def _limit_in(path: str, text: str) -> Iterator[Value[int]]:
    written = text.strip()
    if re.fullmatch(r"[0-9]{1,20}", written, re.ASCII) and int(written) < _NO_LIMIT:
        yield Value(int(written), Span(Source(path, written), 0, len(written)), written)
