"""SHM001: a file that cannot be read as what it is."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding, Severity
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.model.source import Problem
from shmlint.rules import Context

RULE = Rule("SHM001", "unreadable-file", "error")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """No launch is unreadable; what a format could not read comes through ``report``."""
    return iter(())


def report(problem: Problem) -> Finding:
    """The finding for a place a format could not read; a file that is missing here may be there when it is needed."""
    severity: Severity = "warning" if problem.kind == "missing" else RULE.severity
    return Finding(RULE.id, severity, problem.span, problem.message)
