"""Finding: what a rule says about a launch. Reports and fixes read findings only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from shmlint.model.launch import Change, Launch
from shmlint.model.source import Span

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
"""From the least to the most severe."""


class Evidence(NamedTuple):
    """Why we think so: a short text, where it stands in a file, and who says it (a URL)."""

    text: str
    span: Span | None = None
    source: str = ""


class Fix(NamedTuple):
    """How a finding can be repaired; the first of ``changes`` that proves itself is written."""

    title: str
    changes: tuple[Change, ...]
    safe: bool = True
    alters: Literal["shm", "gpu", "mounts"] = "shm"
    """What of the launch is meant to be another after it; all else must stay."""
    after: Callable[[Launch], Launch] | None = None
    """What exactly is to become of the launch, in the place of ``alters``. Done twice it is done once."""
    of: Launch | None = None
    """The launch that is changed, where it is not the finding's own."""

    @property
    def command(self) -> str:
        """What to type for it."""
        return "shmlint --fix" if self.safe else "shmlint --fix --unsafe-fixes"


class Finding(NamedTuple):
    """One thing that is wrong, where, and what to do about it."""

    rule: str
    severity: Severity
    span: Span
    message: str
    launch: Launch | None = None
    evidence: tuple[Evidence, ...] = ()
    needs: str = ""
    """How much is needed and who says so, in one line."""
    fix: Fix | None = None
    advice: str = ""
    """What to type where there is no fix."""
    source: str = ""
    """Who says what is needed: an address."""
    subject: str = ""
    """Which of several things a rule finds in one launch."""


_LONG = 300
"""Characters of a word that no reader wants to see the end of."""


def readable(finding: Finding) -> Finding:
    """A finding that says what a person can take in, whatever a file calls its things."""
    said = (finding.message, finding.needs, finding.advice, *(e.text for e in finding.evidence))
    if max(map(len, said)) < _LONG:
        return finding
    return finding._replace(
        message=cut(finding.message), needs=cut(finding.needs), advice=cut(finding.advice),
        evidence=tuple(e._replace(text=cut(e.text)) for e in finding.evidence),
    )  # fmt: skip


def cut(text: str) -> str:
    """A text with the ends of words left out that are longer than any name."""
    if len(text) < _LONG:
        return text
    words = (word if len(word) < _LONG else f"{word[: _LONG // 2]}…" for word in text.split(" "))
    return " ".join(words)[: 10 * _LONG]
