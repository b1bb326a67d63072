"""Reports: a module an output format. They read findings and launches, never rules or syntax."""

from __future__ import annotations

from collections import Counter

from shmlint.fixing.plan import planned
from shmlint.model.finding import Finding
from shmlint.model.launch import Launch
from shmlint.run import Run

VERSION = 2
"""Of everything that is written for programs: the keys of JSON keep their meaning for as long."""


def summary(run: Run, findings: list[Finding], fixed: int = 0) -> dict[str, int]:
    """The counts every report ends with. A service that two combinations start counts once."""
    levels = Counter(f.severity for f in findings)
    seen = {one(launch) for launch in run.launches}
    gpu = {one(launch): launch for launch in run.launches if launch.gpu.requested}
    return {
        "files": len(run.read),
        "launches": len(seen),
        "gpu_launches": len(gpu),
        "gpu_unknown": len({one(launch) for launch in run.launches if launch.gpu.requested is None}),
        "not_judged": sum(not judged(launch, run) for launch in gpu.values()),
        "error": levels["error"],
        "warning": levels["warning"],
        "note": levels["note"],
        "fixable": sum(1 for f in findings if f.fix is not None and f.fix.safe and planned(f) is not None),
        "fixed": fixed,
    }


def judged(launch: Launch, run: Run) -> bool:
    """Whether it is known of a launch with a GPU what it gets."""
    return launch.undecided is None and run.effective(launch).decided_by != "unknown"


def one(launch: Launch) -> tuple[object, ...]:
    """What readings of one launch have in common.

    A command in a function starts another container for each call that gives it other words.
    """
    at = (launch.kind, launch.name, launch.span.path, launch.span.start)
    return (*at, *_said(launch)) if launch.kind == "docker-run" else at


def _said(launch: Launch) -> tuple[object, ...]:
    """What a command says of its container."""
    values = (launch.image, launch.entrypoint, launch.command, *launch.environment.values())
    texts = (value.text if value is not None else None for value in values)
    effective = launch.effective_shm()
    gets = (effective.decided_by, effective.bytes, launch.gpu.requested, launch.gpu.number, launch.engine)
    return (*texts, *launch.environment, *gets, launch.other_options)


def dumps(body: object) -> str:
    """JSON for people and programs: other alphabets stay readable, control characters are escaped."""
    import json

    text = json.dumps(body, indent=2, ensure_ascii=False)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text).replace("\x7f", "\\u007f")


def escape(text: str) -> str:
    """A text with control characters made visible, so that no file can write to the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}" for c in text)
