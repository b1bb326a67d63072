"""SHM208: a mount on /dev/shm that overrides the size."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Evidence, Finding, Reason
from shmlint.model.launch import Launch, Unknown, deciding_mount, is_replaced, mounts_hosts_shm
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.wording import gpu_evidence

RULE = Rule("SHM208", "mount-hides-shm-size", "warning")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    size = launch.shm.known if launch.shm else None
    mount = deciding_mount(launch)
    if launch.swarm or not launch.gpu.requested or launch.shm is None or mount is None:
        return
    if size is not None and not size.bytes:
        return
    if is_replaced(launch, mount.span) or (launch.ipc and launch.ipc.known == "host" and mounts_hosts_shm(launch)):
        return  # with the host's IPC namespace it is there anyway, and SHM204 reports the size
    tmpfs = mount.size if isinstance(mount.size, int) else 0
    if mount.type == "tmpfs":
        given = human(tmpfs) if tmpfs else "half of the host's memory"
        given = "the size of an env file" if mount.private else given
        gives = f"the tmpfs on {mount.target} gives {given}"
    elif mount.type == "bind":
        gives = f"the host's {mount.source or mount.target} is mounted on {mount.target}"
    elif isinstance(mount.size, Unknown):
        gives = f"the volume `{mount.source}` is mounted on {mount.target}"
    else:
        gives = f"a volume on disk is mounted on {mount.target}"
    or_delete = "" if mount.type == "volume" else f", or delete the {launch.words.shm_option}"  # nobody means a disk
    yield Finding(
        RULE.id,
        RULE.severity,
        launch.shm.span,
        f": {launch.words.shm_option} has no effect: {gives}",
        launch,
        (*gpu_evidence(launch), Evidence("this takes effect", mount.span)),
        why=(Reason("a mount on /dev/shm or /dev replaces the one that the size applies to"),),
        advice=f"delete the mount{or_delete}",
        about=launch.words.launch,
        facts=(mount.type, mount.target, mount.source, mount.private or tmpfs),
    )
