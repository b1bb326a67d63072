"""What a machine is like: its kind of container, /dev/shm, limits, capabilities and GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from shmlint.docker.accelerators import Accelerator, present
from shmlint.formats.live.cgroups import memory_limit
from shmlint.formats.live.machine import Machine, NotLinux
from shmlint.formats.live.mountinfo import MountPoint, mount_points
from shmlint.model.launch import Value, Vendor
from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span


class Shm(NamedTuple):
    """/dev/shm. ``size`` and ``used`` are bytes, None where nothing is mounted; a size of 0 is no limit.

    ``by``: the ``engine`` gave it (``--shm-size`` or its default), it is another ``tmpfs`` (one that was
    mounted, or the host's), it is on ``disk``, there is ``nothing``, or that is ``unknown``.
    """

    by: Literal["engine", "tmpfs", "disk", "nothing", "unknown"]
    size: int | None
    used: int | None
    filesystem: str
    span: Span


class Limit(NamedTuple):
    """A resource limit; -1 is none."""

    soft: int
    hard: int
    span: Span


class Gpus(NamedTuple):
    """GPUs by their device nodes. ``number`` is None where the nodes do not show it.

    ``visible`` is what CUDA_VISIBLE_DEVICES and its kind leave of them.
    """

    number: int | None
    visible: int | None
    label: str
    """What they are called; empty where there are none."""
    vendor: Vendor | None
    nodes: tuple[str, ...]
    source: Source


class Facts(NamedTuple):
    """What a machine is like."""

    container: str
    """What kind of container this is, ``""`` where it does not look like one."""
    shm: Shm
    memory_limit: Value[int] | None
    limits: Mapping[str, Limit]
    gpus: Gpus
    infiniband: bool
    capabilities: tuple[str, ...]
    nccl: Mapping[str, str]


def read_facts(machine: Machine) -> Facts:
    """What this machine is like. Raises NotLinux."""
    if not machine.platform.startswith("linux"):
        raise NotLinux
    mountinfo = Source("/proc/self/mountinfo", machine.text("/proc/self/mountinfo"))
    mounts = mount_points(mountinfo)
    limits = Source("/proc/self/limits", machine.text("/proc/self/limits"))
    gpus = _gpus(machine)
    nccl = {
        name: value for name, value in sorted(machine.environment.items()) if name.startswith(("NCCL_", "TORCH_NCCL_"))
    }
    memory = memory_limit(machine, mounts)
    return Facts(
        _container(machine),
        _shm(machine, mounts),
        memory,
        _limits(limits),
        gpus,
        machine.exists("/dev/infiniband"),
        _capabilities(machine),
        nccl,
    )


def _container(machine: Machine) -> str:
    if machine.exists("/run/.containerenv"):
        return "podman"
    if machine.exists("/var/run/secrets/kubernetes.io"):
        return "kubernetes"
    if machine.exists("/.dockerenv"):
        return "docker"
    cgroups = machine.text("/proc/self/cgroup") + machine.text("/proc/1/cgroup")
    for word, name in _CGROUPS.items():
        if word in cgroups:
            return name
    return ""


_CGROUPS = {
    "kubepods": "kubernetes", "libpod": "podman", "/docker": "docker", "containerd": "containerd", "/lxc": "lxc",
}  # fmt: skip


def _shm(machine: Machine, mounts: Sequence[MountPoint]) -> Shm:
    mount = next((mount for mount in reversed(mounts) if mount.point == "/dev/shm"), None)
    nowhere = Span(Source("/dev/shm", ""), 0, 0)
    if not mounts:
        return Shm("unknown", None, None, "", nowhere)
    if mount is None and machine.exists("/dev/shm"):  # a directory in what is mounted above it
        above = [mount for mount in mounts if mount.point in ("/dev", "/")]
        mount = max(above, key=lambda mount: len(mount.point), default=None)
    if mount is None:
        return Shm("nothing", None, None, "", nowhere)
    size = used = None
    try:
        blocks = machine.statvfs(machine.path("/dev/shm"))
        size, used = blocks.blocks * blocks.frsize, (blocks.blocks - blocks.free) * blocks.frsize
    except OSError:
        pass
    by: Literal["engine", "tmpfs", "disk"] = "disk"
    if mount.filesystem in ("tmpfs", "devtmpfs"):
        # runc, and so Docker, containerd and Podman, calls its own /dev/shm `shm`.
        by = "engine" if mount.device == "shm" else "tmpfs"
    return Shm(by, size, used, mount.filesystem, mount.span)


_LIMIT = re.compile(r"(?m)^Max ([a-z ]+?) {2,}(\S+) +(\S+)")
_LIMITS = {"locked memory": "memlock", "open files": "nofile", "stack size": "stack"}


def _limits(source: Source) -> dict[str, Limit]:
    """Resource limits by the names of ``ulimit``, from /proc/self/limits; bytes, and files."""
    found = {}
    for match in _LIMIT.finditer(source.text):
        name = _LIMITS.get(match[1])
        soft, hard = _amount(match[2]), _amount(match[3])
        if name is not None and soft is not None and hard is not None:
            found[name] = Limit(soft, hard, Span(source, match.start(), match.end()))
    return found


def _amount(text: str) -> int | None:
    if text == "unlimited":
        return -1
    return int(text) if re.fullmatch(r"[0-9]{1,20}", text, re.ASCII) else None


_CAPABILITIES = {14: "IPC_LOCK", 23: "SYS_NICE"}
"""Bits of capability(7) that shared memory and RDMA have to do with."""


def _capabilities(machine: Machine) -> tuple[str, ...]:
    match = re.search(r"(?m)^CapEff:\s*([0-9a-fA-F]+)", machine.text("/proc/self/status"))
    held = int(match[1], 16) if match is not None else 0
    return tuple(name for bit, name in _CAPABILITIES.items() if held >> bit & 1)


def _gpus(machine: Machine) -> Gpus:
    render = [f"/dev/dri/{name}" for name in machine.names("/dev/dri") if name.startswith("renderD")]
    devices = [f"/dev/{name}" for name in machine.names("/dev")]
    found = present([*devices, *render])
    nodes = found.nodes if found is not None else tuple(render)  # a display or a video codec
    source = Source("/dev", "".join(f"{node}\n" for node in nodes))
    if found is None:
        return Gpus(0, 0, "", None, nodes, source)
    label, vendor = found.accelerator.label, found.accelerator.vendor
    return Gpus(found.number, _visible(machine, found.number, found.accelerator), label, vendor, nodes, source)


def _visible(machine: Machine, count: int | None, accelerator: Accelerator) -> int | None:
    """How many GPUs a program sees. An id of -1, or nothing, ends the list (CUDA programming guide)."""
    for name in accelerator.narrowed_by:
        value = machine.environment.get(name)
        if value is None:
            continue
        ids = [part.strip() for part in value.split(",")]
        end = next((i for i, part in enumerate(ids) if part in ("", "-1")), len(ids))
        count = end if count is None else min(count, end)
    return count
