"""GPU402: an invalid GPU request."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import CorrectGpuRequest, Finding, Fix
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context

RULE = Rule("GPU402", "invalid-gpu-request", "error", as_written=True)


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    for fault in launch.gpu.invalid:
        yield Finding(
            RULE.id,
            RULE.severity,
            fault.span,
            f": {fault.message}",
            launch,
            fix=Fix(CorrectGpuRequest(fault.span)) if fault.changes else None,
            advice=fault.advice,
            subject=f"{fault.kind} {fault.at}",
            about=launch.words.launch,
        )
