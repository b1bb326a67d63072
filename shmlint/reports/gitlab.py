"""Findings as a GitLab Code Quality report."""

from __future__ import annotations

from collections.abc import Sequence

from shmlint.model.finding import Finding
from shmlint.reports import dumps
from shmlint.run import Run
from shmlint.suppression.fingerprint import fingerprints

_LEVELS = {"error": "major", "warning": "minor", "note": "info"}


def render(run: Run, findings: Sequence[Finding], *, fixed: int = 0) -> str:
    """``--format gitlab``."""
    entries = [
        {
            "description": finding.message,
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": _LEVELS[finding.severity],
            "location": {"path": finding.span.path, "lines": {"begin": finding.span.line}},
        }
        for finding, fingerprint in zip(findings, fingerprints(findings), strict=True)
    ]
    return dumps(entries)
