"""SHM001: a file that cannot be read as what it is."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.checks import Context
from shmlint.finding import Finding
from shmlint.launch import Launch
from shmlint.rules import Rule
from shmlint.source import Problem

RULE = Rule("SHM001", "unreadable-file", "error")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """No launch is unreadable; what a format could not read comes through ``report``."""
    return iter(())


def report(problem: Problem) -> Finding:
    """The finding for a place a format could not read."""
    return Finding(RULE.id, RULE.severity, problem.span, problem.message)
