"""Writing: files that belong together all or none, and each of them whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from shmlint.model.record import NamedTuple
from shmlint.run import Run


class NotWritten(Exception):
    """A fixed file could not be written; it is as it was, and so are those that were to be written with it.

    Where it could not be put back either, ``kept`` is a file beside it that has the old text.
    """

    def __init__(self, path: str, message: str, kept: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.kept = kept


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

    Raises NotWritten where one cannot be written or changed since it was read. What was written until
    then is put back, as far as the file system lets it.
    """
    with_backup = len(texts) > 1
    files: list[_File] = []
    kept = ""
    try:
        for path, text in texts.items():
            on_disk, old = run.workspace.on_disk(path), run.workspace.source(path).text
            files.append(_prepared(path, on_disk, (old.encode("utf-8"), text.encode("utf-8")), with_backup=with_backup))
        _no_other_text(files, texts)
        _replace(files)
    except NotWritten as error:
        kept = error.kept
        raise
    finally:
        for file in files:
            for left in (file.temporary, file.backup):
                if left != kept:
                    _remove(left)
    return list(texts)


class _File(NamedTuple):
    path: str
    target: str
    temporary: str
    """The new text, in the directory of the target."""
    backup: str
    """The old text, in the same directory, if it may have to be put back."""
    in_place: bool
    """Whether another file in its place would not be the same: other names mean this one, or its owner is another."""
    identity: tuple[int, int]


def _prepared(path: str, on_disk: str, texts: tuple[bytes, bytes], *, with_backup: bool) -> _File:
    """A file whose new text is written next to it."""
    target = os.path.realpath(on_disk)
    _, new = texts
    temporary = ""
    try:
        with open(target, "rb") as file:
            now = file.read()
            if now not in texts:  # the new one is there where another name of the same file was written before
                raise NotWritten(path, "it changed during the run; run shmlint again")
        before = os.stat(target)
        if not before.st_mode & 0o222 or not os.access(target, os.W_OK):
            # Replacing it needs no permission of its own; who took the permission away means the text.
            raise NotWritten(path, "cannot be written: it is read-only")
        temporary = _new_file_like(target, new, before)
        in_place = before.st_nlink > 1 or _owner(os.stat(temporary)) != _owner(before)
        backup = _new_file_like(target, now, before) if with_backup or in_place else ""
        return _File(path, target, temporary, backup, in_place, (before.st_dev, before.st_ino))
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
        _copy_attributes(target, name)
        os.chmod(name, like.st_mode & 0o7777)
    except OSError:
        _remove(name)
        raise
    return name


def _no_other_text(files: Iterable[_File], texts: Mapping[str, str]) -> None:
    """Refuse two texts for one file that has several names."""
    first: dict[tuple[int, int], str] = {}
    for file in files:
        other = first.setdefault(file.identity, file.path)
        if texts[other] != texts[file.path]:
            raise NotWritten(file.path, f"is the same file as {other}, and would be changed to another text")


def _owner(of: os.stat_result) -> tuple[int, int]:
    return of.st_uid, of.st_gid


def _copy_attributes(source: str, target: str) -> None:
    """Give a file the extended attributes of another, access control lists among them, as far as that is allowed."""
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError):
        for name in os.listxattr(source):
            with suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))


def _replace(files: Sequence[_File]) -> None:
    """Put the new texts in the places of the old ones."""
    begun: list[_File] = []
    try:
        for file in files:
            begun.append(file)
            _put(file, file.temporary)
    except BaseException as error:  # an interruption too: what is written in place may be there in part
        last = begun[-1]
        for other in reversed(begun if last.in_place else begun[:-1]):
            _put_back(other)
        if isinstance(error, OSError):
            raise _not_written(last.path, error) from None
        raise


def _put(file: _File, content: str) -> None:
    """Give a file the content of another one, which is beside it."""
    if not file.in_place:
        os.replace(content, file.target)
        return
    with open(content, "rb") as new, open(file.target, "r+b") as old:
        # What was there before is cut off last: a text that has room on the disk is never given up.
        shutil.copyfileobj(new, old)
        old.truncate()
        old.flush()
        os.fsync(old.fileno())


def _put_back(file: _File) -> None:
    try:
        _put(file, file.backup)
    except (OSError, KeyboardInterrupt) as error:
        why = getattr(error, "strerror", None) or str(error) or "interrupted"
        where = f"its old text is in {os.path.basename(file.backup)} beside it"
        raise NotWritten(file.path, f"is changed and could not be put back: {why}; {where}", file.backup) from None


def _not_written(path: str, error: OSError) -> NotWritten:
    return NotWritten(path, f"cannot be written: {error.strerror or error}")


def _remove(path: str) -> None:
    if path:
        try:
            os.unlink(path)
        except OSError:
            pass
