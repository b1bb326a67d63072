"""What an IPC mode says, whatever it is written in: ``--ipc``, Compose's ``ipc``."""

from __future__ import annotations

from shmlint.model.launch import JOINING, Unknown, Value
from shmlint.model.source import Span


def read(
    text: str, span: Span, written: str, because: str = "", *, private: bool = False, varies: bool = False
) -> Value[str]:
    """A mode whose ``text`` may name variables, and then ``because`` says why they are not known.

    ``container:$NAME`` is known to join another container, though not which.
    """
    known = not because or text.startswith(JOINING)
    varies = varies and not written.startswith(JOINING)
    return Value(text if known else Unknown("variable", because), span, written, because, private, varies)
