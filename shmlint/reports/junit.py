"""Findings as JUnit XML: a file is a suite, a finding a test, which fails where the finding makes the exit status 1."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape as xml
from xml.sax.saxutils import quoteattr

from shmlint.model.finding import Finding
from shmlint.reports import escape
from shmlint.reports.details import details
from shmlint.run import Run, fails


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format junit``. Files without a finding are passed tests."""
    by_path: dict[str, list[Finding]] = {path: [] for path in run.paths}
    for finding in findings:
        by_path.setdefault(finding.span.path, []).append(finding)
    total = sum(max(len(found), 1) for found in by_path.values())
    failed = {id(finding) for finding in findings if fails(finding, run.settings)}
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines.append(f'<testsuites name="shmlint" tests="{total}" failures="{len(failed)}" errors="0">')
    for path, found in by_path.items():
        name = quoteattr(escape(path))
        failures = sum(id(finding) in failed for finding in found)
        lines.append(f'  <testsuite name={name} tests="{max(len(found), 1)}" failures="{failures}" errors="0">')
        if not found:
            lines.append(f'    <testcase name="shmlint" classname={name}/>')
        for finding in found:
            lines += _case(finding, name, failure=id(finding) in failed)
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return "\n".join(lines)


def _case(finding: Finding, classname: str, *, failure: bool) -> list[str]:
    begin = finding.span.begin
    title = quoteattr(f"{finding.rule} {begin.line}:{begin.column}")
    message = escape(finding.message)
    if failure:
        body = xml("\n".join(details(finding)))
        result = f'<failure type="{finding.severity}" message={quoteattr(message)}>{body}</failure>'
    else:
        body = xml("\n".join((f"{finding.severity}: {message}", *details(finding))))
        result = f"<system-out>{body}</system-out>"
    return [f"    <testcase name={title} classname={classname}>", f"      {result}", "    </testcase>"]
