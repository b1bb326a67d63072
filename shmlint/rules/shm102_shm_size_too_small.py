"""SHM102: a size below what the workload needs to run."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Finding
from shmlint.model.launch import DOCKER_DEFAULT_SHM, Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import advised, give, severity_of_need
from shmlint.rules.contrast import left_to_people, meant_so
from shmlint.rules.wording import container, gap, gpu_evidence, least, why

RULE = Rule("SHM102", "shm-size-too-small", "error")

BARE_NUMBER = 1024 * 1024
"""Bytes. A smaller number without a unit was not meant as bytes; SHM203 reports it."""


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    if not launch.gpu.requested:
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    if effective.decided_by in ("default", "unknown") or effective.bytes is None:
        return
    size = launch.shm.known if launch.shm else None
    decided_by_size = effective.decided_by == "shm_size"
    if decided_by_size and size is not None and size.bare_number and effective.bytes < BARE_NUMBER:
        return
    need = context.need(launch)
    severity = severity_of_need(launch, need, context.settings)
    if severity is None or effective.bytes >= need.floor:
        return
    if severity == "error" and need.minimum is None and effective.bytes > DOCKER_DEFAULT_SHM:
        severity = "warning"  # the least size is an estimate or our choice
    if severity == "error" and launch.undecided is not None:
        severity = "warning"  # what is not known may hold another size
    private = effective.private
    amount = human(effective.bytes)
    given = {
        "donor": f"shares {amount} of /dev/shm",
        "none": f"has no /dev/shm (`{launch.words.ipc('none')}`)",
        "tmpfs": f"mounts {amount} on /dev/shm",
        "emptydir": f"mounts a memory volume of {amount} on /dev/shm",
    }.get(effective.decided_by, f"gets {amount} of /dev/shm")
    written = decided_by_size or effective.decided_by == "emptydir"
    if private:
        given = "gets too small a /dev/shm from an env file"
    lacks = gap(need, need.floor if private else effective.bytes)
    fix, advice = give(launch, advised(launch, need, context.settings), severity=severity, verdict=need.verdict)
    meant = meant_so(launch, context, need.floor)
    if meant:
        fix, severity = left_to_people(fix, severity)
    yield Finding(
        RULE.id,
        severity,
        effective.span or launch.home,
        f" {given}{lacks.text}",
        launch,
        (*gpu_evidence(launch), *need.evidence),
        (*why(need, context), *least(need), *meant),
        fix if written else None,
        advice=advice if written and not private else _advice(effective.decided_by, private),
        unknown_workload=need.verdict == "unknown",
        about=container(launch),
        facts=(effective.decided_by, private or effective.bytes, lacks),
    )


def _advice(decided_by: str, private: bool) -> str:
    if private:
        return "raise it in the env file"
    return {
        "donor": "set the size on the container whose IPC namespace this one joins",
        "none": "remove `ipc: none`, or mount a tmpfs on /dev/shm",
    }.get(decided_by, "raise the size of the mount on /dev/shm")
