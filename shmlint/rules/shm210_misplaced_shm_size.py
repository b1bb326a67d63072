"""SHM210: a size where nothing reads it."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Fix, MoveSize
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context

RULE = Rule("SHM210", "misplaced-shm-size", "error")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    for slip in launch.misplaced:
        yield Finding(
            RULE.id,
            RULE.severity,
            slip.span,
            f"{launch.words.launch}: {slip.message}",
            launch,
            fix=Fix(MoveSize(slip.at)) if slip.changes else None,
            advice=slip.advice or f"set `{launch.words.shm_option}` where the container is described, and delete this",
            subject=slip.at,
        )
