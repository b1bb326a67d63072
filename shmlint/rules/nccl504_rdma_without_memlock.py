"""NCCL504: RDMA devices without permission to lock memory."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human, soft_limit
from shmlint.model.finding import Evidence, Finding, Fix, Reason, SetUlimit
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.nccl import infiniband
from shmlint.rules.wording import gpu_evidence

RULE = Rule("NCCL504", "rdma-without-memlock", "error")

ENOUGH = 1 << 30
"""Bytes. A limit of this size or more is taken to be deliberate."""

_DOCS = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    if not launch.devices or launch.privileged is not False or launch.undecided or launch.swarm:
        return
    if not launch.gpu.requested and not any("NCCL_" in name for name in launch.environment):
        return  # storage uses RDMA too, and how much memory it locks is unknown

    device = infiniband(launch)
    if device is None or _may_lock(launch):
        return
    limit = launch.ulimits.get("memlock")
    low = limit is not None
    how = "without `ulimit memlock=-1`"
    if limit is not None:
        how = f"with memlock at {human(soft_limit(limit.text) or 0)}"
    evidence = [*gpu_evidence(launch)]
    if limit is not None:
        evidence.append(Evidence("this is the limit", limit.span))
    yield Finding(
        RULE.id,
        RULE.severity,
        device.span,
        f" passes /dev/infiniband {how}: "
        "NCCL cannot register its buffers",
        launch,
        tuple(evidence),
        (Reason("RDMA locks its buffers in memory; `memlock: -1` or IPC_LOCK allows that", source=_DOCS),),
        Fix(SetUlimit("memlock", "-1")),
        advice=f"{'raise' if low else 'set'} the memlock ulimit to -1",
        about=launch.words.launch,
        facts=(limit.text if limit is not None else None,),
    )


def _may_lock(launch: Launch) -> bool:
    """Whether the container may lock enough memory, or whether that is unknown."""
    for capability in launch.cap_add:
        if "$" in capability or capability.upper().removeprefix("CAP_") in ("IPC_LOCK", "ALL"):
            return True
    if any("$" in name for name in launch.ulimits):
        return True
    limit = launch.ulimits.get("memlock")
    if limit is None:
        return False
    soft = None if limit.because or limit.private else soft_limit(limit.known)
    return soft is None or soft < 0 or soft >= ENOUGH
