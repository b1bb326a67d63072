"""SHM205: the size is set for the build only, and the container gets the default."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Finding, Fix, Reason, SetSize
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import lower, severity_of_need, stated
from shmlint.rules.wording import container, gpu_evidence

RULE = Rule("SHM205", "build-only-shm-size", "warning")

SOURCE = "https://docs.docker.com/reference/compose-file/build/#shm_size"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    if not launch.gpu.requested or launch.build_shm is None or launch.shm is not None:
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    if effective.decided_by != "default" or effective.bytes is None:
        return
    need = context.need(launch)
    meant = stated(launch, need, context.settings)
    if meant <= effective.bytes:
        return
    unneeded = severity_of_need(launch, need, context.settings) is None
    yield Finding(
        RULE.id,
        lower(RULE.severity) if unneeded else RULE.severity,
        launch.build_shm.span,
        f" gets {human(effective.bytes)} of /dev/shm: its shm_size is set under `build` "
        "and applies only there",
        launch,
        gpu_evidence(launch),
        why=(Reason("the running container uses the `shm_size` of the service itself", source=SOURCE),),
        fix=Fix(SetSize(meant)),
        about=container(launch),
        facts=(effective.bytes,),
    )
