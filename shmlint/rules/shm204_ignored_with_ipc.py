"""SHM204: a size that has no effect because of the IPC mode."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import DropSize, Evidence, Finding, Fix, Reason
from shmlint.model.launch import JOINING, Launch, deciding_mount, is_replaced, mounts_hosts_shm
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.wording import gpu_evidence

RULE = Rule("SHM204", "ignored-with-ipc", "note")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    mode = launch.ipc.known if launch.ipc else None
    size = launch.shm.known if launch.shm else None
    if launch.swarm or launch.shm is None or launch.ipc is None or mode is None:
        return
    if launch.ipc.varies or launch.undecided is not None:
        return  # with another mode the size is used
    if size is not None and not size.bytes:
        return
    joins = mode.startswith(JOINING)
    if mode not in ("host", "none") and not joins:
        return
    decides = {"host": "the host's /dev/shm is used", "none": "no /dev/shm is mounted"}.get(
        mode, "the other container's /dev/shm is used"
    )
    option = launch.words.ipc(launch.ipc.shown or mode)
    # Podman refuses these two (pkg/specgen/container_validate.go); for joined namespaces it depends on the version.
    refused = context.podman(launch) and mode in ("host", "none")
    by_mount = launch.gpu.requested and deciding_mount(launch) and not mounts_hosts_shm(launch)
    if not refused and (by_mount or is_replaced(launch, launch.ipc.span)):
        return  # the mount decides, which SHM208 reports
    yield Finding(
        RULE.id,
        "error" if refused else RULE.severity,
        launch.shm.span,
        f": {launch.words.shm_option} {'is refused' if refused else 'has no effect'} "
        f"together with `{option}`: {'Podman does not start the container' if refused else decides}",
        launch,
        (*gpu_evidence(launch), Evidence("this takes effect", launch.ipc.span)),
        why=(Reason("Docker ignores the size; Podman refuses to start"),),
        fix=Fix(DropSize(), safe=not refused),
        advice=f"delete the {launch.words.shm_option}, or delete the `{option}` and keep the size",
        about=launch.words.launch,
        facts=(refused, mode, launch.ipc.shown),
    )
