"""Commands of pages that may be meant as they are: what fails, beside what works, and what is told of the past."""

from __future__ import annotations

import re
from bisect import bisect_left

from shmlint.files.cache import Key
from shmlint.model.finding import Fix, Reason, Severity
from shmlint.model.launch import Launch, Value
from shmlint.rules import Context

_PAGE = re.compile(r"(?i)\.(?:md|mdx|markdown|qmd|rst)$")
_OF_THE_PAST = re.compile(r"(?i)(?:^|/)(?:change[-_]?log|changes|history|news|release[-_]?notes)(?:[-_.][^/]*)?$")


def meant_so(launch: Launch, context: Context, floor: int) -> tuple[Reason, ...]:
    """Why a command of a page may be meant to have less than ``floor`` bytes; empty for others."""
    if launch.kind != "docker-run" or _PAGE.search(launch.span.path) is None:
        return ()
    if _OF_THE_PAST.search(launch.span.path) is not None:
        return (Reason("this page tells of changes: the command may be one of the past", "page"),)
    if _is_shown_with_more(launch, context, floor):
        return (Reason("it shows the same command with more shared memory, too: this one may fail on purpose", "page"),)
    return ()


def _is_shown_with_more(launch: Launch, context: Context, floor: int) -> bool:
    """Whether a page has the same command with at least ``floor`` bytes, or the host's /dev/shm, in one section."""
    same = context.once(_SIZED, _sized).get((launch.span.path, _beside_memory(launch)), [])
    place = bisect_left(same, launch.span.start, key=lambda other: other.span.start)
    near = same[max(0, place - _NEAREST) : place + _NEAREST]
    return any(_has(other, context, floor) and _are_near(launch, other) for other in near)


_NEAREST = 3
"""Commands before and behind one that are compared with it."""
_SIZED: Key[dict[tuple[str, tuple[object, ...]], list[Launch]]] = Key("commands of pages with shared memory")


def _sized(context: Context) -> dict[tuple[str, tuple[object, ...]], list[Launch]]:
    """The commands of pages that are given a /dev/shm, by what else they say, in their order."""
    found: dict[tuple[str, tuple[object, ...]], list[Launch]] = {}
    for launch in context.launches:
        if launch.kind == "docker-run" and _PAGE.search(launch.span.path) is not None and _is_given(launch, context):
            found.setdefault((launch.span.path, _beside_memory(launch)), []).append(launch)
    for same in found.values():
        same.sort(key=lambda launch: launch.span.start)
    return found


def _is_given(launch: Launch, context: Context) -> bool:
    return launch.effective_shm(context.settings.default_shm_size).decided_by != "default"


def _are_near(one: Launch, other: Launch) -> bool:
    """Whether no heading stands between two commands: under another one the same command is for something else."""
    first, second = sorted((one.span.start, other.span.start))
    return re.search(_HEADING, one.span.source.text[first:second]) is None


_HEADING = r"(?m)^(?:[ \t]*|`{3,})\n#{1,6} |^#{2,6} |^(?:=|-|~|\^){4,}[ \t]*$"
"""A comment in code is none: it follows a line of it."""


def left_to_people(fix: Fix | None, severity: Severity) -> tuple[Fix | None, Severity]:
    """A fix that is applied only where somebody asks for it, and at most a warning."""
    return fix and fix._replace(safe=False), "warning" if severity == "error" else severity


def _has(launch: Launch, context: Context, floor: int) -> bool:
    effective = launch.effective_shm(context.settings.default_shm_size)
    return effective.decided_by != "default" and (effective.bytes is None or effective.bytes >= floor)


def _beside_memory(launch: Launch) -> tuple[object, ...]:
    """What a command says of everything but shared memory."""
    gpu = tuple(evidence.text for evidence in launch.gpu.evidence)
    environment = tuple((name, value.text) for name, value in sorted(launch.environment.items()))
    return (
        launch.engine, launch.names, _text(launch.image), _text(launch.entrypoint), _text(launch.command), gpu,
        environment, tuple((bind.source, bind.target) for bind in launch.binds), launch.other_options,
    )  # fmt: skip


def _text(value: Value[object] | None) -> str | None:
    return value.text if value is not None else None
