"""GPU402: a request for GPUs that is refused."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Fix
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context

RULE = Rule("GPU402", "invalid-gpu-request", "error")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    for slip in launch.gpu.invalid:
        changes = slip.changes
        yield Finding(
            RULE.id,
            RULE.severity,
            slip.span,
            f"{launch.words.launch}: {slip.message}",
            launch,
            fix=Fix(changes[0].title, changes, after=_read_as_it_was_meant) if changes else None,
            advice=slip.advice,
            subject=slip.message,
        )


def _read_as_it_was_meant(launch: Launch) -> Launch:
    """The same: a refused request is already read for what it was meant to be."""
    return launch
