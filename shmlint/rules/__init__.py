"""Rules: a module each, with a ``RULE`` and one function ``check(launch, context)``.

A module is found by its name (``shm101_missing_shm_size.py``); its page is
``rules/SHM101-missing-shm-size.md``. There is no list to keep.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeVar, cast

from shmlint.docker.sizes import human
from shmlint.files.cache import Key
from shmlint.model.finding import SEVERITIES, Evidence, Finding, Fix, SetSize, Severity
from shmlint.model.launch import Launch
from shmlint.model.need import UNKNOWN_MINIMUM_SOURCE, UNKNOWN_RECOMMENDED, Need
from shmlint.model.rule import Rule
from shmlint.model.settings import Settings
from shmlint.model.source import Span
from shmlint.workloads.assess import assess
from shmlint.workloads.knowledge import Workload

T = TypeVar("T")

Check = Callable[[Launch, "Context"], Iterator[Finding]]


class Context:
    """What a rule may ask beside the launch itself."""

    __slots__ = ("_needs", "_results", "launches", "settings", "workloads")

    def __init__(
        self, settings: Settings, workloads: tuple[Workload, ...] = (), launches: Sequence[Launch] = ()
    ) -> None:
        self.settings = settings
        self.workloads = workloads
        self.launches = launches
        """Every launch of the run, for what one says about another."""
        self._results: dict[Key[Any], Any] = {}
        self._needs: dict[int, tuple[Launch, Need]] = {}

    def once(self, key: Key[T], make: Callable[[Context], T]) -> T:
        """What a rule makes of all launches, made when it is first asked for."""
        if key not in self._results:
            self._results[key] = make(self)
        return cast("T", self._results[key])

    def podman(self, launch: Launch) -> bool:
        """Whether Podman starts a launch: its own words say so, or the settings do."""
        return launch.podman or self.settings.engine == "podman"

    def engine(self, launch: Launch) -> str:
        """Whose default a launch gets, in words."""
        return "Podman" if self.podman(launch) else "Docker"

    def need(self, launch: Launch) -> Need:
        """How much /dev/shm a launch needs."""
        known = self._needs.get(id(launch))
        if known is None:
            known = self._needs[id(launch)] = (launch, assess(launch, self.workloads))
        return known[1]


_RULE = re.compile(r"[a-z]+[0-9]{3}_")


@cache
def all_rules() -> dict[str, tuple[Rule, Check]]:
    """Every rule by its id, in the order of the ids."""
    found = {}
    for name in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
        stem, _, ending = name.partition(".")
        if ending == "py" and _RULE.match(stem):
            module = import_module(f"{__name__}.{stem}")
            found[module.RULE.id] = (module.RULE, module.check)
    return found


def selected(rule: Rule, settings: Settings) -> bool:
    """Whether settings let a rule run. A longer prefix beats a shorter one, ignore beats select."""
    if settings.severity and configured(rule, settings) == "off":
        return False
    chosen = max((len(p) for p in settings.select if meant(rule, p)), default=-1)
    dropped = max((len(p) for p in settings.ignore if meant(rule, p)), default=-1)
    if chosen < 0 and (settings.select or not rule.default):
        return False
    return chosen > dropped or dropped < 0


def configured(rule: Rule, settings: Settings) -> Severity | Literal["off"] | None:
    """The severity that settings give to a rule; None: its own."""
    fitting = [(len(pattern), level) for pattern, level in settings.severity if meant(rule, pattern)]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


def meant(rule: Rule, pattern: str) -> bool:
    """Whether an id, the beginning of one, a name or ``all`` means a rule.

    An empty text means none.
    """
    if not pattern:
        return False
    return rule.name == pattern or rule.id.startswith(pattern.upper()) or pattern.upper() == "ALL"


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


def give(launch: Launch, size: int) -> tuple[Fix | None, str]:
    """The fix that gives a launch a size it never asked for, and what to do by hand where there is none."""
    if fits(launch, size):
        return Fix(SetSize(size)), by_hand(launch, size)
    from shmlint.docker.sizes import spell_docker

    advice = "raise the memory limit, against which /dev/shm counts, above the size, and set"
    return None, f"{advice} {launch.words.shm_option} to {spell_docker(size)}"


def needs_line(need: Need) -> str:
    """How much is needed and why."""
    name = need.workload.name if need.workload else ""
    because = f": {need.why}" if need.why else ""
    if need.verdict == "unknown" and need.workload is None:
        where = f": {need.stopped}" if need.stopped else ""
        return f"what it runs is not known{where}; NCCL or DataLoader workers need 512 MiB or more"
    if need.verdict in ("unknown", "likely"):
        amount = f", {human(need.recommended)} advised" if need.recommended else ""
        return f"{name or 'what it runs'} may need more{amount}{because}"
    least = f"{human(need.minimum)} at least" if need.minimum else "more"
    more = need.recommended and need.recommended != need.minimum
    amount = f", {human(need.recommended)} advised" if more and need.recommended else ""
    return f"{least}{amount}{because}"


def needs_source(need: Need) -> str:
    """Who says so."""
    return need.source or (UNKNOWN_MINIMUM_SOURCE if need.workload is None else "")


def gpu_evidence(launch: Launch) -> tuple[Evidence, ...]:
    """What asks for the GPU, in the file's own words where those say it."""
    return tuple(
        Evidence("asks for the GPU" if e.text in _around(e.span) else e.text, e.span)
        for e in launch.gpu.evidence[:1]
    )


def _around(span: Span) -> str:
    """What stands on a span's line; of a very long one what stands near by."""
    start, end = span.source.line_span(span.line)
    return span.source.text[max(start, span.start - 1000) : min(end, span.start + 1000)]


def when(launch: Launch) -> str:
    """The combination of files a finding speaks of, where there are others."""
    return f" ({launch.combination.text})" if launch.combination is not None else ""


def stated(launch: Launch, need: Need, settings: Settings) -> int:
    """The size in bytes to write: the one that stands where it is dropped, if it is enough; else the advised one."""
    dropped = launch.shm if launch.swarm else launch.build_shm if launch.shm is None else None
    size = dropped.known if dropped is not None else None
    given = size.bytes if size is not None and size.bytes else 0
    return given if given and given >= need.floor else advised(launch, need, settings)


def by_hand(launch: Launch, size: int) -> str:
    """What to do for a size where the launch cannot be rewritten."""
    from shmlint.docker.sizes import spell_docker

    return launch.words.by_hand.replace("{size}", spell_docker(size))


def asks(launch: Launch) -> str:
    """What a launch asks for, in words."""
    names = {"nvidia": "NVIDIA ", "amd": "AMD ", "intel": "Intel "}
    label = names.get(launch.gpu.vendor or "", "")
    count = launch.gpu.count
    if count == "all":
        return f"all {label}GPUs"
    if count == 1:
        return f"one {label}GPU"
    return f"{count} {label}GPUs" if count else f"{label}GPUs"
