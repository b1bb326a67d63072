"""The names of the files of a repository or directory, as a scan finds them."""

from __future__ import annotations

from collections.abc import Iterator

from shmlint.files.boundary import work_tree
from shmlint.files.git import ask_git
from shmlint.files.read import PathProblem
from shmlint.files.walk import walk, without_skipped


def names_under(root: str) -> Iterator[str]:
    """The names of the files under a directory, as for a scan of it."""
    top = work_tree(root)
    listed = ask_git(root, top) if top else None
    if listed is not None:
        yield from without_skipped(root, listed)
    else:
        yield from (name for name in walk(root, top) if not isinstance(name, PathProblem))
