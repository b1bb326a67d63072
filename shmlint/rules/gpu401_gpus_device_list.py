"""GPU401: a device list without the quotation marks it needs."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Fix, QuoteDevices, Reason
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context

RULE = Rule("GPU401", "gpus-device-list", "error", as_written=True)


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """The findings for one launch."""
    for fault in launch.gpu.device_lists:
        yield Finding(
            RULE.id,
            RULE.severity if fault.certain else "warning",
            fault.span,
            f": {fault.message}",
            launch,
            why=(Reason(f"Docker needs quotation marks around the list: {fault.right}"),) if fault.right else (),
            fix=Fix(QuoteDevices(fault.span)) if fault.changes else None,
            advice=fault.advice,
            about=launch.words.launch,
            facts=(fault.kind, fault.at),
        )
