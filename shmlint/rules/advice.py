"""How severe a lack of shared memory is, and which size to set."""

from __future__ import annotations

from shmlint.docker.sizes import rounded, spell_docker, spell_quantity
from shmlint.model.finding import SEVERITIES, Fix, SetSize, Severity
from shmlint.model.launch import Launch, deciding_mount
from shmlint.model.need import UNKNOWN_RECOMMENDED, Need, Verdict
from shmlint.model.settings import Settings


def severity_of_need(launch: Launch, need: Need, settings: Settings) -> Severity | None:
    """Error if it is needed, warning if that is likely, note if the program is unknown; None: no finding.

    Lower if other combinations of the files get another verdict, or if the GPU is not always requested.
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
    """A severity, one level lower if only one combination of files has the fault or the GPU is optional.

    If a script requests the GPU in some branches only, at most a warning: what runs in these may be something else.
    The same goes for words that a program gets which is not known to run them.
    """
    if launch.combination is not None and launch.combination.how == "alone":
        level = lower(level)
    if launch.gpu.in_branches and level == "error":
        return "warning"
    return lower(level) if launch.gpu.optional else level


_UNKNOWN: dict[str, Severity] = {"note": "note", "warn": "warning", "error": "error"}


def lower(severity: Severity) -> Severity:
    return SEVERITIES[max(SEVERITIES.index(severity) - 1, 0)]


def of_settings(need: Need, settings: Settings) -> int:
    """The size in bytes that the settings give for every workload; 0 where there is none, or this one needs more."""
    given = settings.shm_size or 0
    return given if given >= need.floor else 0


def advised(launch: Launch, need: Need, settings: Settings) -> int:
    """The size in bytes that a fix writes: the recommended one, or the least if only that fits the memory limit."""
    given = of_settings(need, settings)
    if given:
        return given
    size = max(need.recommended or UNKNOWN_RECOMMENDED, need.minimum or 0)
    least = need.minimum or (rounded(need.total) if need.total else 0)
    least = least or (UNKNOWN_RECOMMENDED if need.is_our_choice else 0)
    return size if fits(launch, size) or not least or not fits(launch, least) else least


LEAST_LIMIT = 6 * 1024 * 1024
"""Bytes. Docker refuses a lower memory limit, so a lower one is ignored here."""


def fits(launch: Launch, size: int) -> bool:
    """Whether a /dev/shm of this size is below the memory limit, which includes it."""
    limit = launch.memory_limit.known if launch.memory_limit is not None else None
    return limit is None or limit < LEAST_LIMIT or size < limit


def give(launch: Launch, size: int, *, severity: Severity, verdict: Verdict) -> tuple[Fix | None, str]:
    """The fix that sets a size for a launch that has none, and the advice where there is no fix.

    If the program is unknown, the size is a guess: the fix is unsafe unless the settings make the
    finding a warning or an error.
    """
    if fits(launch, size):
        return Fix(SetSize(size), safe=verdict != "unknown" or severity != "note"), by_hand(launch, size)
    advice = "raise the memory limit, which includes /dev/shm, above this size, and set"
    return None, f"{advice} {launch.words.shm_option} to {spelt(launch, size)}"


def in_the_way(launch: Launch, size: int) -> str:
    """What to do by hand where a size, once it is valid, would have no effect or be above the memory limit."""
    if not launch.gpu.requested or (launch.ipc is not None and launch.ipc.known == "host"):
        return ""
    mount = deciding_mount(launch)
    if mount is not None:
        return f"delete the mount on {mount.target}, which takes effect, and write {spelt(launch, size)}"
    if not fits(launch, size):
        return f"raise the memory limit, which includes /dev/shm, above {spelt(launch, size)}, and write that"
    return ""


def stated(launch: Launch, need: Need, settings: Settings) -> int:
    """The size in bytes to write: the one that is set in an ignored place if it is enough, else the advised one."""
    dropped = launch.shm if launch.swarm else launch.build_shm if launch.shm is None else None
    size = dropped.known if dropped is not None else None
    given = size.bytes if size is not None and size.bytes else 0
    return given if given and given >= need.floor else advised(launch, need, settings)


def by_hand(launch: Launch, size: int) -> str:
    """How to set a size by hand, for launches that cannot be rewritten."""
    return launch.words.by_hand.replace("{size}", spelt(launch, size))


def spelt(launch: Launch, size: int) -> str:
    """A size in the syntax of the launch's format."""
    return spell_quantity(size) if launch.kind == "kubernetes-container" else spell_docker(size)
