"""SHM103: a size above the minimum, but below the recommended one."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Finding
from shmlint.model.launch import Launch
from shmlint.model.need import Need
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import fits, of_settings
from shmlint.rules.wording import container, gpu_evidence, why
from shmlint.workloads.knowledge import entry_of

RULE = Rule("SHM103", "shm-size-below-recommended", "note")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    if not launch.gpu.requested:
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    if effective.decided_by not in ("shm_size", "emptydir") or effective.bytes is None:
        return
    need = context.need(launch)
    wanted = of_settings(need, context.settings) or need.recommended
    if not _advised(need) or wanted is None or not need.floor <= effective.bytes < wanted:
        return
    known = entry_of(need.workload)
    if need.given and known is not None and effective.bytes >= (known.recommended or wanted):
        return  # it is what the program's makers recommend, whatever another page gives it
    if not fits(launch, wanted):
        return
    private = effective.private
    given = "the /dev/shm of an env file" if private else f"{human(effective.bytes)} of /dev/shm"
    yield Finding(
        RULE.id,
        RULE.severity,
        effective.span or launch.home,
        f" gets {given} where {human(wanted)} is advised",
        launch,
        (*gpu_evidence(launch), *need.evidence),
        why(need, context),
        advice=f"raise it to {human(wanted)} if /dev/shm runs full",
        about=container(launch),
        facts=(private or effective.bytes, wanted),
    )


def _advised(need: Need) -> bool:
    """Whether there is a recommended size for the program, or for the one that is likely to run."""
    if need.verdict == "needed":
        return not need.is_our_choice
    if need.verdict != "likely":
        return False
    workload = entry_of(need.workload)
    return workload is not None and workload.needs == "yes"
