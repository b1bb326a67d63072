"""Findings as reviewdog's diagnostic format; a suggestion is a literal replacement.

Columns count bytes of UTF-8 there, and a range's end is exclusive (reviewdog proto/rdf/reviewdog.proto).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shmlint.fixing.fix import suggestions
from shmlint.model import project
from shmlint.model.finding import Finding
from shmlint.model.launch import Change
from shmlint.model.source import Edit, Source, apply_edits
from shmlint.reports import dumps
from shmlint.reports.details import reasons
from shmlint.rules import all_rules
from shmlint.run import Run

_LEVELS = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format rdjson``."""
    proved = suggestions(run)  # what a reviewer is offered is accepted without another look
    body = {
        "source": {"name": "shmlint", **({"url": project.ADDRESS} if project.ADDRESS else {})},
        "diagnostics": [_diagnostic(run, finding, proved.get(id(finding))) for finding in findings],
    }
    return dumps(body)


def _position(source: Source, offset: int) -> dict[str, int]:
    line = source.position(offset).line
    start = source.line_span(line)[0]
    return {"line": line, "column": len(source.text[start:offset].encode("utf-8", "surrogatepass")) + 1}


def _range(source: Source, start: int, end: int) -> dict[str, Any]:
    return {"start": _position(source, start), "end": _position(source, end)}


def _diagnostic(run: Run, finding: Finding, change: Change | None) -> dict[str, Any]:
    span, rule = finding.span, all_rules()[finding.rule][0]
    code = {"value": finding.rule}
    lines = [finding.message, *reasons(finding)]
    if rule.address is not None:
        code["url"] = rule.address
    else:
        lines.append(f"help: {rule.help}")
    found: dict[str, Any] = {
        "message": "\n".join(lines),
        "location": {"path": span.path, "range": _range(span.source, span.start, span.end)},
        "severity": _LEVELS[finding.severity],
        "code": code,
    }
    if change is not None:
        edits = change.edits
        # A suggestion is in the file of its diagnostic, and a part of a fix is not a suggestion.
        if all(edit.path == span.path for edit in edits):
            found["suggestions"] = [_suggestion(run.workspace.source(span.path), edits)]
    return found


def _suggestion(source: Source, edits: Sequence[Edit]) -> dict[str, Any]:
    """A fix as one replacement: several suggestions would be several ways to choose from."""
    edits = sorted(set(edits))
    start, end = edits[0].start, edits[-1].end
    old = source.text[start:end]
    new = apply_edits(old, [e._replace(start=e.start - start, end=e.end - start) for e in edits])
    # A line that is added below the last one belongs to it: nobody can comment on a line that is not there.
    last = source.newline
    if start == end == len(source.text) and source.text.endswith(last) and new.endswith(last):
        start = end = start - len(last)
        new = last + new.removesuffix(last)
    return {"range": _range(source, start, end), "text": new}
