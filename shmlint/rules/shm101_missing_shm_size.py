"""SHM101: a GPU launch with Docker's default /dev/shm of 64 MiB."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.docker.sizes import human
from shmlint.model.finding import Finding, Reason
from shmlint.model.launch import Launch, Unknown
from shmlint.model.need import Need
from shmlint.model.rule import Rule
from shmlint.rules import Context, selected
from shmlint.rules import shm205_build_only_shm_size as shm205
from shmlint.rules.advice import advised, give, severity_of_need, stated
from shmlint.rules.contrast import left_to_people, meant_so
from shmlint.rules.shm104_undeterminable_shm_size import RULE as UNDETERMINABLE
from shmlint.rules.shm212_variant_lacks_shm import replaces_shm101
from shmlint.rules.shm214_memory_volume_not_mounted import RULE as NOT_MOUNTED
from shmlint.rules.wording import container, gap, gpu_evidence, why

RULE = Rule("SHM101", "missing-shm-size", "error")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    if not launch.gpu.requested or (launch.shm is not None and _broken(launch)):
        return
    if any(item.changes or item.arguments for item in launch.misplaced):
        return  # SHM210 moves the size to where it applies, or says so: a second size would not start the program
    if launch.spare_volume is not None and selected(NOT_MOUNTED, context.settings):
        return  # SHM214 mounts the volume
    if shm205.replaces_shm101(launch, context):
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    need = context.need(launch)
    if launch.undecided is not None and effective.decided_by == "unknown":
        if _is_left_open(launch, need, context):
            yield _perhaps_missing(launch, need, launch.undecided)
        return
    if effective.decided_by != "default" or effective.bytes is None:
        return
    if need.looks:
        yield _only_looks(launch, need, context)
        return
    severity = severity_of_need(launch, need, context.settings)
    if severity is None or effective.bytes >= need.floor:
        return
    if need.verdict in ("unknown", "likely") and len(context.launches) > 1 and replaces_shm101(launch, context):
        return
    fix, advice = give(launch, stated(launch, need, context.settings), severity=severity, verdict=need.verdict)
    meant = meant_so(launch, context, need.floor) or _may_be_another(launch)
    if meant:
        fix, severity = left_to_people(fix, severity)
    lacks = gap(need, effective.bytes)
    yield Finding(
        RULE.id,
        severity,
        launch.home,
        f" gets {human(effective.bytes)} of /dev/shm{lacks.text}",
        launch,
        (*gpu_evidence(launch), *need.evidence),
        (*why(need, context), *meant),
        fix,
        advice=advice,
        unknown_workload=need.verdict == "unknown",
        about=container(launch),
        facts=(effective.bytes, lacks),
    )


def _may_be_another(launch: Launch) -> tuple[Reason, ...]:
    """Why a launch may start something else: it asks for GPUs in some branches, and its image depends on them, too."""
    if not launch.gpu.in_branches or launch.image is None or not launch.image.because:
        return ()
    return (Reason("in the branches without a GPU it may start another image", "branch"),)


def _only_looks(launch: Launch, need: Need, context: Context) -> Finding:
    """The finding for a command that only prints something, in an image whose maintainers ask for shared memory."""
    size = advised(launch, need, context.settings)
    fix, advice = give(launch, size, severity="note", verdict="unknown")
    given = human(context.settings.default_shm_size)
    return Finding(
        RULE.id,
        "note",
        launch.home,
        f" gets {given} of /dev/shm, less than its image recommends",
        launch,
        gpu_evidence(launch),
        (Reason("this command only prints information; programs in this image need more", source=need.source),),
        fix,
        advice=advice,
        about=container(launch),
        facts=(context.settings.default_shm_size, "looks"),
    )


def _is_left_open(launch: Launch, need: Need, context: Context) -> bool:
    """Whether only arguments that are not known leave a size open that is certainly needed; SHM104 says it, too."""
    unknown = launch.undecided
    if unknown is None or unknown.kind != "arguments" or not unknown.name or launch.image is None:
        return False  # another file replaces the launch, or its command is not read as one
    certain = severity_of_need(launch, need, context.settings) == "error"
    return certain and not selected(UNDETERMINABLE, context.settings)


def _perhaps_missing(launch: Launch, need: Need, unknown: Unknown) -> Finding:
    """The finding for a command that needs shared memory and gets none, unless arguments that are not known give it."""
    return Finding(
        RULE.id,
        "note",
        launch.home,
        f" needs more than Docker's default /dev/shm, and whether it gets that is unknown: {unknown.because}",
        launch,
        (*gpu_evidence(launch), *need.evidence),
        advice=f"write {launch.words.shm_option} where the container is started",
        about=container(launch),
        facts=("unknown", unknown.kind, unknown.name),
    )


def _broken(launch: Launch) -> bool:
    """Whether Compose ignores the size, which SHM202 reports."""
    size = launch.shm.known if launch.shm else None
    return size is not None and size.dropped_float
