"""Commands of pages that may be meant as they are: what fails, beside what works, and what is told of the past."""

from __future__ import annotations

import re
from math import inf

from shmlint.docker.sizes import docker_size
from shmlint.files.cache import Key
from shmlint.model.finding import Fix, Reason, Severity
from shmlint.model.launch import Launch, Value
from shmlint.rules import Context

_OF_THE_PAST = re.compile(r"(?i)(?:^|/)(?:change[-_]?log|changes|history|news|release[-_]?notes)(?:[-_.][^/]*)?$")

_OF_REPORTS = re.compile(r"(?i)(?:^|/)(?:issue|pull_request)_template(?:/|\.md$)")


def meant_so(launch: Launch, context: Context, floor: int) -> tuple[Reason, ...]:
    """Why a launch of a page may be meant to have less than ``floor`` bytes; empty for others."""
    if launch.section is None:
        return ()
    what = "command" if launch.kind == "docker-run" else "service"
    if _OF_THE_PAST.search(launch.span.path) is not None:
        return (Reason(f"this page tells of changes: the {what} may be one of the past", "page"),)
    if _OF_REPORTS.search(launch.span.path) is not None:
        return (Reason(f"this page is a form for reports: the {what} may be one that fails", "page"),)
    named = next((text for text in launch.remedies if _is_more(text, launch, floor)), None)
    if named is not None:
        return (Reason(f"the text around it names `{named}`: this {what} may fail on purpose", "page"),)
    if launch.kind == "docker-run" and context.once(_MOST, _most).get(_beside_memory(launch), 0) >= floor:
        return (Reason("it shows the same command with more shared memory, too: this one may fail on purpose", "page"),)
    return ()


def _is_more(text: str, launch: Launch, floor: int) -> bool:
    """Whether what is named beside a launch is not what it says itself: another size than its own, and enough."""
    option, size = re.split(r"[= ]+|$", text, maxsplit=1)
    if launch.shm is None or not option.rstrip(":").endswith(("shm-size", "shm_size")):
        return True
    given = docker_size(size).bytes if size else None
    return given is not None and given >= floor


_MOST: Key[dict[tuple[object, ...], float]] = Key("shared memory of the commands of pages")


def _most(context: Context) -> dict[tuple[object, ...], float]:
    """The most bytes that a section of a page gives a command, by what else that says; infinity for the host's."""
    found: dict[tuple[object, ...], float] = {}
    for launch in context.launches:
        if launch.kind == "docker-run" and launch.section is not None:
            effective = launch.effective_shm(context.settings.default_shm_size)
            if effective.decided_by != "default":
                given = inf if effective.bytes is None else effective.bytes
                key = _beside_memory(launch)
                found[key] = max(given, found.get(key, 0))
    return found


def left_to_people(fix: Fix | None, severity: Severity) -> tuple[Fix | None, Severity]:
    """A fix that is applied only where somebody asks for it, and at most a warning."""
    return fix and fix._replace(safe=False), "warning" if severity == "error" else severity


def _beside_memory(launch: Launch) -> tuple[object, ...]:
    """The section that a command is in, and what it says of everything but shared memory."""
    gpu = tuple(evidence.text for evidence in launch.gpu.evidence)
    environment = tuple((name, value.text) for name, value in sorted(launch.environment.items()))
    binds = tuple((bind.source, bind.target) for bind in launch.binds)
    return (
        launch.span.path, launch.section, launch.engine, launch.names, _text(launch.image), _text(launch.entrypoint),
        _text(launch.command), gpu, environment, binds, launch.other_options,
    )  # fmt: skip


def _text(value: Value[object] | None) -> str | None:
    return value.text if value is not None else None
