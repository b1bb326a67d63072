"""The files a run reads: each once, decoded exactly, with parsed YAML kept.

A workspace can carry texts of its own in place of files on disk: that is how a fix is read
again before it is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from shmlint.files.discover import read_regular
from shmlint.model.source import Problem, Source, Span
from shmlint.syntax.yaml import Document, YamlError, parse

if TYPE_CHECKING:
    from shmlint.model.reading import Reading

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

    def __init__(
        self, texts: Mapping[str, str] | None = None, *, follow_outside: bool = False, below: Workspace | None = None
    ) -> None:
        self.texts: dict[str, str] = {**(below.texts if below is not None else {}), **(texts or {})}
        self.follow_outside = follow_outside
        self._own = frozenset(texts or ())
        self._below = below
        """What reads the files that are not this one's own."""
        self._sources: dict[str, Source | Unreadable] = {}
        self._documents: dict[str, list[Document] | Unreadable] = {}
        self._kept: Kept = {}
        self._roots: dict[str, str | None] = below._roots if below is not None else {}
        self.asked: set[str] = set()
        """Every file that was asked for, by normalised path, whether it is there or not."""
        self._given: dict[str, list[str]] | None = None

    def given_in(self, directory: str) -> list[str]:
        """The names of the files of a directory whose texts were given, on disk or not."""
        if self._given is None:
            self._given = {}
            for path in self._own:
                self._given.setdefault(os.path.dirname(path), []).append(os.path.basename(path))
        below = self._below.given_in(directory) if self._below is not None else []
        return [*below, *self._given.get(directory, ())]

    def over(self, texts: Mapping[str, str]) -> Workspace:
        """A workspace that reads some files differently; what is read of the others is read once for both."""
        return Workspace(texts, follow_outside=self.follow_outside, below=self)

    @property
    def fresh(self) -> bool:
        """Whether it has read nothing yet and all of it will come from disk."""
        return not self.texts and not self._sources and self._below is None

    def sources(self) -> list[Source]:
        """The files that were read as text."""
        return [source for source in self._sources.values() if isinstance(source, Source)]

    def adopt(self, sources: Iterable[Source], kept: Kept) -> None:
        """Take over what another workspace read of the same disk, and what was made of it."""
        for source in sources:
            self._sources.setdefault(normal(source.path), source)
        self._kept |= kept

    def made(self, kind: str, path: str) -> tuple[Reading, frozenset[str]] | None:
        """What was made of a file that stands alone, if nothing that it asked for reads differently here."""
        found = self._kept.get((kind, path))
        if found is None and self._below is not None:
            found = self._below.made(kind, path)
            if found is not None and not found[1].isdisjoint(self._own):
                return None
        return found

    def keep(self, kind: str, path: str, reading: Reading, asked: frozenset[str]) -> None:
        """Keep what was made of a file that stands alone, and the files it asked for."""
        if self._below is not None and asked.isdisjoint(self._own):
            self._below.keep(kind, path, reading, asked)
        else:
            self._kept[kind, path] = (reading, asked)

    @property
    def kept(self) -> Kept:
        """What was made of files here, by kind and path."""
        return self._kept

    def source(self, path: str) -> Source:
        """The text of a file. Raises Unreadable."""
        path = normal(path)
        self.asked.add(path)
        found = self._text(path)
        if isinstance(found, Unreadable):
            raise found
        return found

    def _text(self, path: str) -> Source | Unreadable:
        if self._below is not None and path not in self._own:
            return self._below._text(path)
        found = self._sources.get(path)
        if found is None:
            found = self._sources[path] = self._read(path)
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
        found = self._parsed(path)
        if isinstance(found, Unreadable):
            raise found
        return found

    def _parsed(self, path: str) -> list[Document] | Unreadable:
        if self._below is not None and path not in self._own:
            return self._below._parsed(path)
        found = self._documents.get(path)
        if found is None:
            source = self._text(path)
            try:
                found = source if isinstance(source, Unreadable) else parse(source)
            except YamlError as error:
                found = Unreadable(path, error.message, error.offset, source if isinstance(source, Source) else None)
            self._documents[path] = found
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
