"""What is mounted where: the lines of /proc/self/mountinfo."""

from __future__ import annotations

import re

from shmlint.model.record import NamedTuple
from shmlint.model.source import Source, Span


class MountPoint(NamedTuple):
    root: str
    point: str
    options: tuple[str, ...]
    filesystem: str
    device: str
    super_options: tuple[str, ...]
    span: Span


def mount_points(source: Source) -> list[MountPoint]:
    """The lines of /proc/self/mountinfo (proc_pid_mountinfo(5)); of those at one place the last is seen."""
    found = []
    at = 0
    for line in source.text.splitlines(keepends=True):
        span = Span(source, at, at + len(line.rstrip("\n")))
        at += len(line)
        before, dash, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if dash and len(left) >= 6 and len(right) >= 2:
            more = tuple(right[2].split(",")) if len(right) > 2 else ()
            found.append(
                MountPoint(
                    _unescaped(left[3]), _unescaped(left[4]), tuple(left[5].split(",")), right[0], right[1], more, span
                )
            )
    return found


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
