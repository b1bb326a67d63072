"""Findings as Checkstyle XML, which many review tools read."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from shmlint.model.finding import Finding
from shmlint.reports import escape
from shmlint.reports.details import details
from shmlint.run import Run

_LEVELS = {"error": "error", "warning": "warning", "note": "info"}


def _message(finding: Finding) -> str:
    return quoteattr("\n".join((escape(finding.message), *details(finding))))


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format checkstyle``."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.span.path, []).append(finding)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<checkstyle version="4.3">']
    for path, found in by_path.items():
        lines.append(f"  <file name={quoteattr(escape(path))}>")
        for finding in found:
            begin = finding.span.begin
            lines.append(
                f'    <error line="{begin.line}" column="{begin.column}" severity="{_LEVELS[finding.severity]}" '
                f'message={_message(finding)} source="shmlint.{finding.rule}"/>'
            )
        lines.append("  </file>")
    lines.append("</checkstyle>")
    return "\n".join(lines)
