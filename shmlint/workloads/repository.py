"""The files of the repository that one launch may lead to: bounded, and nothing outside of it."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from shmlint.files.read import normal
from shmlint.files.workspace import Workspace
from shmlint.model.launch import NO_TEXTS, Build
from shmlint.model.source import Source, Span

if TYPE_CHECKING:
    from shmlint.formats.markdown import ShellBlock
    from shmlint.workloads.given import Given
    from shmlint.workloads.python.assignments import Assignments
    from shmlint.workloads.python.loaded import Loaded
    from shmlint.workloads.python.reading import Reading

MOST_FILES = 200
MOST_BYTES = 2 * 1024 * 1024
"""Files, and characters of them, that are read for one launch."""
_MOST_FOLDERS = 5_000
"""Directories of a repository that are looked through for one of a name."""
_MOST_INNER = 60
"""Names in a directory among which its directories are looked for."""


class Texts:
    """Some files, with all their text to find words in. ``files`` are their paths, and the text of each."""

    __slots__ = ("_found", "_starts", "_together", "files")

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self.files = tuple(files)
        # In UTF-8, because one emoji would make all of a joined text four times as long to search. Each text ends
        # with a byte that UTF-8 does not have, so that no word is found over an end.
        parts = [text.encode("utf-8", "surrogatepass") + b"\xff" for _, text in self.files]
        self._together = b"".join(parts)
        self._starts = [*accumulate(map(len, parts), initial=0)]
        self._found: dict[str, frozenset[int]] = {}

    def holding(self, words: Collection[str]) -> Iterator[str]:
        """The paths of those that hold one of some words."""
        for word in words:
            if word not in self._found:
                self._found[word] = frozenset(self._holding(word.encode("utf-8", "surrogatepass")))
        found = frozenset().union(*(self._found[word] for word in words))
        return (self.files[number][0] for number in sorted(found))

    def _holding(self, word: bytes) -> Iterator[int]:
        at = self._together.find(word)
        while 0 <= at < self._starts[-1]:
            number = bisect_right(self._starts, at)
            yield number - 1
            at = self._together.find(word, self._starts[number])


class Shared:
    """What was found out about files and programs, for the launches of a run that lead to the same.

    ``read`` are the files whose builds are all among those of the run.
    """

    __slots__ = (
        "above", "around", "assignments", "builders", "builds", "by_name", "distributions", "dockerfiles", "files",
        "folders", "found", "held", "launches", "linked", "listed", "modules", "moves", "names", "namesakes",
        "pages", "plain", "programs", "quiet", "read", "said", "sizes", "tags",
    )  # fmt: skip

    def __init__(self, read: frozenset[str] = frozenset()) -> None:
        self.read = read
        self.files: dict[tuple[str | None, str], bool] = {}
        """Whether there is a file, by the root of the repository and the path."""
        self.folders: dict[tuple[str | None, str], bool] = {}
        self.above: dict[tuple[str, str], tuple[str, ...]] = {}
        """The directories from that of a launch up, by the root of the repository and the first of them."""
        self.around: dict[tuple[str, ...], tuple[str, ...]] = {}
        """The directories in which people keep the scripts of a container, by those from that of a launch up."""
        self.builders: dict[tuple[str, str, str, bool], Texts] = {}
        """The files of a directory that speak of building, and their text in lower case, by the root, the path
        and the names that were looked for; with those in ``read``, or without them."""
        self.builds: dict[str, tuple[Build, ...]] = {}
        """The builds that a script or page has, by its path."""
        self.by_name: dict[str, dict[str, list[str]]] = {}
        """The directories of a repository by their names, by its root."""
        self.distributions: dict[str, tuple[str, ...]] = {}
        """The directories of the packages in a repository, by its root."""
        self.launches: dict[str, Given] = {}
        """The launches of a file in which the same container is looked for, by its path."""
        self.linked: dict[str, tuple[str, ...]] = {}
        """The repositories to which the first pages of one link, by its root."""
        self.sizes: dict[tuple[str, str], Texts] = {}
        """The files of a directory that speak of shared memory, and their text, by the root and the path."""
        self.found: dict[tuple[object, ...], str | None] = {}
        """The files of modules, by the directories in which they were looked for and their names, the file that names
        a framework, by the root, and pages that mostly give a container no more memory, by what tells it."""
        self.dockerfiles: dict[tuple[str, str], tuple[str, ...]] = {}
        """The names of the Dockerfiles of directories, by the root and the path."""
        self.listed: dict[tuple[str, str], frozenset[str]] = {}
        """The names of what directories hold, by the root and the path."""
        self.plain: dict[str, Loaded | None] = {}
        """Python files that say nothing that matters, which are not parsed; None for all other files."""
        self.modules: dict[str, Loaded] = {}
        """Python files that were read, by their paths."""
        self.names: dict[tuple[str | None, str, str], tuple[str, ...]] = {}
        """The names of what directories hold, in their order, by the root of the repository and the path; with
        ``folders`` behind these, the paths of the directories among them, and with ``imports``, the files that a
        Python file imports."""
        self.tags: dict[str, list[int]] = {}
        self.namesakes: dict[str, list[int]] = {}
        """The numbers of the builds that were read, by the names of their images, and by the last parts of these."""
        self.said: dict[str, tuple[Span | None, Span | None, Span | None]] = {}
        """Where pages ask for shared memory, by their paths."""
        self.moves: dict[str, tuple[tuple[int, str], ...]] = {}
        """The directories to which scripts and pages go, and where in their text, by their paths."""
        self.held = 0
        self.assignments: Assignments | None = None
        """Characters of these files, and what they give their names, as far as somebody asked."""
        self.pages: dict[str, tuple[ShellBlock, ...]] = {}
        """The code of pages that may be commands."""
        self.programs: dict[tuple[object, ...], Reading] = {}
        """Python programs that were read."""
        self.quiet: dict[tuple[str, ...], tuple[bool, bool, bool, bool, bool]] = {}
        """Whether the code of directories uses no shared memory."""


class Repository:
    """Reads files for one launch. ``of`` is the file that the launch is in.

    Without a workspace there are no files. ``texts`` are read as files at their paths. ``root`` is the top of the
    repository; ``full`` says that a bound was reached.
    """

    __slots__ = ("_left", "_read", "_tree", "full", "home", "of", "root", "shared", "texts", "workspace")

    def __init__(
        self, workspace: Workspace | None, of: str, shared: Shared | None = None,
        texts: Mapping[str, Source] = NO_TEXTS,
    ) -> None:  # fmt: skip
        self.workspace = workspace
        self.texts = texts
        self.of = of
        self.shared = shared if shared is not None else Shared()
        self.home = os.path.dirname(of) or "."
        root = self._tree = workspace.root(of) if workspace is not None else None
        top = os.path.realpath(workspace.top or ".") if workspace is not None else "."
        self.root = normal(os.path.relpath(root, top)) if root is not None else self.home
        self.full = False
        self._left = MOST_BYTES
        self._read: set[str] = set()

    def source(self, path: str) -> Source | None:
        """The text of a file; None where there is none, it is not text, or the bound is reached."""
        path = normal(path)
        source = self._text(path)
        if source is not None and path not in self._read:
            if len(self._read) >= MOST_FILES or len(source.text) > self._left:
                self.full = True
                return None
            self._read.add(path)
            self._left -= len(source.text)
        return source

    def add(self, path: str, source: Source) -> None:
        """Take a text for a file at a path."""
        self.texts = {**self.texts, path: source}

    def peek(self, path: str) -> Source | None:
        """The text of a file, which is not counted: for what all launches of a run look at."""
        return self._text(normal(path))

    def _text(self, path: str) -> Source | None:
        if path in self.texts:
            return self.texts[path]
        if not self.is_file(path):
            return None
        assert self.workspace is not None
        return self.workspace.peek_list(path) if path.endswith(".txt") else self.workspace.peek(path)

    def is_file(self, path: str) -> bool:
        return path in self.texts or self._once(self.shared.files, path, self._exists)

    def is_dir(self, path: str) -> bool:
        return self._once(self.shared.folders, path, self._is_directory)

    def _once(self, known: dict[tuple[str | None, str], bool], path: str, look: Callable[[str], bool]) -> bool:
        key = self._tree, path
        found = known.get(key)
        if found is None:
            found = known[key] = "\0" not in path and look(path) and self._inside(path)
        return found

    def _exists(self, path: str) -> bool:
        return self.workspace is not None and self.workspace.exists(path)

    def _is_directory(self, path: str) -> bool:
        return self.workspace is not None and os.path.isdir(self.workspace.on_disk(path))

    def _inside(self, path: str) -> bool:
        return self.workspace is not None and self.workspace.within(path, self._tree)

    def names(self, directory: str) -> tuple[str, ...]:
        """What a directory holds, in the order of the names."""
        known, key = self.shared.names, (self._tree, directory, "")
        if key not in known:
            files = self.workspace if self.is_dir(directory) else None
            known[key] = tuple(sorted(files.names_in(directory))) if files is not None else ()
        return known[key]

    def folders_in(self, directory: str) -> tuple[str, ...]:
        """The directories in a directory, without the hidden ones, in the order of the names."""
        known, key = self.shared.names, (self._tree, directory, "folders")
        if key not in known:
            names = (name for name in self.names(directory)[:_MOST_INNER] if not name.startswith("."))
            inner = (normal(os.path.join(directory, name)) for name in names)
            known[key] = tuple(filter(self.is_dir, inner))
        return known[key]

    def first(self, directory: str, names: Iterable[str]) -> str | None:
        """The first of some names that a file of a directory has."""
        held = self.names(directory)
        for name in names:
            if (name in held or self.texts) and self.is_file(normal(os.path.join(directory, name))):
                return name
        return None

    def folders_named(self, name: str) -> list[str]:
        """All directories of that name; none outside of a work tree, or in one with too many directories."""
        known = self.shared.by_name
        if self.root not in known:
            known[self.root] = self._folders_by_name() if self._tree is not None else {}
        return known[self.root].get(name, [])

    def _folders_by_name(self) -> dict[str, list[str]]:
        assert self.workspace is not None
        found: dict[str, list[str]] = {}
        pending = [self.root]
        for folder in pending:  # grows while it is walked
            try:
                with os.scandir(self.workspace.on_disk(folder)) as entries:
                    names = sorted(e.name for e in entries if e.name[:1] != "." and e.is_dir(follow_symlinks=False))
            except OSError:
                continue
            for name in names:
                inner = normal(os.path.join(folder, name))
                found.setdefault(name, []).append(inner)
                pending.append(inner)
            if len(pending) > _MOST_FOLDERS:
                return {}
        return found

    def above(self, directory: str | None = None) -> tuple[str, ...]:
        """A directory, or that of the launch, and those above it, up to the top of the repository.

        Outside of a work tree the directory of the launch is the top: other projects may lie beside it.
        """
        start = self.home if directory is None else directory
        known, key = self.shared.above, (self.root, start)
        if key not in known:
            found = self.workspace.upwards(os.path.join(start, "file")) if self.workspace is not None else [start]
            known[key] = tuple(folder or "." for folder in found if folder == found[0] or self._is_below_root(folder))
        return known[key]

    def _is_below_root(self, folder: str) -> bool:
        return self._tree is not None or self.root == "." or f"{folder}/".startswith(f"{self.root}/")
