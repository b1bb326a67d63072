"""The files a run reads: each once, decoded exactly, with parsed YAML kept.

A workspace can carry texts of its own in place of files on disk: that is how a fix is read
again before it is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from shmlint.discover import read_regular
from shmlint.source import Problem, Source, Span
from shmlint.yamlnodes import Document, YamlError, parse

if TYPE_CHECKING:
    from shmlint.formats import Reading

Kept = dict[tuple[str, str], "tuple[Reading, frozenset[str]]"]
"""What was made of files that stand alone, by kind and path, and which files were asked for in it."""

MOST = 8 * 1024 * 1024
"""Bytes; a larger file is no one's compose file, script or page, and is not read."""


OUTSIDE = "outside the repository and is not followed (setting `follow-outside`)"


class Unreadable(Exception):
    """A file cannot be read as text: why, and the offset of the first bad character."""

    def __init__(self, path: str, message: str, offset: int = 0, source: Source | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.offset = offset
        self.source = source or Source(path, "")

    @property
    def problem(self) -> Problem:
        """What is to be reported of it."""
        return Problem(Span(self.source, self.offset, self.offset), self.message)


def normal(path: str) -> str:
    """A path as it is printed and compared: normalised, with ``/``."""
    return os.path.normpath(path).replace(os.sep, "/")


class Workspace:
    """Reads files for one run.

    ``texts`` replaces the text of files by normalised path. ``follow_outside`` lets files refer to
    others outside of their repository.
    """

    def __init__(self, texts: Mapping[str, str] | None = None, *, follow_outside: bool = False) -> None:
        self.texts = dict(texts or {})
        self.follow_outside = follow_outside
        self._sources: dict[str, Source | Unreadable] = {}
        self._documents: dict[str, list[Document] | Unreadable] = {}
        self._roots: dict[str, str | None] = {}
        self.asked: set[str] = set()
        """Every file that was asked for, by normalised path, whether it is there or not."""
        self.kept: Kept = {}

    def over(self, texts: Mapping[str, str]) -> Workspace:
        """A workspace that reads some files differently; what was read of the others is kept."""
        other = Workspace({**self.texts, **texts}, follow_outside=self.follow_outside)
        other._roots = self._roots
        for path, source in self._sources.items():
            if path not in texts:
                other._sources[path] = source
        for path, documents in self._documents.items():
            if path not in texts:
                other._documents[path] = documents
        other.kept = {name: kept for name, kept in self.kept.items() if kept[1].isdisjoint(texts)}
        return other

    @property
    def fresh(self) -> bool:
        """Whether it has read nothing yet and all of it will come from disk."""
        return not self.texts and not self._sources

    def sources(self) -> list[Source]:
        """The files that were read as text."""
        return [source for source in self._sources.values() if isinstance(source, Source)]

    def adopt(self, sources: Iterable[Source], kept: Kept) -> None:
        """Take over what another workspace read of the same disk, and what was made of it."""
        for source in sources:
            self._sources.setdefault(normal(source.path), source)
        self.kept |= kept

    def source(self, path: str) -> Source:
        """The text of a file. Raises Unreadable."""
        path = normal(path)
        self.asked.add(path)
        found = self._sources.get(path)
        if found is None:
            found = self._sources[path] = self._read(path)
        if isinstance(found, Unreadable):
            raise found
        return found

    def _read(self, path: str) -> Source | Unreadable:
        text = self.texts.get(path)
        if text is None:
            try:
                data = read_regular(path, MOST + 1)
            except OSError as error:
                return Unreadable(path, error.strerror or "cannot be read")
            except ValueError:  # a NUL in the name
                return Unreadable(path, "no file can be called so")
            if len(data) > MOST:
                return Unreadable(path, f"larger than {MOST >> 20} MiB, and so not read")
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError as error:
                good = data[: error.start].decode("utf-8")
                if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
                    return Unreadable(path, "UTF-16 text; save it as UTF-8")
                return Unreadable(
                    path, f"not UTF-8: byte 0x{data[error.start]:02x}", len(good), Source(path, good)
                )
        return Source(path, text)

    def exists(self, path: str) -> bool:
        path = normal(path)
        self.asked.add(path)
        return path in self.texts or os.path.isfile(path)

    def documents(self, path: str) -> list[Document]:
        """The YAML documents of a file. Raises Unreadable."""
        path = normal(path)
        self.asked.add(path)
        found = self._documents.get(path)
        if found is None:
            source = self.source(path)
            try:
                found = parse(source)
            except YamlError as error:
                found = Unreadable(path, error.message, error.offset, source)
            self._documents[path] = found
        if isinstance(found, Unreadable):
            raise found
        return found

    def root(self, path: str) -> str | None:
        """The git work tree a file lies in; None outside of any."""
        directory = os.path.realpath(os.path.dirname(path) or ".")
        if directory not in self._roots:
            here = directory
            root = None
            while root is None:
                if os.path.exists(os.path.join(here, ".git")):
                    root = here
                parent = os.path.dirname(here)
                if parent == here:
                    break
                here = parent
            self._roots[directory] = root
        return self._roots[directory]

    def inside(self, path: str, of: str) -> bool:
        """Whether the file ``of`` may refer to ``path``: not out of its repository.

        A repository can be a stranger's pull request. Outside of any, what lies beside may be
        named, and nothing by an absolute path.
        """
        if self.follow_outside:
            return True
        root = self.root(of)
        if root is None:
            return not os.path.isabs(path)
        real = os.path.realpath(path)
        return real == root or real.startswith(root.rstrip(os.sep) + os.sep)
