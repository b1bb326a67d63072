"""SHM214: a memory volume that the container with the GPU does not mount."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Evidence, Finding, Fix, MountVolume
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.wording import container, gpu_evidence, why

RULE = Rule("SHM214", "memory-volume-not-mounted", "warning")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    spare = launch.spare_volume
    if spare is None or not launch.gpu.requested:
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    need = context.need(launch)
    if effective.decided_by != "default" or effective.bytes is None or need.verdict == "not-needed":
        return
    too_little = need.verdict == "needed" and effective.bytes < need.floor
    who = f"only by {' and '.join(f'`{name}`' for name in spare.mounted_by)}" if spare.mounted_by else "by no container"
    yield Finding(
        RULE.id,
        "error" if too_little else RULE.severity,
        spare.span,
        f" gets {human(effective.bytes)} of /dev/shm: the memory volume `{spare.name}` "
        f"is mounted {who}",
        launch,
        (*gpu_evidence(launch), Evidence("does not mount it", launch.home), *need.evidence),
        why(need, context),
        Fix(MountVolume(spare.name)),
        advice=f"mount `{spare.name}` on /dev/shm in this container",
        about=container(launch),
        facts=(effective.bytes, spare.name, spare.mounted_by),
    )
