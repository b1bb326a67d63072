"""GPU401: a list of GPUs that is not read as one."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Fix, QuoteDevices
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context

RULE = Rule("GPU401", "gpus-device-list", "error")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    for slip in launch.gpu.slips:
        yield Finding(
            RULE.id,
            RULE.severity,
            slip.span,
            f"{launch.words.launch}: {slip.message}",
            launch,
            needs=f"quotation marks that reach Docker: {slip.right}",
            fix=Fix(QuoteDevices(slip.span)) if slip.changes else None,
            advice=slip.advice,
        )
