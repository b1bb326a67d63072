"""Findings as reviewdog's diagnostic format; a suggestion is a literal replacement.

Columns count bytes of UTF-8 there, and a range's end is exclusive (reviewdog proto/rdf/reviewdog.proto).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from shmlint.checks import all_rules
from shmlint.finding import Finding
from shmlint.lint import Run
from shmlint.source import Source

_LEVELS = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format rdjson``."""
    body = {
        "source": {"name": "shmlint", "url": "https://github.com/shmlint/shmlint"},
        "diagnostics": [_diagnostic(run, finding) for finding in findings],
    }
    return json.dumps(body, indent=2, ensure_ascii=False)


def _position(source: Source, offset: int) -> dict[str, int]:
    line = source.position(offset).line
    start = source.line_span(line)[0]
    return {"line": line, "column": len(source.text[start:offset].encode("utf-8", "surrogatepass")) + 1}


def _range(source: Source, start: int, end: int) -> dict[str, Any]:
    return {"start": _position(source, start), "end": _position(source, end)}


def _diagnostic(run: Run, finding: Finding) -> dict[str, Any]:
    span = finding.span
    found: dict[str, Any] = {
        "message": finding.message + (f"\nneeds {finding.needs}" if finding.needs else ""),
        "location": {"path": span.path, "range": _range(span.source, span.start, span.end)},
        "severity": _LEVELS[finding.severity],
        "code": {"value": finding.rule, "url": all_rules()[finding.rule][0].help},
    }
    if finding.fix is not None:
        edits = finding.fix.changes[0].edits
        # A suggestion stands on the file of its diagnostic.
        if all(edit.path == span.path for edit in edits):
            source = run.workspace.source(span.path)
            found["suggestions"] = [
                {"range": _range(source, edit.start, edit.end), "text": edit.text} for edit in edits
            ]
    return found
