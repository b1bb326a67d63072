"""SHM210: a size in a place where it is not read."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Fix, MoveSize
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context
from shmlint.rules.advice import lower

RULE = Rule("SHM210", "misplaced-shm-size", "error", as_written=True)


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    for wrong in launch.misplaced:
        sure = not wrong.perhaps or context.need(launch).workload is not None
        yield Finding(
            RULE.id,
            RULE.severity if sure else lower(RULE.severity),
            wrong.span,
            f": {wrong.message}",
            launch,
            fix=Fix(MoveSize(wrong.at), safe=sure) if wrong.changes else None,
            advice=wrong.advice or f"set `{launch.words.shm_option}` on the container itself, and delete this",
            subject=wrong.at,
            about=launch.words.launch,
        )
