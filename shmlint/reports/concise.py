"""Findings in one line each: location, rule, message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.model.finding import Finding
from shmlint.reports import escape


def render(findings: Sequence[Finding]) -> Iterator[str]:
    """``--format concise``."""
    return map(_line, findings)


def _line(finding: Finding) -> str:
    begin = finding.span.begin
    place = f"{escape(finding.span.path)}:{begin.line}:{begin.column}"
    return f"{place}: {finding.severity} {finding.rule} {escape(finding.message)}"
