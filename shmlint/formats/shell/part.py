"""Part: a stretch of a file that a shell reads, with the variables that something around it sets."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.model.record import NamedTuple
from shmlint.syntax.shell import Command, commands
from shmlint.syntax.shell_text import ShellText
from shmlint.syntax.shell_variables import Variables


class Part(NamedTuple):
    """A stretch of a file that a shell reads, or that is read as a shell reads it."""

    text: ShellText
    given: Variables | None = None
    """Variables that something around it sets."""
    directory: str | None = ""
    """Where it is run, from the directory of the file; None where that is not known."""

    typed: bool = False
    """Somebody types it line by line: after ``exit`` it goes on in another shell."""

    @property
    def commands(self) -> Iterator[Command]:
        """Its simple commands."""
        return commands(self.text, self.given)
