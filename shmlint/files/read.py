"""A file's text, decoded exactly; regular files only."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from functools import lru_cache

from shmlint.model.record import NamedTuple
from shmlint.model.source import Problem, Source, Span

MOST = 8 * 1024 * 1024
"""Bytes; a larger file is not a compose file, a script or a page that a person wrote."""


class Unreadable(Exception):
    """A file cannot be read as text: why, and the offset of the first bad character."""

    def __init__(self, path: str, message: str, offset: int = 0, source: Source | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.offset = offset
        self.source = source or Source(path, "")
        self.decoded: Source | None = None
        """The text of what is in UTF-16; no report shows it."""

    @property
    def problem(self) -> Problem:
        """The problem to report."""
        return Problem(Span(self.source, self.offset, self.offset), self.message, "unreadable")


class PathProblem(NamedTuple):
    """A path that cannot be read, and why: a phrase that follows the path."""

    path: str
    message: str


LONGEST_PATH = 4_096
"""Characters of a path that Linux takes (PATH_MAX); a Dockerfile's WORKDIR may make it longer with every line."""


@lru_cache(4096)  # the same few paths are asked for again and again
def normal(path: str) -> str:
    """A path as it is printed and compared: normalised, with ``/``."""
    return os.path.normpath(path).replace(os.sep, "/")


def read_text(path: str, top: str) -> Source | Unreadable:
    """The text of a file on disk. Relative paths count from ``top``, from the working directory where it is empty."""
    try:
        data = read_regular(os.path.join(top, path), MOST + 1)
    except (OSError, ValueError) as error:
        return Unreadable(path, reason(error))
    if len(data) > MOST:
        return Unreadable(path, f"not read: larger than {MOST >> 20} MiB")
    try:
        return Source(path, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        if data[:2] in _UTF16:
            found = Unreadable(path, "UTF-16 text; save it as UTF-8")
            found.decoded = Source(path, data.decode("utf-16", "replace"))
            return found
        good = data[: error.start].decode("utf-8")
        return Unreadable(path, f"not UTF-8: byte 0x{data[error.start]:02x}", len(good), Source(path, good))


_UTF16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE


def as_utf8(data: bytes) -> bytes:
    """A text in UTF-16, as PowerShell writes files, in UTF-8, so that words are found in it; any other as it is."""
    return data.decode("utf-16", "replace").encode("utf-8", "replace") if data[:2] in _UTF16 else data


def reason(error: Exception) -> str:
    """Why a path cannot be used, as a phrase that follows the path."""
    if isinstance(error, OSError):
        text = error.strerror or "cannot be read"
        return text[:1].lower() + text[1:]
    return "a path cannot contain a NUL character"  # the only ValueError of os.stat and os.open


_SORTS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_regular(path: str, limit: int) -> bytes:
    """The first ``limit`` bytes of a regular file; OSError for anything else.

    The type is checked before the file is opened, because opening a FIFO or a device has effects,
    and again afterwards, because it may have changed. Opening does not wait in any case.
    """
    _require_file(os.stat(path).st_mode)
    return _read(path, limit)


def read_small(path: str, most: int) -> bytes:
    """The content of a regular file of at most ``most`` bytes, nothing of anything else; OSError as for a read."""
    status = os.stat(path)
    return _read(path, most) if stat.S_ISREG(status.st_mode) and status.st_size <= most else b""


def _read(path: str, limit: int) -> bytes:
    handle = os.open(path, _FLAGS)
    try:
        status = os.fstat(handle)
        _require_file(status.st_mode)
        expected = min(status.st_size or limit, limit)  # what is made while it is read has no size
        content = os.read(handle, expected)
        while len(content) < expected and (more := os.read(handle, expected - len(content))):
            content += more
        return content
    finally:
        os.close(handle)


def _require_file(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"is {_SORTS.get(stat.S_IFMT(mode), 'something else')}, not a file")
