"""SHM209: a /dev/shm that is at least as large as the memory limit, which includes it."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Evidence, Finding, Reason
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import LEAST_LIMIT, lower
from shmlint.rules.wording import gpu_evidence

RULE = Rule("SHM209", "exceeds-memory-limit", "warning")

SOURCE = "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files"
POD_SOURCE = "https://github.com/kubernetes/website/blob/ca046d9b1fd1affd005707645a4ca98042a7153e/content/en/docs/concepts/storage/volumes.md#emptydir"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    if launch.kind == "kubernetes-container":
        yield from _of_pod(launch)
        return
    limit = launch.memory_limit
    if not launch.gpu.requested or limit is None or limit.private or not limit.known or limit.known < LEAST_LIMIT:
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    if effective.bytes is None or effective.span is None or effective.bytes < limit.known:
        return
    if effective.decided_by == "shm_size":
        if launch.swarm or launch.shm is None or effective.private:
            return
        what = f"{launch.words.shm_option} {human(effective.bytes)}"
    elif effective.decided_by == "tmpfs" and "$" not in effective.span.text:  # which may give it another size
        what = f"the tmpfs of {human(effective.bytes)}"
    else:
        return
    than = "larger than" if effective.bytes > limit.known else "as large as"
    yield Finding(
        RULE.id,
        RULE.severity,
        effective.span,
        f": {what} is {than} the memory limit of {human(limit.known)}, "
        "which includes /dev/shm",
        launch,
        (*gpu_evidence(launch), Evidence("the memory limit", limit.span)),
        why=(Reason("/dev/shm counts against the limit: the program is killed before it is full", source=SOURCE),),
        advice="raise the memory limit, or lower the size",
        about=launch.words.launch,
        facts=(effective.decided_by, effective.bytes, limit.known),
    )


def _of_pod(launch: Launch) -> Iterator[Finding]:
    """A memory volume that is larger than the container's memory limit, or than its memory request.

    A volume without a size is limited by the pod's memory, which is intended.
    """
    mount = next((mount for mount in launch.mounts if mount.type == "emptydir" and mount.asked), None)
    bound = launch.memory_limit or launch.memory_request
    if mount is None or not mount.asked or not launch.gpu.requested or launch.undecided or bound is None:
        return
    if not bound.known or mount.asked < bound.known:
        return
    of, severity = "limit", RULE.severity
    reason = "/dev/shm counts against the limit: the program is killed before it is full"
    if launch.memory_limit is None:
        of, severity = "request", lower(RULE.severity)
        reason = "a pod that uses more than it requests is evicted first when the node runs out of memory"
    than = "larger than" if mount.asked > bound.known else "as large as"
    yield Finding(
        RULE.id,
        severity,
        mount.span,
        f": the memory volume of {human(mount.asked)} is {than} the memory {of} of "
        f"{human(bound.known)}, which includes /dev/shm",
        launch,
        (*gpu_evidence(launch), Evidence(f"the memory {of}", bound.span)),
        why=(Reason(reason, source=POD_SOURCE),),
        advice=f"raise the memory {of}, or lower `sizeLimit`",
        about=launch.words.launch,
        facts=(of, mount.asked, bound.known),
    )
