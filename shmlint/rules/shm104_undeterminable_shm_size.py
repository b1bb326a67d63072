"""SHM104: the size of a launch's /dev/shm depends on something unknown."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding
from shmlint.model.launch import Launch, Unknown
from shmlint.model.rule import Rule
from shmlint.model.source import Span
from shmlint.rules import Context
from shmlint.rules.advice import severity_of_need
from shmlint.rules.wording import gpu_evidence

RULE = Rule("SHM104", "undeterminable-shm-size", "note", default=False)


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    extended = launch.undecided is not None and launch.undecided.kind == "extended"
    if launch.gpu.requested is False or extended:
        return
    need = context.need(launch)
    if severity_of_need(launch, need, context.settings) is None or (_nothing_said(launch) and need.verdict != "needed"):
        return
    effective = launch.effective_shm(context.settings.default_shm_size)
    missing = _missing(launch, context)
    if missing is not None:
        unknown, span, advice = missing
        because = effective.because
        what = "the size of its /dev/shm is"
        if launch.gpu.requested is None:
            what = "its GPU request and the size of its /dev/shm are"
    elif launch.gpu.requested is None and effective.decided_by == "default" and (effective.bytes or 0) < need.floor:
        unknown = launch.gpu.unknown or Unknown("variable", "")
        because, span, what = unknown.because, launch.home, "whether it asks for a GPU is"
        advice = "write the request into the file, or give the variable a default there"
    else:
        return
    yield Finding(
        RULE.id,
        RULE.severity,
        span,
        f": {what} unknown: {because}",
        launch,
        gpu_evidence(launch),
        advice=advice,
        about=launch.words.launch,
        facts=(launch.gpu.requested, missing is None, unknown.kind, unknown.name),
    )


def _nothing_said(launch: Launch) -> bool:
    """Whether unknown arguments could be anything, and nothing mentions a GPU."""
    unknown = launch.gpu.unknown
    if launch.gpu.requested is not None or launch.undecided is None or unknown is None:
        return False
    return unknown.kind != "runtime" and "gpu" not in unknown.name.lower()


def _missing(launch: Launch, context: Context) -> tuple[Unknown, Span, str] | None:
    """What of the size is unknown, where that is written, and what would make it known.

    None if it is known, if the host decides it, or if it is invalid, which other rules report.
    """
    effective = launch.effective_shm(context.settings.default_shm_size)
    span = effective.span or launch.home
    sizes = (mount.size for mount in launch.mounts if mount.span == effective.span)
    unknown = next((size for size in sizes if isinstance(size, Unknown)), None)
    if unknown is not None:
        advice = "give the size a default in the file"
        if unknown.kind == "engine" and launch.kind == "compose-service":
            advice = "define the volume in the file, as a tmpfs with a size"
    elif effective.decided_by == "donor" and effective.bytes is None and effective.because:
        unknown = Unknown("file", effective.because, launch.ipc.text if launch.ipc is not None else "")
        advice = "define the container that it joins in the same files, with its own size"
    elif effective.decided_by != "unknown":
        return None
    elif launch.ipc is not None and isinstance(launch.ipc.value, Unknown):
        unknown, advice = launch.ipc.value, "give the mode a default in the file"
    elif launch.shm is not None and isinstance(launch.shm.value, Unknown):
        unknown = launch.shm.value
        advice = f"give it a default: `${{SHM_SIZE:-8g}}` instead of `{launch.shm.text}`"
        if launch.kind == "devcontainer":  # each machine may set another, whatever the default
            advice = f"write a size instead of `{launch.shm.text}`"
    elif launch.undecided is None:
        return None
    elif launch.kind == "compose-service":
        unknown, advice = launch.undecided, "list the files that start it in the settings, under `projects`"
    else:
        unknown, advice = launch.undecided, f"write {launch.words.shm_option} where the container is started"
    return unknown, span, advice
