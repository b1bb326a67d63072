"""``shmlint doctor`` in containers of a real engine says what ``df`` says there.

    DOCKER_HOST=unix:///… pytest -m engine

The engine needs the image that tests/oracles/probe_image.sh makes. It has no Python, so this machine's is
mounted read-only at the places where it is here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import uuid
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import shmlint
from shmlint.cli import program as cli
from tests.needs import PROBE

pytestmark = pytest.mark.engine

TORCHRUN = ("torchrun", "--nproc_per_node=8", "train.py")


@cache
def python() -> tuple[str, ...]:
    """Options that bring the interpreter, its libraries and the package into a container."""
    folders = {Path("/usr"), Path("/lib"), Path("/lib64"), Path(sys.prefix), Path(sys.base_prefix)}
    folders |= {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib", "platstdlib")}
    package = Path(shmlint.__file__).parent
    folders |= {package, package.parent / "rules"}
    found = sorted(folder for folder in folders if folder.is_dir())
    inner = [folder for folder in found if any(other in folder.parents for other in found)]
    return tuple(word for folder in found if folder not in inner for word in ("-v", f"{folder}:{folder}:ro"))


def container(*options: str, script: str, arguments: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    path = ["-e", f"PYTHONPATH={Path(shmlint.__file__).parents[1]}", "-e", "PYTHONDONTWRITEBYTECODE=1"]
    command = ["docker", "run", "--rm", "--network", "none", *python(), *path, *options, PROBE, "sh", "-c", script]
    return subprocess.run([*command, "sh", *arguments], capture_output=True, text=True, timeout=120)


def doctor(*options: str, arguments: tuple[str, ...] = ()) -> tuple[dict[str, Any], int | None, int | None]:
    """What `shmlint doctor` says in a container, and KiB of /dev/shm there by ``df``, all and used."""
    name = f"shmlint-{uuid.uuid4().hex}"
    script = (
        f"cat /bin/busybox >/dev/shm/{name}; df -k /dev/shm 2>/dev/null; echo; "
        f'{sys.executable} -m shmlint doctor --format json --exit-zero "$@"; status=$?; '
        f"busybox rm -f /dev/shm/{name}; exit $status"
    )
    done = container(*options, script=script, arguments=arguments)
    assert done.returncode == 0, done.stderr
    table, _, report = done.stdout.partition("\n\n") if "Filesystem" in done.stdout else ("", "", done.stdout)
    rows = [line.split() for line in table.splitlines()[1:]]
    row = next((row for row in rows if row[-1] in ("/dev/shm", "/dev")), None)
    return json.loads(report), int(row[1]) if row else None, int(row[2]) if row else None


@pytest.mark.parametrize(
    ("options", "by", "kib"),
    [
        ((), "engine", 65536),
        (("--shm-size=1g",), "engine", 1 << 20),
        (("--ipc=shareable", "--shm-size=96m"), "engine", 96 << 10),
        (("--ipc=host",), "tmpfs", None),
        (("-v", "/dev/shm:/dev/shm", "--shm-size=1g"), "tmpfs", None),
        (("--tmpfs", "/dev/shm:size=2g"), "tmpfs", 2 << 20),
        (("--mount", "type=tmpfs,dst=/dev/shm,tmpfs-size=48m", "--shm-size=1g"), "tmpfs", 48 << 10),
        (("-v", "/tmp:/dev/shm:ro"), "disk", None),
        (("--ipc=none",), "nothing", None),
    ],
)
def test_it_says_what_df_says(options: tuple[str, ...], by: str, kib: int | None) -> None:
    report, size, used = doctor(*options)
    shm = report["machine"]["shm"]
    assert report["machine"]["container"] == "docker"
    assert (shm["mounted"], shm["mounted_by"]) == (by != "nothing", by)
    if by == "nothing":
        assert (size, shm["size_bytes"], shm["used_bytes"]) == (None, None, None)
        return
    assert size is not None and used is not None
    assert shm["size_bytes"] == size << 10
    if by == "engine" or kib is not None:  # others write to what is the host's meanwhile
        assert shm["used_bytes"] == used << 10 and used > 0
    assert kib is None or size == kib


@pytest.mark.parametrize(
    ("options", "rules"),
    [((), {"SHM101"}), (("--shm-size=128m",), {"SHM102"}), (("--shm-size=16g",), set()), (("--ipc=none",), {"SHM102"})],
)
def test_it_judges_a_command(options: tuple[str, ...], rules: set[str]) -> None:
    report, _, _ = doctor(*options, arguments=("--select", "SHM1", "--gpus", "8", "--", *TORCHRUN))
    assert {finding["rule"] for finding in report["findings"]} == rules
    assert report["need"]["verdict"] == "needed"


@pytest.mark.parametrize(("given", "limit"), [("", None), ("128m", 128 << 20), ("1g", 1 << 30)])
def test_the_memory_limit(given: str, limit: int | None) -> None:
    report, _, _ = doctor(*(["--memory", given] if given else []))
    assert report["machine"]["memory_limit_bytes"] == limit


def test_only_nccl_variables_are_told() -> None:
    report, _, _ = doctor("-e", "NCCL_DEBUG=WARN", "-e", "TOKEN=very-secret")
    assert report["machine"]["nccl"] == {"NCCL_DEBUG": "WARN"}
    assert "very-secret" not in json.dumps(report)


# docker inspect ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "decided_by", "size"),
    [
        ([], "default", 64 << 20),
        (["--shm-size=1g"], "shm_size", 1 << 30),
        (["--shm-size=64"], "shm_size", 64),
        (["--ipc=shareable", "--shm-size=96m"], "shm_size", 96 << 20),
        (["--ipc=host", "--shm-size=1g"], "host", None),
        (["--ipc=none"], "none", 0),
        (["--tmpfs", "/dev/shm:size=2g"], "tmpfs", 2 << 30),
        (["--mount", "type=tmpfs,dst=/dev/shm,tmpfs-size=48m"], "tmpfs", 48 << 20),
        (["-v", "/dev/shm:/dev/shm"], "bind", None),
        (["-v", "/dev:/dev"], "bind", None),
        (["-v", "/dev/shm"], "volume", None),
    ],
)
def test_inspect_says_what_becomes_of_it(
    options: list[str], decided_by: str, size: int | None, tmp_path: Path
) -> None:
    def docker(*words: str) -> str:
        done = subprocess.run(["docker", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    name = docker("create", "--network", "none", *options, PROBE, "sleep", "60").strip()
    try:
        (tmp_path / "inspect.txt").write_text(docker("inspect", name))
    finally:
        docker("rm", "--force", "--volumes", name)
    from click.testing import CliRunner

    result = CliRunner().invoke(cli.program, ["inventory", "--format", "json", str(tmp_path / "inspect.txt")])
    (launch,) = json.loads(result.stdout)["launches"]
    assert (launch["shm"]["decided_by"], launch["shm"]["effective_bytes"]) == (decided_by, size)
    assert (launch["image"], launch["command"]) == (PROBE, ["sleep", "60"])
    assert launch["gpu"]["requested"] is False
