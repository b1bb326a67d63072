"""Rule: what a check is called."""

from __future__ import annotations

from shmlint.model.finding import Severity
from shmlint.model.project import page
from shmlint.model.record import NamedTuple


class Rule(NamedTuple):
    """What a rule is called and how severe it is where nothing better is known."""

    id: str
    name: str
    severity: Severity
    default: bool = True
    """Whether it runs by default."""
    as_written: bool = False
    """Whether it finds what is wrong as it is written, whatever other files a launch is started with."""

    @property
    def address(self) -> str | None:
        """The address of the rule's page; None while the project has none."""
        return page(f"rules/{self.id}-{self.name}.md")

    @property
    def help(self) -> str:
        """Where the rule's page can be read: its address, or the command that shows it."""
        return self.address or f"shmlint explain {self.id}"
