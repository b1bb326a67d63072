"""Findings as GitHub workflow commands: annotations on a pull request.

Escaped as actions/toolkit does (packages/core/src/command.ts): ``%`` first, then line breaks, and in
properties ``:`` and ``,``. GitHub shows ten annotations of a level for a step, so the worst come first.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

from shmlint.finding import SEVERITIES, Finding
from shmlint.lint import Run
from shmlint.report import escape, summary
from shmlint.report.text import summary_line

SHOWN = 10
"""Annotations of one level that GitHub shows for a step."""

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format github``: one workflow command a finding, and a last line for the log."""
    ordered = sorted(findings, key=lambda f: -SEVERITIES.index(f.severity))
    lines = [_command(finding) for finding in ordered]
    lines.append(_data(summary_line(summary(run, list(findings), fixed))) + _hidden(findings))
    return "\n".join(lines)


def _hidden(findings: Sequence[Finding]) -> str:
    """How many annotations of each level GitHub leaves out."""
    levels = Counter(f.severity for f in findings)
    over = [f"{levels[level] - SHOWN} more {level}s" for level in reversed(SEVERITIES) if levels[level] > SHOWN]
    return f" ({', '.join(over)} than GitHub shows as annotations)" if over else ""


def _command(finding: Finding) -> str:
    begin, finish = finding.span.begin, finding.span.finish
    properties = {"file": finding.span.path, "line": str(begin.line)}
    if finish.line == begin.line and finish.column > begin.column:
        # GitHub refuses columns for an annotation that goes over several lines.
        properties |= {"endLine": str(finish.line), "col": str(begin.column), "endColumn": str(finish.column)}
    properties["title"] = f"{finding.rule}"
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    parts = [escape(finding.message)]
    if finding.needs:
        parts.append(f"needs: {escape(finding.needs)}")
    if finding.fix is not None:
        parts.append(f"fix: {escape(finding.fix.title)} (shmlint --fix)")
    elif finding.advice:
        parts.append(escape(finding.advice))
    return f"::{_LEVELS[finding.severity]} {given}::{_data(chr(10).join(parts))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def write_summary(run: Run, findings: Sequence[Finding]) -> None:
    """Append a table of all findings to the job's summary page, where the runner offers one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path or not findings:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _table(run, findings))
    except OSError:
        return  # a summary is a courtesy; the annotations are out already


def _table(run: Run, findings: Sequence[Finding]) -> Iterator[str]:
    yield "### shmlint"
    yield ""
    yield "| where | severity | rule | what |"
    yield "|---|---|---|---|"
    for finding in findings:
        where = f"{finding.span.path}:{finding.span.line}"
        cells = (where, finding.severity, finding.rule, finding.message)
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"
    yield ""
    yield summary_line(summary(run, list(findings)))


def _cell(text: str) -> str:
    return escape(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
