"""Findings as JUnit XML: a file is a suite, a finding a failed test."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape as xml
from xml.sax.saxutils import quoteattr

from shmlint.model.finding import Finding
from shmlint.reports import escape
from shmlint.run import Run


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format junit``. Files without a finding are passed tests."""
    by_path: dict[str, list[Finding]] = {path: [] for path in run.paths}
    for finding in findings:
        by_path.setdefault(finding.span.path, []).append(finding)
    total = sum(max(len(found), 1) for found in by_path.values())
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines.append(f'<testsuites name="shmlint" tests="{total}" failures="{len(findings)}">')
    for path, found in by_path.items():
        name = quoteattr(escape(path))
        lines.append(f'  <testsuite name={name} tests="{max(len(found), 1)}" failures="{len(found)}">')
        if not found:
            lines.append(f'    <testcase name="shmlint" classname={name}/>')
        for finding in found:
            lines += _case(finding, name)
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return "\n".join(lines)


def _case(finding: Finding, classname: str) -> list[str]:
    begin = finding.span.begin
    title = quoteattr(f"{finding.rule} {begin.line}:{begin.column}")
    message = quoteattr(escape(finding.message))
    body = xml(escape(finding.needs))
    return [
        f'    <testcase name={title} classname={classname} line="{begin.line}">',
        f'      <failure type="{finding.severity}" message={message}>{body}</failure>',
        "    </testcase>",
    ]
