"""Findings in one line each: location, rule, message."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.model.finding import Finding
from shmlint.reports import escape
from shmlint.run import Run


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format concise``."""
    return "\n".join(map(_line, findings))


def _line(finding: Finding) -> str:
    begin = finding.span.begin
    place = f"{escape(finding.span.path)}:{begin.line}:{begin.column}"
    return f"{place}: {finding.severity} {finding.rule} {escape(finding.message)}"
