"""Writing: each file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping

from shmlint.run import Run


class NotWritten(Exception):
    """A fixed file could not be written; it is as it was."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def write(run: Run, texts: Mapping[str, str]) -> Iterator[str]:
    """Write the new texts, each file whole or not at all; yields the paths as they are written.

    Raises NotWritten for a file that cannot be written or changed since it was read.
    """
    for path, text in texts.items():
        _write(path, run.workspace.on_disk(path), run.workspace.source(path).text, text)
        yield path


def _write(path: str, on_disk: str, old: str, new: str) -> None:
    target = os.path.realpath(on_disk)
    temporary = ""
    try:
        with open(target, "rb") as file:
            if file.read() != old.encode("utf-8"):
                raise NotWritten(path, "it changed while it was being read; run shmlint again")
        before = os.stat(target)
        if not before.st_mode & 0o222 or not os.access(target, os.W_OK):
            # Replacing it needs no permission of its own; who took the permission away means the text.
            raise NotWritten(path, "cannot be written: it is read-only")
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".shmlint-")
        with os.fdopen(handle, "wb") as file:
            file.write(new.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if hasattr(os, "chown"):  # a run as root in a container leaves the file to its owner
            try:
                os.chown(temporary, before.st_uid, before.st_gid)
            except OSError:
                pass
        os.chmod(temporary, before.st_mode & 0o7777)
        os.replace(temporary, target)
        temporary = ""
    except OSError as error:
        raise NotWritten(path, f"cannot be written: {error.strerror or error}") from None
    finally:
        if temporary:
            try:
                os.unlink(temporary)
            except OSError:
                pass
