"""What a run reads: texts, what was made of them, and what may be followed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from shmlint.files.boundary import Boundary
from shmlint.files.cache import Key, Made
from shmlint.files.overlay import Overlay
from shmlint.files.read import Unreadable, normal
from shmlint.model.source import Source

T = TypeVar("T")


class Workspace:
    """Reads files for one run, each once.

    ``texts`` replaces the text of files by normalised path. ``follow_outside`` lets files refer to
    others outside of their repository. ``asked`` holds the normalised path of every file that was
    asked for, whether there is one or not. Relative paths count from ``top``, or else from the
    working directory.
    """

    __slots__ = ("_boundary", "_overlay", "asked")

    def __init__(
        self, texts: Mapping[str, str] | None = None, *, follow_outside: bool = False, top: str = ""
    ) -> None:
        self._overlay = Overlay(texts or {}, top=top)
        self._boundary = Boundary(follow_outside=follow_outside, top=top)
        self.asked: set[str] = set()

    def over(self, texts: Mapping[str, str]) -> Workspace:
        """A workspace that reads some files differently and shares all else; it has asked for nothing yet."""
        return self._view(Overlay(texts, self._overlay))

    def _view(self, overlay: Overlay) -> Workspace:
        view = Workspace.__new__(Workspace)
        view._overlay = overlay
        view._boundary = self._boundary
        view.asked = set()
        return view

    def source(self, path: str) -> Source:
        """The text of a file. Raises Unreadable."""
        path = normal(path)
        self.asked.add(path)
        found = self._overlay.source(path)
        if isinstance(found, Unreadable):
            raise found
        return found

    def peek(self, path: str) -> Source | None:
        """The text of a file; None where it cannot be read."""
        try:
            return self.source(path)
        except Unreadable:
            return None

    def peek_list(self, path: str) -> Source | None:
        """The text of a list of packages, which may be in UTF-16, as PowerShell writes files; None where it cannot be
        read.

        pip reads these: https://github.com/pypa/pip/blob/23.2.1/src/pip/_internal/utils/encoding.py
        """
        try:
            return self.source(path)
        except Unreadable as error:
            return error.decoded

    @property
    def top(self) -> str:
        """The directory that relative paths count from; empty for the working directory."""
        return self._overlay.top

    def on_disk(self, path: str) -> str:
        """The path that opens a file."""
        return os.path.join(self.top, path) if self.top else path

    def direct(self, path: str) -> str:
        """A normalised path without the way out of the current directory and back: ``../lib/a`` in ``lib`` is ``a``."""
        path = normal(path)
        return normal(os.path.relpath(self.on_disk(path), self.top or ".")) if path.startswith("../") else path

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        path = normal(path)
        self.asked.add(path)
        return self._overlay.exists(path)

    def names_in(self, directory: str) -> list[str]:
        """The names of what a directory holds; nothing where it cannot be listed."""
        return self._overlay.names_in(directory)

    def once(self, key: Key[T], path: str, make: Callable[[Workspace], T]) -> T:
        """What ``make`` makes of a file, made again only where a file that it asked for reads differently.

        ``make`` is given the workspace to read from, so that what it asks for is known.
        """
        made = self._overlay.find(key, path)  # most paths are normal
        if made is None:
            path = normal(path)
            made = self._overlay.find(key, path)
        if made is None:
            view = self._view(self._overlay)
            try:
                made = Made(make(view), frozenset(view.asked))
            finally:
                self.asked |= view.asked
            self._overlay.store(key, path, made)
        self.asked |= made.asked
        return made.value

    def root(self, path: str) -> str | None:
        """The git work tree a file lies in; None outside of any."""
        return self._boundary.root(path)

    def upwards(self, path: str) -> list[str]:
        """The directory of a file and those above it, up to the top of its repository; empty for the current one."""
        return self._boundary.upwards(path)

    def inside(self, path: str, of: str) -> bool:
        """Whether the file ``of`` may refer to ``path``."""
        return self._boundary.inside(path, of)

    def within(self, path: str, root: str | None) -> bool:
        """The same for the files of a work tree; None for those outside of any."""
        return self._boundary.within(path, root)

    # For several processes ---------------------------------------------------------------------

    @property
    def untouched(self) -> bool:
        """Whether all texts come from disk and none has been read yet."""
        return self._overlay.untouched

    def has(self, source: Source) -> bool:
        """Whether a text is what this workspace has read of its file."""
        return self._overlay.has(source)

    def results(self, keys: Iterable[Key[T]], paths: Iterable[str]) -> list[tuple[Key[T], str, Made[T]]]:
        """What was made of some files under some keys."""
        found = ((key, path, self._overlay.find(key, path)) for path in map(normal, paths) for key in keys)
        return [(key, path, made) for key, path, made in found if made is not None]

    def adopt(self, results: Iterable[tuple[Key[T], str, Made[T]]]) -> None:
        """Take over the results of another workspace on the same disk."""
        for key, path, made in results:
            self._overlay.store(key, path, made)
