"""This machine, seen from inside a container: its /dev/shm, its limits, its GPUs, and the rules' verdicts.

Everything is read from /proc, /sys and /dev; no GPU library is loaded and nothing is started. Of the
environment only the NCCL variables are shown.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from shmlint.docker.sizes import human
from shmlint.files.workspace import Workspace
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
from shmlint.model.settings import Settings
from shmlint.model.source import Source, Span
from shmlint.run import Run, judge
from shmlint.workloads.assess import UNKNOWN_MINIMUM, assess, users

Count = int | Literal["all"] | None


class NotLinux(Exception):
    """There is no /dev/shm to look at on this system."""


class Blocks(NamedTuple):
    """What statvfs says of a file system: fragments of ``frsize`` bytes, all and free."""

    frsize: int
    blocks: int
    free: int


def _statvfs(path: str) -> Blocks:
    told = os.statvfs(path)
    return Blocks(told.f_frsize, told.f_blocks, told.f_bfree)


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
    """GPUs by their device nodes. ``count`` is None where the nodes do not tell it.

    ``visible`` is what CUDA_VISIBLE_DEVICES and its kind leave of them.
    """

    count: int | None  # type: ignore[assignment]  # hides tuple.count
    visible: int | None
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


def facts(machine: Machine) -> Facts:
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
    told = machine.text("/proc/self/cgroup") + machine.text("/proc/1/cgroup")
    for word, name in _CGROUPS.items():
        if word in told:
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
        told = machine.statvfs(machine.path("/dev/shm"))
        size, used = told.blocks * told.frsize, (told.blocks - told.free) * told.frsize
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
            # Version 1 also tells what the cgroups above allow, where those are out of sight.
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
    names = machine.names("/dev")
    nvidia = [f"/dev/{name}" for name in names if re.fullmatch(r"nvidia[0-9]+", name, re.ASCII)]
    render = [f"/dev/dri/{name}" for name in machine.names("/dev/dri") if name.startswith("renderD")]
    nodes: list[str] = []
    count: int | None = 0
    vendor: Vendor | None = None
    if nvidia:
        nodes, count, vendor = nvidia, len(nvidia), "nvidia"
    elif "dxg" in names:  # Windows' own: one node for all GPUs
        nodes, count, vendor = ["/dev/dxg"], None, "nvidia"
    elif "kfd" in names:
        nodes, count, vendor = ["/dev/kfd", *render], len(render) or None, "amd"
    else:
        nodes = render  # a display or a video codec
    source = Source("/dev", "".join(f"{node}\n" for node in nodes))
    return Gpus(count, _visible(machine, count, vendor), vendor, tuple(nodes), source)


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


# What the rules say ------------------------------------------------------------------------------


_COMMAND = "the command"
_ENVIRONMENT = "the environment"
"""Where findings are that stand in no file."""


class Examination(NamedTuple):
    """A machine, what is to run on it, and what the rules say."""

    facts: Facts
    command: tuple[str, ...]
    run: Run
    launch: Launch
    notes: tuple[str, ...]


_NEEDED = (
    "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "NUM_SHARD", "TENSOR_PARALLEL_SIZE",
    "NPROC_PER_NODE",
)  # fmt: skip
"""Variables that are read beside the NCCL ones, and not shown: how many GPUs and processes there are."""


def examine(
    machine: Machine, settings: Settings, command: Sequence[str] = (), gpus: int | None = None
) -> Examination:
    """Look at a machine and let the rules judge it as they judge a launch.

    ``command`` is what is to run here, ``gpus`` how many GPUs it is to have where these are not there
    yet. Raises NotLinux.
    """
    told = facts(machine)
    launch = _launch(machine, told, settings, command, gpus)
    # What findings point into is not read again: nothing of it is a file with comments.
    places = {_COMMAND: "", _ENVIRONMENT: "", "/dev": ""}
    spans = [launch.span, *(limit.span for limit in told.limits.values())]
    spans += [told.memory_limit.span] if told.memory_limit is not None else []
    run = judge([launch], settings, Workspace({**places, **{span.path: "" for span in spans}}))
    return Examination(told, tuple(command), run, launch, tuple(_notes(told, launch)))


def _launch(
    machine: Machine, told: Facts, settings: Settings, command: Sequence[str], gpus: int | None
) -> Launch:
    shm, place = told.shm, told.shm.span
    size: Value[Size] | None = None
    ipc: Value[str] | None = None
    mounts: tuple[Mount, ...] = ()
    if shm.by == "nothing":
        ipc = Value("none", place, "none")
    elif shm.by == "unknown":
        ipc = Value(Unknown("what is mounted cannot be read here"), place, "")
    elif shm.by == "engine":
        if shm.size is not None and shm.size != settings.default_shm_size:
            size = Value(Size(shm.size), place, human(shm.size))
    else:
        kind: Literal["tmpfs", "bind"] = "tmpfs" if shm.by == "tmpfs" else "bind"
        mounts = (Mount(kind, "/dev/shm", shm.size if shm.by == "tmpfs" else None, place),)
    by_hand = "start the container with --shm-size={size} (compose: `shm_size: {size}`)"
    if told.container == "kubernetes":
        by_hand = "mount an emptyDir with `medium: Memory` on /dev/shm in the pod"
    written = shlex.join(command)
    what = Source(_COMMAND, written)
    label = "this container" if told.container else "this machine"
    launch = Launch(
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
        memory_limit=told.memory_limit,
        environment=_environment(machine, told),
        ulimits={name: _ulimit(limit) for name, limit in told.limits.items()},
        cap_add=told.capabilities,
        devices=(Value("/dev/infiniband", place, "/dev/infiniband"),) if told.infiniband else (),
        network=Value(Unknown("it may be the host's"), place, ""),
    )
    return launch._replace(gpu=_request(told, launch, settings, gpus))


def _environment(machine: Machine, told: Facts) -> dict[str, Value[str]]:
    source = Source(_ENVIRONMENT, "".join(f"{name}={value}\n" for name, value in told.nccl.items()))
    found = {}
    at = 0
    for name, value in told.nccl.items():
        end = at + len(name) + 1 + len(value)
        found[name] = Value(value, Span(source, at, end), source.text[at:end])
        at = end + 1
    for name in _NEEDED:
        if name in machine.environment:
            found[name] = Value(machine.environment[name], Span(source, 0, 0), "", private=True)
    return found


def _ulimit(limit: Limit) -> Value[str]:
    text = str(limit.soft) if limit.soft == limit.hard else f"{limit.soft}:{limit.hard}"
    return Value(text, limit.span, text)


def _request(told: Facts, launch: Launch, settings: Settings, gpus: int | None) -> GpuRequest:
    """The GPUs that are here, or that a command is to have."""
    here = told.gpus
    evidence: tuple[GpuEvidence, ...] = ()
    if here.vendor is not None:
        node = here.nodes[0]
        others = f" and {len(here.nodes) - 1} more" if len(here.nodes) > 1 else ""
        evidence = (GpuEvidence("/dev", f"{node}{others}", Span(here.source, 0, len(node))),)
    if gpus is not None:
        return GpuRequest(gpus > 0, here.vendor, gpus or None, evidence)
    if here.visible != 0:
        return GpuRequest(True, here.vendor, here.visible, evidence)
    # A command that is known to need it needs it before the GPUs are there.
    needed = launch.command is not None and assess(launch, users(settings.workloads)).verdict == "needed"
    return GpuRequest(needed)


def _notes(told: Facts, launch: Launch) -> Iterator[str]:
    if not told.container:
        yield "this does not look like a container: what is said of /dev/shm is said of the machine"
    if launch.gpu.requested:
        return
    if told.shm.size and told.shm.size < UNKNOWN_MINIMUM:
        had = human(told.shm.size)
        yield f"for training or serving on GPUs {had} would be little: 512 MiB is the least, 1 GiB is better"
    seen = "no GPU is visible here" if told.gpus.count == 0 else "no GPU is left by CUDA_VISIBLE_DEVICES"
    yield f"{seen}, so nothing is judged; name what is to run: shmlint --doctor -- torchrun …"


# Reports -----------------------------------------------------------------------------------------


def render_text(
    examination: Examination, *, colour: bool = False, verbose: bool = False, quiet: bool = False
) -> Iterator[str]:
    """The report for a person: the facts, then the findings."""
    from shmlint.reports import escape, text

    rows = list(_rows(examination.facts))
    width = max(len(name) for name, _ in rows)
    for name, words in rows:
        yield f"{name.ljust(width)}  {escape(words)}"
    yield ""
    findings = examination.run.findings
    yield from text.render(examination.run, findings, colour=colour, verbose=verbose, quiet=True)
    for note in examination.notes:
        yield f"note: {escape(note)}"
    if not quiet and examination.launch.gpu.requested:
        levels = [finding.severity for finding in findings]
        counts = [(levels.count(level), level) for level in ("error", "warning", "note")]
        found = ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for count, level in counts if count)
        yield found or "nothing found"


def _rows(told: Facts) -> Iterator[tuple[str, str]]:
    yield "container", told.container or "no"
    yield "/dev/shm", _shm_words(told.shm)
    limit = told.memory_limit.known if told.memory_limit is not None else None
    yield "memory limit", human(limit) if limit is not None else "none"
    for name, words in (("memlock", "locked memory"), ("nofile", "open files")):
        given = told.limits.get(name)
        if given is not None:
            amount = human if name == "memlock" else str
            soft, hard = ("unlimited" if n < 0 else amount(n) for n in (given.soft, given.hard))
            yield words, soft if soft == hard else f"{soft}, may be raised to {hard}"
    yield "GPUs", _gpu_words(told.gpus)
    yield "InfiniBand", "yes" if told.infiniband else "no"
    for i, (name, value) in enumerate(told.nccl.items()):
        yield "" if i else "NCCL variables", f"{name}={value}"
    if not told.nccl:
        yield "NCCL variables", "none"


def _shm_words(shm: Shm) -> str:
    if shm.by == "nothing":
        return "not mounted"
    if shm.by == "unknown":
        return "unknown: /proc/self/mountinfo cannot be read"
    by = {
        "engine": "given by the engine (--shm-size, or its default)",
        "tmpfs": "a tmpfs that was mounted there, or the host's (--ipc=host)",
        "disk": f"on disk ({shm.filesystem}): slow, and not shared memory",
    }[shm.by]
    if shm.size is None:
        return f"cannot be looked at; {by}"
    amount = f"{human(shm.size)}, {human(shm.used or 0)} used" if shm.size else "without a limit"
    return f"{amount}; {by}"


def _gpu_words(gpus: Gpus) -> str:
    if gpus.vendor is None:
        return "none" + (f" ({', '.join(gpus.nodes)}: display or video)" if gpus.nodes else "")
    label = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel"}[gpus.vendor]
    number = label if gpus.count is None else f"{gpus.count} {label}"
    return number + (f", {gpus.visible} visible to programs" if gpus.visible != gpus.count else "")


def render_json(examination: Examination) -> str:
    """The report for programs; sizes in bytes, a limit of -1 is none, a size of 0 is no limit."""
    import json

    from shmlint.reports import json as findings

    told, run = examination.facts, examination.run
    need = run.need(examination.launch) if examination.launch.gpu.requested else None
    found: dict[str, Any] = json.loads(findings.render(run, run.findings))
    body = {
        "version": 1,
        "machine": {
            "container": told.container or None,
            "shm": {
                "mounted": None if told.shm.by == "unknown" else told.shm.by != "nothing",
                "mounted_by": told.shm.by,
                "filesystem": told.shm.filesystem or None,
                "size_bytes": told.shm.size,
                "used_bytes": told.shm.used,
            },
            "memory_limit_bytes": told.memory_limit.known if told.memory_limit is not None else None,
            "limits": {name: {"soft": limit.soft, "hard": limit.hard} for name, limit in told.limits.items()},
            "gpus": {
                "count": told.gpus.count,
                "visible": told.gpus.visible,
                "vendor": told.gpus.vendor,
                "nodes": list(told.gpus.nodes),
            },
            "infiniband": told.infiniband,
            "nccl": dict(told.nccl),
        },
        "command": list(examination.command) or None,
        "judged": bool(examination.launch.gpu.requested),
        "need": {
            "workload": need.workload.name if need.workload else None,
            "verdict": need.verdict,
            "minimum_bytes": need.minimum,
            "recommended_bytes": need.recommended,
        }
        if need is not None
        else None,
        "findings": found["findings"],
        "notes": list(examination.notes),
    }
    return json.dumps(body, indent=2, ensure_ascii=False)
