"""SHM001: a file that cannot be parsed."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Severity
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.model.source import Problem
from shmlint.rules import Context

RULE = Rule("SHM001", "unreadable-file", "error")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """Launches are always readable; see ``report`` for the files."""
    return iter(())


def report(problem: Problem) -> Finding:
    """The finding for a place that a format could not read. A missing file may exist where it is used."""
    severity: Severity = "warning" if problem.kind == "missing" else RULE.severity
    return Finding(RULE.id, severity, problem.span, problem.message, facts=(problem.kind, *problem.facts))
