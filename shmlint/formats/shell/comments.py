"""Suppression comments of shell scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shmlint.files.workspace import Workspace
from shmlint.formats.comments import HASH, above_command, line_suppressions
from shmlint.model.launch import Launch
from shmlint.model.source import Source
from shmlint.model.suppression import Suppression
from shmlint.syntax.shell_tree import comments


def suppressions(source: Source, workspace: Workspace, launches: Sequence[Launch]) -> Iterator[Suppression]:
    """The comments, as the shell's parser sees them."""
    starts = comments(source.text) if HASH.search(source.text) else set()
    return line_suppressions(source, HASH, "#", lambda at: at in starts)


ignore_comment = above_command
