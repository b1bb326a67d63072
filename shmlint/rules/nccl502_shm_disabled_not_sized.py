"""NCCL502: NCCL's use of shared memory is disabled instead of /dev/shm being enlarged."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Evidence, Finding, Fix, SetSize
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import by_hand, stated
from shmlint.rules.nccl import is_on
from shmlint.rules.wording import gpu_evidence, why

RULE = Rule("NCCL502", "shm-disabled-not-sized", "warning")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    variable = context.environment(launch).get("NCCL_SHM_DISABLE")
    if variable is None:
        return

    effective = launch.effective_shm(context.settings.default_shm_size)
    if not is_on(variable) or effective.bytes is None:
        return
    need = context.need(launch)
    if need.verdict == "not-needed" or effective.bytes >= need.floor:
        return
    sizeable = effective.decided_by in ("default", "shm_size")
    private = effective.private
    size = "what an env file says" if private else human(effective.bytes)
    wanted = stated(launch, need, context.settings)
    how = by_hand(launch, wanted) if sizeable and not private else "increase the size of /dev/shm"
    evidence = [*gpu_evidence(launch)]
    if effective.span is not None:
        evidence.append(Evidence("this decides /dev/shm", effective.span))
    yield Finding(
        RULE.id,
        RULE.severity,
        variable.span,
        f" sets NCCL_SHM_DISABLE where /dev/shm is {size}: "
        "NCCL's pools still use it, and data goes over the network",
        launch,
        tuple(evidence),
        why(need, context),
        Fix(SetSize(wanted)) if sizeable and not private else None,
        advice=f"{how or 'set its size'}, and remove the variable",
        subject="NCCL_SHM_DISABLE",
        about=launch.words.launch,
        facts=(private or effective.bytes,),
    )
