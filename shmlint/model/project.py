"""Where the project lives. Every link to it is made here."""

from __future__ import annotations

ADDRESS = ""
"""The address of the repository, without a final slash. Empty while it has none: then nothing links to it."""


def page(path: str) -> str | None:
    """The address of a file of the repository; None while the project has no address."""
    return f"{ADDRESS}/blob/main/{path}" if ADDRESS else None
