"""Where the facts of a machine are read: its files, its environment and the sizes of its file systems."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from shmlint.model.record import NamedTuple


class NotLinux(Exception):
    """There is no /dev/shm to look at on this system."""


class Blocks(NamedTuple):
    """What statvfs says of a file system: fragments of ``frsize`` bytes, all and free."""

    frsize: int
    blocks: int
    free: int


def _statvfs(path: str) -> Blocks:
    status = os.statvfs(path)
    return Blocks(status.f_frsize, status.f_blocks, status.f_bfree)


class Machine(NamedTuple):
    """Where everything is read: a directory that stands for ``/``, and the environment."""

    root: str = "/"
    environment: Mapping[str, str] = os.environ
    platform: str = sys.platform
    statvfs: Callable[[str], Blocks] = _statvfs

    def path(self, name: str) -> str:
        return os.path.join(self.root, name.lstrip("/"))

    def text(self, name: str) -> str:
        """What a file says; nothing where it cannot be read."""
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def names(self, name: str) -> list[str]:
        """What a directory holds, sorted."""
        try:
            return sorted(os.listdir(self.path(name)))
        except OSError:
            return []

    def exists(self, name: str) -> bool:
        return os.path.lexists(self.path(name))
