"""Texts in place of files: how a fix is read again before it is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypeVar

from shmlint.files.cache import Cache, Key, Made
from shmlint.files.read import Unreadable, read_text
from shmlint.model.source import Source

T = TypeVar("T")


class Overlay:
    """Some texts by normalised path; all else comes from ``base``, or from disk where there is none.

    Each layer caches what depends on its own texts, the lowest one what comes from disk. So what
    several layers read of the same files is read once. Relative paths count from ``top``.
    """

    __slots__ = ("_base", "_cache", "_names", "_sources", "_texts", "top")

    def __init__(self, texts: Mapping[str, str], base: Overlay | None = None, top: str = "") -> None:
        self._texts = dict(texts)
        self._base = base
        self.top: str = base.top if base is not None else top
        self._cache = Cache()
        self._sources: dict[str, Source | Unreadable] = {}
        self._names: dict[str, list[str]] | None = None

    @property
    def untouched(self) -> bool:
        """Whether all texts come from disk and none has been read yet."""
        return not self._texts and not self._sources and self._base is None

    def source(self, path: str) -> Source | Unreadable:
        """The text of a file."""
        if self._base is not None and path not in self._texts:
            return self._base.source(path)
        found = self._sources.get(path)
        if found is None:
            text = self._texts.get(path)
            found = self._sources[path] = read_text(path, self.top) if text is None else Source(path, text)
        return found

    def has(self, source: Source) -> bool:
        """Whether a text is what was read of its file."""
        return self._sources.get(source.path) is source or (self._base is not None and self._base.has(source))

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        if path in self._texts:
            return True
        if self._base is not None:
            return self._base.exists(path)
        return os.path.isfile(os.path.join(self.top, path) if self.top else path)

    def names_in(self, directory: str) -> list[str]:
        """The names of what a directory holds; nothing where it cannot be listed."""
        if self._names is None:
            self._names = {}
            for path in self._texts:
                self._names.setdefault(os.path.dirname(path), []).append(os.path.basename(path))
        own = self._names.get(directory, [])
        if self._base is not None:
            return [*self._base.names_in(directory), *own]
        try:
            return [*os.listdir(os.path.join(self.top, directory) or "."), *own]
        except (OSError, ValueError):
            return own

    def find(self, key: Key[T], path: str) -> Made[T] | None:
        """A result that still holds: no file that it depends on reads differently here."""
        made = self._cache.get(key, path)
        if made is None and self._base is not None:
            made = self._base.find(key, path)
            if made is not None and not made.asked.isdisjoint(self._texts):
                return None
        return made

    def store(self, key: Key[T], path: str, made: Made[T]) -> None:
        """Keep a result in the lowest layer that it holds in."""
        if self._base is not None and made.asked.isdisjoint(self._texts):
            self._base.store(key, path, made)
        else:
            self._cache.put(key, path, made)
