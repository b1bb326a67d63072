"""What a finding says besides its message, as plain lines: why, on what basis, the source, what to type."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.fixing.plan import advice, planned
from shmlint.model.finding import Evidence, Finding
from shmlint.reports import escape
from shmlint.reports.text import BASES
from shmlint.rules import all_rules


def details(finding: Finding) -> Iterator[str]:
    """A line for each reason, each address, each place in another file, the remedy and the rule's page."""
    yield from reasons(finding)
    yield f"help: {all_rules()[finding.rule][0].help}"


def reasons(finding: Finding) -> Iterator[str]:
    """The same without the rule's page."""
    shown = set()
    for reason in finding.why:
        basis = f" ({BASES[reason.basis]})" if reason.basis is not None else ""
        yield f"{escape(reason.label) or 'why'}: {escape(reason.text)}{basis}"
        if reason.source and reason.source not in shown:
            shown.add(reason.source)
            yield f"source: {escape(reason.source)}"
    for evidence in elsewhere(finding):
        if evidence.span is not None:
            yield f"see: {escape(evidence.span.path)}:{evidence.span.line}: {escape(evidence.text)}"
    yield from remedy(finding)


def remedy(finding: Finding) -> Iterator[str]:
    """What to type, or what to do by hand."""
    change = planned(finding)
    if finding.fix is not None and change is not None:
        yield f"fix: {escape(change.title)} ({finding.fix.command})"
    elif said := advice(finding):
        yield f"do: {escape(said)}"


def elsewhere(finding: Finding) -> list[Evidence]:
    """The evidence in other files."""
    return [e for e in finding.evidence if e.span is not None and e.span.path != finding.span.path]
