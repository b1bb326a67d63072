"""Podman with images and containers of its own, as an engine that starts pods."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

IMAGE = "localhost/shmlint-probe:1"

CONFIGURATION = f"""\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
infra_image = "{IMAGE}"
infra_command = "/bin/sleep 60"
"""

class Podman:
    """Podman with images and containers of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        configuration = directory / "containers.conf"
        configuration.write_text(CONFIGURATION)
        self.environment = {**os.environ, "CONTAINERS_CONF": str(configuration)}

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        places = ["--root", str(self.directory / "root"), "--runroot", str(self.directory / "run")]
        return subprocess.run(
            ["podman", *places, "--storage-driver", "vfs", *words],
            env=self.environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def make_image(self, busybox: str) -> subprocess.CompletedProcess[str]:
        """An image of busybox and nothing else."""
        tree = self.directory / "tree"
        (tree / "bin").mkdir(parents=True)
        shutil.copy(busybox, tree / "bin/busybox")
        for name in ("sh", "df", "sleep"):
            (tree / "bin" / name).symlink_to("busybox")
        subprocess.run(["tar", "-C", str(tree), "-cf", str(self.directory / "tree.tar"), "."], check=True)
        return self("import", "--change", 'CMD ["/bin/sleep", "60"]', str(self.directory / "tree.tar"), IMAGE)


@contextmanager
def podman() -> Iterator[Podman]:
    """Podman with the image, in a directory that is removed afterwards."""
    busybox = shutil.which("busybox")
    assert busybox is not None, "tests/needs.py has looked for it"
    directory = Path(tempfile.mkdtemp(prefix="shm."))  # Podman's paths have to be short
    program = Podman(directory)
    try:
        program.make_image(busybox)
        yield program
    finally:
        program("kill", "--all")
        program("pod", "rm", "--all", "--force", "--time", "0")
        shutil.rmtree(directory, ignore_errors=True)


@cache
def refusal() -> str:
    """Why podman can start no container here, as in a container without the rights for it; empty if it can."""
    with podman() as program:
        tried = program("run", "--rm", "--network", "none", IMAGE, "df")
    return f"podman can start no container: {tried.stderr.strip()[-200:]}" if tried.returncode else ""
