"""Findings as a GitLab Code Quality report.

Each entry is also an issue of Code Climate's, whose other readers ask for a type and for categories.
"""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.model.finding import Finding
from shmlint.reports import dumps
from shmlint.reports.details import details, remedy
from shmlint.run import Run
from shmlint.suppression.fingerprint import fingerprints

_LEVELS = {"error": "major", "warning": "minor", "note": "info"}


def _short(finding: Finding) -> list[str]:
    """The need and the remedy, for the one line that GitLab shows."""
    if not finding.needs:
        return list(remedy(finding))
    return [f"{'' if finding.why[0].label else 'why: '}{finding.needs}", *remedy(finding)]


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format gitlab``."""
    entries = [
        {
            "type": "issue",
            "categories": ["Bug Risk"],
            "description": " · ".join((finding.message, *_short(finding))),
            "check_name": finding.rule,
            "content": {"body": "\n".join(details(finding))},
            "fingerprint": fingerprint,
            "severity": _LEVELS[finding.severity],
            "location": {"path": finding.span.path, "lines": {"begin": finding.span.line}},
        }
        for finding, fingerprint in zip(findings, fingerprints(findings), strict=True)
    ]
    return dumps(entries)
