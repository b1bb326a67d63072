"""SHM002: a comment that suppresses nothing."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.checks import Context
from shmlint.finding import Finding
from shmlint.launch import Launch
from shmlint.rules import Rule

RULE = Rule("SHM002", "unused-suppression", "note")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """No launch holds comments; what they did not suppress comes from ``shmlint.suppress``."""
    return iter(())
