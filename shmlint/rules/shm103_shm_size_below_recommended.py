"""SHM103: enough to start, less than the workload's maintainers advise."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Finding
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import fits
from shmlint.rules.wording import gpu_evidence, needs_line, needs_source, when

RULE = Rule("SHM103", "shm-size-below-recommended", "note")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    if not launch.gpu.requested:
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    if effective.decided_by not in ("shm_size", "emptydir") or effective.bytes is None:
        return
    need = context.need(launch)
    wanted = context.settings.shm_size or need.recommended
    if need.verdict != "needed" or wanted is None or not need.floor <= effective.bytes < wanted:
        return
    if not fits(launch, wanted):
        return
    shown = "from an env file " if launch.shm and launch.shm.private else f"{human(effective.bytes)} "
    option = "a memory volume of" if effective.decided_by == "emptydir" else launch.words.shm_option
    yield Finding(
        RULE.id,
        RULE.severity,
        effective.span or launch.home,
        f"{launch.words.launch} has {option} {shown}where {human(wanted)} is advised{when(launch)}",
        launch,
        (*gpu_evidence(launch), *need.evidence),
        needs_line(need),
        advice=f"raise it to {human(wanted)} when workers or batches grow",
        source=needs_source(need),
    )
