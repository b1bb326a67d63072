"""SHM002: a comment that suppresses nothing."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.finding import Finding
from shmlint.model.launch import Launch
from shmlint.model.rule import Rule
from shmlint.rules import Context

RULE = Rule("SHM002", "unused-suppression", "note")


def check(launch: Launch, context: Context) -> Iterator[Finding]:
    """Launches hold no comments; the findings come from ``shmlint.suppression.comments``."""
    return iter(())
