"""This machine, read from inside a container: its /dev/shm, limits and GPUs, as a Launch.

Everything is read from /proc, /sys and /dev; no GPU library is loaded and nothing is started. Of the
environment only the NCCL variables are shown.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from shmlint.docker.accelerators import present
from shmlint.docker.sizes import human
from shmlint.model.launch import (
    GpuEvidence,
    GpuRequest,
    Launch,
    Mount,
    ReadOnly,
    Size,
    Unknown,
    Value,
    Vendor,
    Words,
)
from shmlint.model.record import NamedTuple
from shmlint.model.settings import Settings
from shmlint.model.source import Source, Span


class NotLinux(Exception):
    """There is no /dev/shm to look at on this system."""


class Blocks(NamedTuple):
    """What statvfs says of a file system: fragments of ``frsize`` bytes, all and free."""

    frsize: int
    blocks: int
    free: int


def _statvfs(path: str) -> Blocks:
    status = os.statvfs(path)
    return Blocks(status.f_frsize, status.f_blocks, status.f_bfree)


class Machine(NamedTuple):
    """Where everything is read: a directory that stands for ``/``, and the environment."""

    root: str = "/"
    environment: Mapping[str, str] = os.environ
    platform: str = sys.platform
    statvfs: Callable[[str], Blocks] = _statvfs

    def path(self, name: str) -> str:
        return os.path.join(self.root, name.lstrip("/"))

    def text(self, name: str) -> str:
        """What a file says; nothing where it cannot be read."""
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def names(self, name: str) -> list[str]:
        """What a directory holds, sorted."""
        try:
            return sorted(os.listdir(self.path(name)))
        except OSError:
            return []

    def exists(self, name: str) -> bool:
        return os.path.lexists(self.path(name))


# What is there -----------------------------------------------------------------------------------


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


class _MountPoint(NamedTuple):
    root: str
    point: str
    options: tuple[str, ...]
    filesystem: str
    device: str
    super_options: tuple[str, ...]
    span: Span


def _mount_points(source: Source) -> list[_MountPoint]:
    """The lines of /proc/self/mountinfo (proc_pid_mountinfo(5)); of those at one place the last is seen."""
    found = []
    at = 0
    for line in source.text.splitlines(keepends=True):
        span = Span(source, at, at + len(line.rstrip("\n")))
        at += len(line)
        before, dash, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if dash and len(left) >= 6 and len(right) >= 2:
            more = tuple(right[2].split(",")) if len(right) > 2 else ()
            found.append(
                _MountPoint(
                    _unescaped(left[3]), _unescaped(left[4]), tuple(left[5].split(",")), right[0], right[1], more, span
                )
            )
    return found


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def read_facts(machine: Machine) -> Facts:
    """What this machine is like. Raises NotLinux."""
    if not machine.platform.startswith("linux"):
        raise NotLinux
    mountinfo = Source("/proc/self/mountinfo", machine.text("/proc/self/mountinfo"))
    mounts = _mount_points(mountinfo)
    limits = Source("/proc/self/limits", machine.text("/proc/self/limits"))
    gpus = _gpus(machine)
    nccl = {
        name: value
        for name, value in sorted(machine.environment.items())
        if name.startswith(("NCCL_", "TORCH_NCCL_"))
    }
    memory = _memory_limit(machine, mounts)
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


def _shm(machine: Machine, mounts: Sequence[_MountPoint]) -> Shm:
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


# Memory ------------------------------------------------------------------------------------------

_NO_LIMIT = 2**62
"""Bytes; a cgroup without a limit says the largest number of pages there is."""


def _memory_limit(machine: Machine, mounts: Sequence[_MountPoint]) -> Value[int] | None:
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


def _limits_above(machine: Machine, mount: _MountPoint, path: str, name: str) -> Iterator[Value[int]]:
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


# GPUs --------------------------------------------------------------------------------------------


def _gpus(machine: Machine) -> Gpus:
    render = [f"/dev/dri/{name}" for name in machine.names("/dev/dri") if name.startswith("renderD")]
    devices = [f"/dev/{name}" for name in machine.names("/dev")]
    found = present([*devices, *render])
    nodes = found.nodes if found is not None else tuple(render)  # a display or a video codec
    source = Source("/dev", "".join(f"{node}\n" for node in nodes))
    if found is None:
        return Gpus(0, 0, "", None, nodes, source)
    label, vendor = found.accelerator.label, found.accelerator.vendor
    return Gpus(found.number, _visible(machine, found.number, vendor), label, vendor, nodes, source)


_NARROWING: Mapping[Vendor | None, tuple[str, ...]] = {
    "nvidia": ("CUDA_VISIBLE_DEVICES",),
    "amd": ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
}


def _visible(machine: Machine, count: int | None, vendor: Vendor | None) -> int | None:
    """How many GPUs a program sees. An id of -1, or nothing, ends the list (CUDA programming guide)."""
    for name in _NARROWING.get(vendor, ()):
        value = machine.environment.get(name)
        if value is None:
            continue
        ids = [part.strip() for part in value.split(",")]
        end = next((i for i, part in enumerate(ids) if part in ("", "-1")), len(ids))
        count = end if count is None else min(count, end)
    return count


# As a launch -------------------------------------------------------------------------------------


COMMAND = "the command"
ENVIRONMENT = "the environment"
"""Where findings are that stand in no file."""

_COUNTS = (
    "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "NUM_SHARD", "TENSOR_PARALLEL_SIZE",
    "NPROC_PER_NODE",
)  # fmt: skip
"""Variables that are read beside the NCCL ones, and not shown: how many GPUs and processes there are."""


def launch_of(machine: Machine, facts: Facts, settings: Settings, command: Sequence[str] = ()) -> Launch:
    """The machine as a launch of ``command``, with the GPUs that programs see here."""
    shm, place = facts.shm, facts.shm.span
    size: Value[Size] | None = None
    ipc: Value[str] | None = None
    mounts: tuple[Mount, ...] = ()
    if shm.by == "nothing":
        ipc = Value("none", place, "none")
    elif shm.by == "unknown":
        ipc = Value(Unknown("host", "what is mounted cannot be read here"), place, "")
    elif shm.by == "engine":
        if shm.size is not None and shm.size != settings.default_shm_size:
            size = Value(Size(shm.size), place, human(shm.size))
    else:
        kind: Literal["tmpfs", "bind"] = "tmpfs" if shm.by == "tmpfs" else "bind"
        mounts = (Mount(kind, "/dev/shm", shm.size if shm.by == "tmpfs" else None, place),)
    by_hand = "start the container with --shm-size={size} (compose: `shm_size: {size}`)"
    if facts.container == "kubernetes":
        by_hand = "add an `emptyDir` with `medium: Memory` to the pod, and mount it on /dev/shm"
    written = shlex.join(command)
    what = Source(COMMAND, written)
    label = "this container" if facts.container else "this machine"
    return Launch(
        kind="docker-run",
        name=None,
        span=place,
        home=place,
        words=Words(label, "--shm-size", by_hand),
        rewriter=ReadOnly(),
        command=Value(tuple(command), Span(what, 0, len(written)), written) if command else None,
        shm=size,
        ipc=ipc,
        mounts=mounts,
        memory_limit=facts.memory_limit,
        environment=_environment(machine, facts),
        ulimits={name: _ulimit(limit) for name, limit in facts.limits.items()},
        cap_add=facts.capabilities,
        devices=(Value("/dev/infiniband", place, "/dev/infiniband"),) if facts.infiniband else (),
        network=Value(Unknown("host", "it may be the host's"), place, ""),
        gpu=gpu_request(facts.gpus, facts.gpus.visible) if facts.gpus.visible != 0 else GpuRequest(),
    )


def _environment(machine: Machine, facts: Facts) -> dict[str, Value[str]]:
    source = Source(ENVIRONMENT, "".join(f"{name}={value}\n" for name, value in facts.nccl.items()))
    found = {}
    at = 0
    for name, value in facts.nccl.items():
        end = at + len(name) + 1 + len(value)
        found[name] = Value(value, Span(source, at, end), source.text[at:end])
        at = end + 1
    for name in _COUNTS:
        if name in machine.environment:
            found[name] = Value(machine.environment[name], Span(source, 0, 0), "", private=True)
    return found


def _ulimit(limit: Limit) -> Value[str]:
    text = str(limit.soft) if limit.soft == limit.hard else f"{limit.soft}:{limit.hard}"
    return Value(text, limit.span, text)


def gpu_request(gpus: Gpus, count: int | None) -> GpuRequest:
    """A request for ``count`` GPUs of this machine, None where their number is not known."""
    evidence: tuple[GpuEvidence, ...] = ()
    if gpus.label:
        node = gpus.nodes[0]
        others = f" and {len(gpus.nodes) - 1} more" if len(gpus.nodes) > 1 else ""
        evidence = (GpuEvidence("/dev", f"{node}{others}", Span(gpus.source, 0, len(node))),)
    return GpuRequest(count != 0, gpus.vendor, count or None, evidence)
