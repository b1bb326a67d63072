"""Patterns as in a ``.gitignore``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def compiled(patterns: Iterable[str]) -> GitIgnoreSpec:
    """The patterns together. Raises ValueError or re.error for one that is invalid."""
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)


def compiles(pattern: str) -> bool:
    """Whether a pattern is valid."""
    try:
        compiled([pattern])
    except (ValueError, re.error):
        return False
    return True


def relative_to(path: str, directory: str) -> str | None:
    """A path as patterns that count from a directory see it; None where it lies outside."""
    found = os.path.relpath(path, directory or ".").replace(os.sep, "/")
    return None if found == ".." or found.startswith("../") else found


def exclusion(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A function that says whether a path matches one of the patterns. Raises ValueError for an invalid pattern."""
    for pattern in patterns:
        if not compiles(pattern):
            raise ValueError(f"`{pattern}` is not a pattern as in a .gitignore")
    return compiled(patterns).match_file
