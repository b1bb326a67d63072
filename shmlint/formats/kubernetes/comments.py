"""Suppression comments of manifests."""

from __future__ import annotations

from shmlint.formats.comments import at_end
from shmlint.formats.compose.comments import suppressions
from shmlint.model.launch import Launch
from shmlint.model.source import Edit

__all__ = ["ignore_comment", "suppressions"]


def ignore_comment(launch: Launch, text: str) -> Edit | None:
    """A comment after the container's name; JSON has none."""
    source = launch.span.source
    if source.path.lower().endswith(".json") or source.text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return None
    return at_end(source, launch.span.line, f"# {text}")
