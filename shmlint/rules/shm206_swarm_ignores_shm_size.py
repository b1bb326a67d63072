"""SHM206: a stack that sets options which ``docker stack deploy`` ignores."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Evidence, Finding, Fix, Reason, SetSize
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import lower, severity_of_need, stated
from shmlint.rules.wording import container, gpu_evidence

RULE = Rule("SHM206", "swarm-ignores-shm-size", "warning")

SOURCE = "https://github.com/docker/cli/blob/28f7560/cli/compose/types/types.go"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    if not launch.swarm:
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    if effective.decided_by != "default":
        return
    size = launch.shm.known if launch.shm else None
    sized = launch.shm is not None and (size is None or bool(size.bytes) or bool(size.error))
    # Without a GPU, `ipc` is often set for other reasons than shared memory.
    shares = launch.ipc is not None and launch.ipc.known != "private" and launch.gpu.requested is not False
    short = next((mount for mount in launch.mounts if launch.drops(mount) and mount.target == "/dev/shm"), None)
    if short is not None:
        place, ignored, option = short.span, "tmpfs", "the short `tmpfs` form"
    elif sized and launch.shm is not None:
        place, ignored, option = launch.shm.span, "shm_size", launch.words.shm_option
    elif shares and launch.ipc is not None:
        place, ignored, option = launch.ipc.span, launch.ipc.text, f"`ipc: {launch.ipc.text}`"
    else:
        return
    given = human(effective.bytes or 0)
    yield Finding(
        RULE.id,
        lower(RULE.severity) if launch.gpu.requested is False else RULE.severity,
        place,
        f" gets {given} of /dev/shm: `docker stack deploy` ignores {option}",
        launch,
        (Evidence(f"read as a stack: {launch.swarm}"), *gpu_evidence(launch)),
        why=(Reason("a stack sets the size of /dev/shm with a tmpfs, in the long form of `volumes`", source=SOURCE),),
        fix=Fix(SetSize(_meant(launch, context))) if sized and size is not None and size.bytes else None,
        advice="mount a tmpfs of this size on /dev/shm, in the long form of `volumes`"
        if sized or short is not None
        else "mount a tmpfs on /dev/shm, in the long form of `volumes`: a swarm cannot share IPC namespaces",
        about=container(launch),
        facts=(effective.bytes, ignored),
    )


def _meant(launch: Launch, context: Context) -> int:
    """The size that is set; for a GPU service that is known to need more, the advised one."""
    need = context.need(launch)
    if launch.gpu.requested and severity_of_need(launch, need, context.settings) == "error":
        return stated(launch, need, context.settings)
    size = launch.shm.known if launch.shm else None
    return size.bytes if size is not None and size.bytes else 0
