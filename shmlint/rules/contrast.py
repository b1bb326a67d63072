"""Commands of pages that may be meant as they are: what fails, beside what works, and what is told of the past."""

from __future__ import annotations

import re

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
    return any(
        other.span.path == launch.span.path and other.kind == launch.kind and _has(other, context, floor)
        and _beside_memory(other) == _beside_memory(launch) and _are_near(launch, other)
        for other in context.launches
    )  # fmt: skip


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
