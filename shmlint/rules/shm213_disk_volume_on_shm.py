"""SHM213: a volume on disk mounted on /dev/shm."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Fix, Reason, SetSize
from shmlint.model.launch import Launch, Mount, Unknown
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import advised, fits, spelt
from shmlint.rules.wording import gpu_evidence

RULE = Rule("SHM213", "disk-volume-on-shm", "warning")

SOURCE = "https://github.com/kubernetes/website/blob/ca046d9b1fd1affd005707645a4ca98042a7153e/content/en/docs/concepts/storage/volumes.md#emptydir"


DOCKER_SOURCE = "https://docs.docker.com/engine/storage/volumes/"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    mount = next((mount for mount in reversed(launch.mounts) if mount.target == "/dev/shm"), None)
    if mount is None or mount.type != "volume" or isinstance(mount.size, Unknown) or not launch.gpu.requested:
        return
    if launch.kind == "kubernetes-container":
        yield _of_pod(launch, mount, context)
    elif not mount.source and launch.shm is None and context.need(launch).verdict != "not-needed":
        yield _anonymous(launch, mount, context)


def _of_pod(launch: Launch, mount: Mount, context: Context) -> Finding:
    size = advised(launch, context.need(launch), context.settings)
    if mount.asked and mount.asked > size and fits(launch, mount.asked):
        size = mount.asked
    return Finding(
        RULE.id,
        RULE.severity,
        mount.span,
        f" mounts the volume `{mount.source}` on /dev/shm, which is on disk, not in memory",
        launch,
        gpu_evidence(launch),
        why=(Reason("every data exchange waits for the disk", source=SOURCE),),
        # Unsafe: the volume's content then counts against the memory limit.
        fix=Fix(SetSize(size), safe=False) if fits(launch, size) else None,
        advice="give the volume `emptyDir: {medium: Memory}`, and a memory limit above its size",
        about=launch.words.launch,
        facts=(mount.source,),
    )


def _anonymous(launch: Launch, mount: Mount, context: Context) -> Finding:
    """A volume without a name is always on disk; one with a name may have been created as a tmpfs."""
    size = spelt(launch, advised(launch, context.need(launch), context.settings))
    return Finding(
        RULE.id,
        RULE.severity,
        mount.span,
        " mounts an anonymous volume on /dev/shm, which is on disk, not in memory",
        launch,
        gpu_evidence(launch),
        why=(Reason("every data exchange waits for the disk", source=DOCKER_SOURCE),),
        advice=f"delete the mount, and set {launch.words.shm_option} to {size}",
        about=launch.words.launch,
    )
