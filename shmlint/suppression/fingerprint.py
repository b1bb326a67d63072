"""Fingerprints: a finding's name that outlives the lines around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

from shmlint.model.finding import Finding
from shmlint.model.source import Span


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """One fingerprint a finding, unique in the run and the same when lines move.

    It is made of the rule, the path, the launch and the text of the marked line, never of its
    number; equal findings are numbered in the order of the file.
    """
    seen: Counter[str] = Counter()
    found = []
    for finding in findings:
        launch = finding.launch
        name = f"{launch.kind}/{launch.name or ''}" if launch is not None else ""
        line = _marked(finding.span).strip() if finding.span.source.text else ""
        base = "\0".join((finding.rule, finding.span.path, name, line))
        seen[base] += 1
        found.append(sha256(f"{base}\0{seen[base]}".encode("utf-8", "surrogatepass")).hexdigest())
    return found


def _marked(span: Span) -> str:
    """The marked line, or the part of it that may be shown."""
    return span.text if span.source.marked_only else span.source.line_text(span.line)
