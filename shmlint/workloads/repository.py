"""The files of the repository that one launch may lead to: bounded, and nothing outside of it."""

from __future__ import annotations

import os

from shmlint.files.read import Unreadable, normal
from shmlint.files.workspace import Workspace
from shmlint.model.source import Source

MOST_FILES = 200
MOST_BYTES = 2 * 1024 * 1024
"""Files, and characters of them, that are read for one launch."""


class Repository:
    """Reads files for one launch. ``of`` is the file that the launch stands in.

    Without a workspace there are no files. ``root`` is the top of the repository; ``full`` says that a
    bound was reached.
    """

    __slots__ = ("_left", "_read", "full", "home", "of", "programs", "root", "workspace")

    def __init__(
        self, workspace: Workspace | None, of: str, programs: dict[tuple[object, ...], object] | None = None
    ) -> None:
        self.workspace = workspace
        self.of = of
        self.programs = programs if programs is not None else {}
        """What was read of programs, for the launches of a run that run the same."""
        self.home = os.path.dirname(of) or "."
        root = workspace.root(of) if workspace is not None else None
        top = os.path.realpath(workspace.top or ".") if workspace is not None else "."
        self.root = normal(os.path.relpath(root, top)) if root is not None else self.home
        self.full = False
        self._left = MOST_BYTES
        self._read: set[str] = set()

    def source(self, path: str) -> Source | None:
        """The text of a file; None where there is none, it is not text, or the bound is reached."""
        path = normal(path)
        if not self.is_file(path):
            return None
        try:
            assert self.workspace is not None
            source = self.workspace.source(path)
        except Unreadable:
            return None
        if path not in self._read:
            if len(self._read) >= MOST_FILES or len(source.text) > self._left:
                self.full = True
                return None
            self._read.add(path)
            self._left -= len(source.text)
        return source

    def is_file(self, path: str) -> bool:
        return "\0" not in path and self._inside(path) and self.workspace is not None and self.workspace.exists(path)

    def is_dir(self, path: str) -> bool:
        return "\0" not in path and self._inside(path) and self._is_directory(path)

    def _is_directory(self, path: str) -> bool:
        return self.workspace is not None and os.path.isdir(self.workspace.on_disk(path))

    def _inside(self, path: str) -> bool:
        return self.workspace is not None and self.workspace.inside(path, self.of)

    def names(self, directory: str) -> list[str]:
        """What a directory holds, in the order of the names."""
        found = self.workspace.names_in(directory) if self.workspace is not None and self.is_dir(directory) else []
        return sorted(found)

    def above(self) -> list[str]:
        """The directory of the launch and those above it, up to the top of the repository."""
        found = [normal(self.home)]
        while found[-1] != self.root and len(found) < 20:
            parent = normal(os.path.join(found[-1], ".."))
            if not self._inside(parent):
                break
            found.append(parent)
        return found
