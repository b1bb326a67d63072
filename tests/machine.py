"""A machine on a tree that is used as ``/``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from shmlint.formats.live.machine import Blocks, Machine

MIB = 1024 * 1024
GIB = 1024 * MIB

ROOT = "70 60 0:40 / / rw,relatime - overlay overlay rw,lowerdir=/l"
DEV = "74 70 0:44 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755"
OWN = "88 74 0:47 / /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs shm rw,size=65536k"
TMPFS = "91 74 0:47 / /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,size=2097152k"
DISK = "92 74 8:1 /srv/shm /dev/shm rw,relatime shared:3 - ext4 /dev/sda1 rw"
LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max stack size            8388608              unlimited            bytes
Max open files            1024                 1048576              files
Max locked memory         65536                65536                bytes
Max realtime timeout      unlimited            unlimited            us
"""
UNLIMITED = LIMITS.replace("65536                65536 ", "unlimited            unlimited ")

V2 = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
V2_BELOW = "31 23 0:28 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw"
V1 = "81 77 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory"
V1_TOP = "81 77 0:32 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory"

NVIDIA = ("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-caps/nvidia-cap1")


def machine(
    root: Path,
    files: Mapping[str, str] | None = None,
    *,
    mounts: Sequence[str] = (ROOT, DEV, OWN),
    nodes: Sequence[str] = (),
    size: int = 64 * MIB,
    used: int = 0,
    environment: Mapping[str, str] | None = None,
) -> Machine:
    """A tree with these files and device nodes, and a /dev/shm of so many bytes."""
    written = {
        "proc/self/mountinfo": "".join(f"{mount}\n" for mount in mounts),
        "proc/self/limits": LIMITS,
        ".dockerenv": "",
        **{node.lstrip("/"): "" for node in nodes},
        **(files or {}),
    }
    for name, text in written.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    blocks = Blocks(4096, size // 4096, (size - used) // 4096)
    return Machine(str(root), environment or {}, "linux", lambda path: blocks)
