"""From the paths of the command line to the files worth reading, and what kind each is.

A file that is named is always read. A directory is scanned: git is asked what it holds, so that
``.gitignore`` counts, and without git (or outside a work tree) it is walked. The name decides
where it can; only where it cannot is a file opened.

A scan skips directories of installed packages and caches, links to directories, files above
SCAN_LIMIT, and repositories inside a repository (submodules too), which git does not list either;
they are scanned where they are named.

The tree may be a stranger's pull request: nothing but regular files is opened, and a link out of
the repository is not followed.
"""
# Paths are strings here: a scan looks at a hundred thousand names, most of them once.

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from functools import cache, partial

from shmlint.files.boundary import work_tree
from shmlint.files.kinds import (
    WORDS,
    classify,
    classify_named,
    is_inspect,
    is_program,
    program_requests_gpu,
    screen,
    unnamed,
)
from shmlint.files.parallel import share
from shmlint.files.read import PathProblem, as_utf8, read_regular, read_small, reason
from shmlint.model.reading import NotReadKind
from shmlint.model.record import NamedTuple

SCAN_LIMIT = 5_000_000
"""Bytes; a larger file is read only when it is named."""

MANY = 30_000
"""Names under a directory from which on several processes look at them."""

PORTION = 100_000
"""Bytes of names that one of them takes at a time."""


class Found(NamedTuple):
    """A file to read.

    ``path`` opens the file and is what is printed: relative to the working directory where it
    lies below that, with ``/``. ``explicit`` files were named on the command line; their kind
    may be one that was not asked for.
    """

    path: str
    kind: str
    explicit: bool


class LeftOut(NamedTuple):
    """A file that is worth reading and is not read, and why."""

    path: str
    because: str = "the settings exclude it"
    kind: NotReadKind = "excluded"


def discover(
    paths: Sequence[str], *, exclude: Sequence[str] = (), kinds: Collection[str], jobs: int = 1, top: str = ""
) -> Iterator[Found | LeftOut | PathProblem]:
    """The files to read for ``paths``, sorted by path, each file once.

    Where there is much to look at, up to ``jobs`` processes do it. ``top`` is the directory that
    relative paths count from and are printed from, where it is not the working directory.

    Files that are named come always, whatever their kind (UNSUPPORTED where neither name nor
    content tells) and whatever ``exclude`` says. Directories give their files of ``kinds``.
    ``exclude`` holds patterns as in a ``.gitignore`` in the working directory; under a directory
    outside of that they count from the directory that was named.

    A file that would be read but for ``exclude`` or its size is LeftOut.

    A path that cannot be read is a PathProblem, never an exception.
    Raises ValueError for a pattern that is not one.
    """
    if exclude:
        from shmlint.files.patterns import exclusion

        exclusion(exclude)  # raises
    best: dict[str, tuple[tuple[int, int, str], Found]] = {}
    left_out: dict[str, LeftOut] = {}
    problems: set[PathProblem] = set()

    def take(identity: str, rank: tuple[int, int, str], found: Found) -> None:
        if identity not in best or rank < best[identity][0]:
            best[identity] = (rank, found)

    for order, path in enumerate(paths):
        shown = _shown(path, top)
        path = os.path.join(top, path)
        named = _named(path, shown)
        if isinstance(named, PathProblem):
            problems.add(named)
        elif named is not None:
            take(os.path.realpath(path), (0, order, ""), named)
        else:
            for result in _scan(path, _Wanted(shown, tuple(exclude), frozenset(kinds), top), jobs):
                if isinstance(result, PathProblem):
                    problems.add(result)
                    continue
                found, identity, is_link = result
                if isinstance(found, LeftOut):
                    left_out[identity] = found
                else:
                    # Of a file and the links to it the file is read.
                    take(identity, (1, is_link, found.path), found)

    everything: list[Found | LeftOut | PathProblem] = [found for _, found in best.values()]
    everything += (item for identity, item in left_out.items() if identity not in best)
    everything += problems
    return iter(sorted(everything, key=lambda item: item.path))


def _named(path: str, shown: str) -> Found | PathProblem | None:
    """What a path of the command line is; None for a directory."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return None
        content = cache(lambda: read_regular(path, SCAN_LIMIT))
        kind = classify_named(_absolute(path), content)
        if kind is None:
            kind = "inspect" if is_inspect(content()) else unnamed(path, content())
        read_regular(path, 1)
    except (OSError, ValueError) as error:
        return PathProblem(shown, reason(error))
    return Found(shown, kind, explicit=True)


def _shown(path: str, top: str) -> str:
    """A path as it is printed. ``..`` stays: after a link it is not what it seems."""
    if os.path.isabs(path):
        here = os.path.join(top or os.getcwd(), "")
        path = path[len(here) :] or "." if os.path.join(path, "").startswith(here) else path
    path = path.replace(os.sep, "/")
    root = "/" if path.startswith("/") else ""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return root + "/".join(parts) or ("." if path else "")


def _absolute(path: str) -> str:
    return os.path.abspath(path).replace(os.sep, "/")


# What a directory holds ------------------------------------------------------------------------


class _Wanted(NamedTuple):
    """What of a directory is wanted, and how the directory is printed."""

    shown: str
    exclude: tuple[str, ...]
    kinds: frozenset[str]
    top: str


class _Tree(NamedTuple):
    """A directory that is scanned, and what of it is wanted."""

    real: str
    boundary: str
    """Where a link may not lead out of."""
    absolute: str
    prefix: str
    """What is put before a name to print it."""
    top: str
    """The directory that printed paths count from; empty for the working directory."""
    exclude: tuple[str, ...]
    outside: bool
    """Outside of the working directory, which has no say there: its patterns count from this directory."""
    kinds: frozenset[str]


_Result = PathProblem | tuple[Found | LeftOut, str, bool]
"""A file, what identifies it, and whether it is a link."""


def _scan(root: str, wanted: _Wanted, jobs: int) -> Iterator[_Result]:
    """Files under a directory."""
    from shmlint.files.git import ask_git
    from shmlint.files.walk import walk

    real, shown = os.path.realpath(root), wanted.shown
    top = work_tree(real)
    tree = _Tree(
        real=real,
        boundary=os.path.join(top or real, ""),
        absolute=real.replace(os.sep, "/").rstrip("/") + "/",
        prefix="" if shown == "." else shown.rstrip("/") + "/",
        top=wanted.top,
        exclude=wanted.exclude,
        outside=os.path.isabs(shown) or ".." in shown.split("/"),
        kinds=wanted.kinds,
    )
    listed = ask_git(real, top) if top else None
    if listed is None:
        names = []
        for name in walk(real, top):
            if isinstance(name, PathProblem):
                yield PathProblem(tree.prefix + name.path if name.path else shown, name.message)
            else:
                names.append(os.fsencode(name))
        listed = b"\0".join(names)
    portions = [listed]
    if jobs > 1 and listed.count(b"\0") >= MANY:
        portions = list(_portions(listed))
    for results in share(partial(_look, tree), portions, jobs):
        yield from results


def _portions(names: bytes) -> Iterator[bytes]:
    """Names that are each ended by a NUL, in several such texts."""
    start = 0
    while start < len(names):
        end = names.find(b"\0", start + PORTION)
        end = len(names) if end < 0 else end
        yield names[start:end]
        start = end + 1


def _look(tree: _Tree, names: bytes) -> list[_Result]:
    """Those of some files under a directory that are to be read."""
    from shmlint.files.patterns import exclusion
    from shmlint.files.walk import without_skipped

    candidate = screen(tree.kinds)
    programs = "unread" in tree.kinds
    excluded = exclusion(tree.exclude) if tree.exclude else None
    found: list[_Result] = []
    for name in without_skipped(tree.real, names):
        path, absolute = tree.prefix + name, tree.absolute + name
        on_disk = os.path.join(tree.top, path) if tree.top else path
        if not (_may_start(on_disk) if programs and is_program(name) else candidate(absolute)):
            continue
        result = _examine(path, on_disk, absolute, tree.kinds)
        if excluded and excluded(name if tree.outside else path):
            if isinstance(result, Found):
                found.append((LeftOut(path), os.path.realpath(on_disk), False))
        elif result is None:
            continue
        elif isinstance(result, PathProblem):
            found.append(result)
        elif isinstance(result, LeftOut):
            found.append((result, os.path.realpath(on_disk), False))
        elif os.path.islink(on_disk):
            target = os.path.realpath(on_disk)
            if target.startswith(tree.boundary):
                found.append((result, target, True))
            else:
                found.append(PathProblem(result.path, "is a link to a file outside the directory; name it to check it"))
        else:
            found.append((result, os.path.join(tree.real, name.replace("/", os.sep)), False))
    return found


def _may_start(program: str) -> bool:
    """Whether a closer look at a program may be worth it: most start no container, so each costs little here."""
    try:
        return program_requests_gpu(program, read_small(program, SCAN_LIMIT))
    except OSError:
        return True


def _examine(path: str, on_disk: str, absolute: str, kinds: Collection[str]) -> Found | LeftOut | PathProblem | None:
    """The file itself; None where it is not worth reading."""
    content = cache(lambda: as_utf8(read_regular(on_disk, SCAN_LIMIT)))
    try:
        status = os.stat(on_disk)
        if not stat.S_ISREG(status.st_mode):
            return None
        kind = classify(absolute, content)
        if kind is None or kind not in kinds:
            return None
        words = WORDS[kind]
        if words and not any(word in content() for word in words):
            return None
        if not os.access(on_disk, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        # Deleted but still in git's index, or a link to nothing: there is no file.
        gone = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        return None if gone else PathProblem(path, reason(error))
    if status.st_size > SCAN_LIMIT:
        return LeftOut(path, f"larger than {SCAN_LIMIT // 1_000_000} MB; name it to check it", "unreadable")
    return Found(path, kind, explicit=False)
