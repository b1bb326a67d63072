"""A machine as a launch, which the rules can judge."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Literal

from shmlint.docker.accelerators import OF_PROGRAMS
from shmlint.docker.sizes import human
from shmlint.formats.live.facts import Facts, Gpus, Limit
from shmlint.formats.live.machine import Machine
from shmlint.model.launch import (
    GpuEvidence,
    GpuRequest,
    Launch,
    Mount,
    ReadOnly,
    Size,
    Unknown,
    Value,
    Words,
)
from shmlint.model.settings import Settings
from shmlint.model.source import Source, Span

COMMAND = "the command"
ENVIRONMENT = "the environment"
"""The places of findings that are in no file."""

_COUNTS = (*OF_PROGRAMS, "NUM_SHARD", "TENSOR_PARALLEL_SIZE", "NPROC_PER_NODE")
"""Variables that are read besides the NCCL ones, and not shown: how many GPUs and processes there are."""


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
    return GpuRequest(count != 0, gpus.vendor, count or None, evidence, accelerator=gpus.label)
