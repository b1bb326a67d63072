"""SHM205: the size is set for the build only, and the container gets the default.

It says all that SHM101 would say of the launch, which is silent about it: both have one cause and one fix.
"""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import SEVERITIES, Finding, Fix, Reason, SetSize
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context, selected
from shmlint.rules.advice import lower, severity_of_need, stated
from shmlint.rules.wording import container, gap, gpu_evidence, why

RULE = Rule("SHM205", "build-only-shm-size", "warning")

SOURCE = "https://docs.docker.com/reference/compose-file/build/#shm_size"


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    if not launch.gpu.requested or not is_for_build_only(launch) or launch.build_shm is None:
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    if effective.decided_by != "default" or effective.bytes is None:
        return
    need = context.need(launch)
    meant = stated(launch, need, context.settings)
    if meant <= effective.bytes:
        return
    needed = severity_of_need(launch, need, context.settings)
    known = needed is not None and need.verdict != "unknown" and effective.bytes < need.floor
    lacks = gap(need, effective.bytes) if known else None
    yield Finding(
        RULE.id,
        lower(RULE.severity) if needed is None else max(RULE.severity, needed, key=SEVERITIES.index),
        launch.build_shm.span,
        f" gets {human(effective.bytes)} of /dev/shm{lacks.text if lacks else ''}: its shm_size is set under `build` "
        "and applies only there",
        launch,
        (*gpu_evidence(launch), *(need.evidence if known else ())),
        why=(
            Reason("the running container uses the `shm_size` of the service itself", source=SOURCE),
            *(why(need, context) if known else ()),
        ),
        fix=Fix(SetSize(meant)),
        about=container(launch),
        facts=(effective.bytes, lacks) if lacks else (effective.bytes,),
    )


def is_for_build_only(launch: Launch) -> bool:
    """Whether a launch has a size for its build and none for itself."""
    return launch.build_shm is not None and launch.shm is None


def replaces_shm101(launch: Launch, context: Context) -> bool:
    """Whether this rule says of a launch with the default size what SHM101 would say."""
    if not is_for_build_only(launch) or not selected(RULE, context.settings):
        return False
    return any(check(launch, context))
