"""Rule: what a check is called."""

from __future__ import annotations

from typing import NamedTuple

from shmlint.model.finding import Severity


class Rule(NamedTuple):
    """What a rule is called and how severe it is where nothing better is known."""

    id: str
    name: str
    severity: Severity
    default: bool = True
    """Whether it runs unless asked for."""

    @property
    def help(self) -> str:
        """Where the rule's page can be read."""
        return f"https://github.com/shmlint/shmlint/blob/main/rules/{self.id}-{self.name}.md"
