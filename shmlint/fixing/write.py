"""Writing: files that belong together all or none, and each of them whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping

from shmlint.model.record import NamedTuple
from shmlint.run import Run


class NotWritten(Exception):
    """A fixed file could not be written; it is as it was, and so are those that were to be written with it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def together(texts: Mapping[str, str], changes: Iterable[frozenset[str]]) -> Iterator[dict[str, str]]:
    """The new texts in groups: those that one of the ``changes`` has edits in belong together."""
    group = {path: frozenset((path,)) for path in texts}
    for paths in changes:
        joined = frozenset().union(*(group[path] for path in paths if path in group))
        group.update(dict.fromkeys(joined, joined))
    for paths in dict.fromkeys(group.values()):
        yield {path: text for path, text in texts.items() if path in paths}


def write(run: Run, texts: Mapping[str, str]) -> list[str]:
    """Write the new texts, all of them or none; the paths that were written.

    Raises NotWritten where one cannot be written or changed since it was read. What was renamed until
    then is put back, as far as the file system lets it.
    """
    with_backup = len(texts) > 1
    files: list[_File] = []
    try:
        for path, text in texts.items():
            on_disk, old = run.workspace.on_disk(path), run.workspace.source(path).text
            files.append(_prepared(path, on_disk, (old.encode("utf-8"), text.encode("utf-8")), with_backup=with_backup))
        _replace(files)
    finally:
        for file in files:
            for left in (file.temporary, file.backup):
                _remove(left)
    return list(texts)


class _File(NamedTuple):
    path: str
    target: str
    temporary: str
    """The new text, in the directory of the target."""
    backup: str
    """The old text, in the same directory, if it may have to be put back."""


def _prepared(path: str, on_disk: str, texts: tuple[bytes, bytes], *, with_backup: bool) -> _File:
    """A file whose new text is written next to it."""
    target = os.path.realpath(on_disk)
    old, new = texts
    temporary = ""
    try:
        with open(target, "rb") as file:
            if file.read() != old:
                raise NotWritten(path, "it changed during the run; run shmlint again")
        before = os.stat(target)
        if not before.st_mode & 0o222 or not os.access(target, os.W_OK):
            # Replacing it needs no permission of its own; who took the permission away means the text.
            raise NotWritten(path, "cannot be written: it is read-only")
        temporary = _new_file_like(target, new, before)
        return _File(path, target, temporary, _new_file_like(target, old, before) if with_backup else "")
    except OSError as error:
        _remove(temporary)
        raise _not_written(path, error) from None


def _new_file_like(target: str, content: bytes, like: os.stat_result) -> str:
    """A new file in the directory of another, with its mode and, where that is allowed, its owner."""
    handle, name = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".shmlint-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if hasattr(os, "chown"):  # a run as root in a container leaves the file to its owner
            try:
                os.chown(name, like.st_uid, like.st_gid)
            except OSError:
                pass
        os.chmod(name, like.st_mode & 0o7777)
    except OSError:
        _remove(name)
        raise
    return name


def _replace(files: Iterable[_File]) -> None:
    """Put the new texts in the places of the old ones."""
    done: list[_File] = []
    for file in files:
        try:
            os.replace(file.temporary, file.target)
        except OSError as error:
            for other in reversed(done):
                _put_back(other)
            raise _not_written(file.path, error) from None
        done.append(file)


def _put_back(file: _File) -> None:
    try:
        os.replace(file.backup, file.target)
    except OSError as error:
        raise NotWritten(file.path, f"is changed and could not be put back: {error.strerror or error}") from None


def _not_written(path: str, error: OSError) -> NotWritten:
    return NotWritten(path, f"cannot be written: {error.strerror or error}")


def _remove(path: str) -> None:
    if path:
        try:
            os.unlink(path)
        except OSError:
            pass
