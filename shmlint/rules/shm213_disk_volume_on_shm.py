"""SHM213: a volume on disk mounted on /dev/shm."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Fix, Reason, SetSize
from shmlint.model.launch import Launch, Unknown
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import advised, fits
from shmlint.rules.wording import gpu_evidence, when

RULE = Rule("SHM213", "disk-volume-on-shm", "warning")

SOURCE = "https://github.com/kubernetes/website/blob/ca046d9b1fd1affd005707645a4ca98042a7153e/content/en/docs/concepts/storage/volumes.md#emptydir"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    if launch.kind != "kubernetes-container" or not launch.gpu.requested:
        return
    mount = next((mount for mount in reversed(launch.mounts) if mount.target == "/dev/shm"), None)
    if mount is None or mount.type != "volume" or isinstance(mount.size, Unknown):
        return
    size = advised(launch, context.need(launch), context.settings)
    if mount.asked and mount.asked > size and fits(launch, mount.asked):
        size = mount.asked
    yield Finding(
        RULE.id,
        RULE.severity,
        mount.span,
        f"{launch.words.launch} mounts the volume `{mount.source}` on /dev/shm, which is on disk, not in memory"
        f"{when(launch)}",
        launch,
        gpu_evidence(launch),
        why=(Reason("every data exchange waits for the disk", source=SOURCE),),
        # Unsafe: the volume's content then counts against the memory limit.
        fix=Fix(SetSize(size), safe=False) if fits(launch, size) else None,
        advice="give the volume `emptyDir: {medium: Memory}`, and a memory limit above its size",
    )
