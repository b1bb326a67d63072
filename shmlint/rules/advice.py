"""Advice: how severe a lack is, and which size to set."""

from __future__ import annotations

from shmlint.docker.sizes import spell_docker, spell_quantity
from shmlint.model.finding import SEVERITIES, Fix, SetSize, Severity
from shmlint.model.launch import Launch
from shmlint.model.need import UNKNOWN_RECOMMENDED, Need, Verdict
from shmlint.model.settings import Settings


def severity_of_need(launch: Launch, need: Need, settings: Settings) -> Severity | None:
    """Error where it is needed, warning where that is likely, note where nothing is known; None: nothing to say.

    A step lower where other readings of the same files come to another verdict, or the GPU is optional.
    """
    if need.verdict == "not-needed":
        return None
    level: Severity = "error" if need.verdict == "needed" else "warning"
    if need.verdict == "unknown":
        if settings.unknown_workload == "ignore":
            return None
        level = _UNKNOWN[settings.unknown_workload]
    return lowered(launch, level)


def lowered(launch: Launch, level: Severity) -> Severity:
    """A severity, a step lower where only one reading of the files has the fault, or the GPU is optional."""
    if launch.combination is not None and launch.combination.alone:
        level = lower(level)
    return lower(level) if launch.gpu.optional else level


_UNKNOWN: dict[str, Severity] = {"note": "note", "warn": "warning", "error": "error"}


def lower(severity: Severity) -> Severity:
    return SEVERITIES[max(SEVERITIES.index(severity) - 1, 0)]


def advised(launch: Launch, need: Need, settings: Settings) -> int:
    """The size in bytes that a fix writes: what is recommended, or the least where only that fits the memory limit."""
    if settings.shm_size:
        return settings.shm_size
    size = max(need.recommended or UNKNOWN_RECOMMENDED, need.minimum or 0)
    return size if fits(launch, size) or not need.minimum or not fits(launch, need.minimum) else need.minimum


LEAST_LIMIT = 6 * 1024 * 1024
"""Bytes; Docker refuses a lower memory limit, so that one says nothing of the memory there is."""


def fits(launch: Launch, size: int) -> bool:
    """Whether a /dev/shm of this size is below the memory limit, against which it counts."""
    limit = launch.memory_limit.known if launch.memory_limit is not None else None
    return limit is None or limit < LEAST_LIMIT or size < limit


def give(launch: Launch, size: int, *, severity: Severity, verdict: Verdict) -> tuple[Fix | None, str]:
    """The fix that gives a launch a size it never asked for, and what to do by hand where there is none.

    Where nothing is known of what runs, a size is a guess: it has to be asked for, or the settings make the
    finding a warning or an error.
    """
    if fits(launch, size):
        return Fix(SetSize(size), safe=verdict != "unknown" or severity != "note"), by_hand(launch, size)
    advice = "raise the memory limit, against which /dev/shm counts, above the size, and set"
    return None, f"{advice} {launch.words.shm_option} to {spelt(launch, size)}"


def stated(launch: Launch, need: Need, settings: Settings) -> int:
    """The size in bytes to write: the one that stands where it is dropped, if it is enough; else the advised one."""
    dropped = launch.shm if launch.swarm else launch.build_shm if launch.shm is None else None
    size = dropped.known if dropped is not None else None
    given = size.bytes if size is not None and size.bytes else 0
    return given if given and given >= need.floor else advised(launch, need, settings)


def by_hand(launch: Launch, size: int) -> str:
    """What to do for a size where the launch cannot be rewritten."""
    return launch.words.by_hand.replace("{size}", spelt(launch, size))


def spelt(launch: Launch, size: int) -> str:
    """A size as it is written where the launch is."""
    return spell_quantity(size) if launch.kind == "kubernetes-container" else spell_docker(size)
