"""A machine read from inside, on trees that stand for ``/``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from shmlint.formats.live.facts import read_facts
from shmlint.formats.live.machine import Blocks, NotLinux
from tests.machine import DEV, DISK, GIB, MIB, NVIDIA, OWN, ROOT, TMPFS, machine
from tests.table import table


@table(
    ("mounts", "by", "size"),
    [
        ((ROOT, DEV, OWN), "engine", 64 * MIB),
        ((ROOT, DEV, TMPFS), "tmpfs", 64 * MIB),
        ((ROOT, DEV, OWN, TMPFS), "tmpfs", 64 * MIB),
        ((ROOT, DEV, TMPFS, OWN), "engine", 64 * MIB),
        ((ROOT, DEV, DISK), "disk", 64 * MIB),
        ((ROOT, DEV), "nothing", None),
        ((), "unknown", None),
        (("broken", "1 2 3 - tmpfs", " - - ", OWN), "engine", 64 * MIB),
    ],
)
def test_what_mounted_it(tmp_path: Path, mounts: Sequence[str], by: str, size: int | None) -> None:
    shm = read_facts(machine(tmp_path, mounts=mounts)).shm
    assert (shm.by, shm.size) == (by, size)


@pytest.mark.parametrize(("mounts", "by"), [((ROOT, DEV), "tmpfs"), ((ROOT,), "disk")])
def test_a_directory_lies_in_what_is_mounted_above(tmp_path: Path, mounts: Sequence[str], by: str) -> None:
    assert read_facts(machine(tmp_path, {"dev/shm/x": ""}, mounts=mounts)).shm.by == by


def test_size_and_use(tmp_path: Path) -> None:
    shm = read_facts(machine(tmp_path, size=GIB, used=3 * MIB)).shm
    assert (shm.size, shm.used) == (GIB, 3 * MIB)
    assert shm.span.line == 3 and shm.span.text == OWN


def test_a_shm_whose_size_cannot_be_read(tmp_path: Path) -> None:
    def refuse(path: str) -> Blocks:
        assert Path(path) == tmp_path / "dev/shm"
        raise PermissionError

    here = machine(tmp_path)._replace(statvfs=refuse)
    assert read_facts(here).shm.size is None


def test_limits(tmp_path: Path) -> None:
    limits = read_facts(machine(tmp_path)).limits
    assert {name: (limit.soft, limit.hard) for name, limit in limits.items()} == {
        "stack": (8 * MIB, -1), "nofile": (1024, 1048576), "memlock": (65536, 65536),
    }  # fmt: skip
    assert limits["memlock"].span.line == 4


AMD = ("/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129", "/dev/dri/card0")


@table(
    ("nodes", "environment", "count", "visible", "vendor"),
    [
        ((), {}, 0, 0, None),
        ((), {"NVIDIA_VISIBLE_DEVICES": "all"}, 0, 0, None),
        (NVIDIA, {}, 2, 2, "nvidia"),
        (NVIDIA, {"CUDA_VISIBLE_DEVICES": "1"}, 2, 1, "nvidia"),
        (NVIDIA, {"CUDA_VISIBLE_DEVICES": "0,1,2,3"}, 2, 2, "nvidia"),
        (NVIDIA, {"CUDA_VISIBLE_DEVICES": "0,-1,1"}, 2, 1, "nvidia"),
        (NVIDIA, {"CUDA_VISIBLE_DEVICES": ""}, 2, 0, "nvidia"),
        (NVIDIA, {"NVIDIA_VISIBLE_DEVICES": "0"}, 2, 2, "nvidia"),
        (AMD, {}, 2, 2, "amd"),
        (AMD, {"HIP_VISIBLE_DEVICES": "0"}, 2, 1, "amd"),
        (("/dev/kfd",), {}, None, None, "amd"),
        (("/dev/dri/renderD128",), {}, 0, 0, None),
        (("/dev/dxg",), {}, None, None, "nvidia"),
        (("/dev/nvidiactl",), {}, 0, 0, None),
        (("/dev/davinci0", "/dev/davinci1", "/dev/davinci_manager"), {}, 2, 2, None),
        (("/dev/mxcd",), {}, None, None, None),
    ],
)
def test_gpus(
    tmp_path: Path, nodes: Sequence[str], environment: dict[str, str], count: int | None, visible: int | None,
    vendor: str | None,
) -> None:  # fmt: skip
    gpus = read_facts(machine(tmp_path, nodes=nodes, environment=environment)).gpus
    assert (gpus.number, gpus.visible, gpus.vendor) == (count, visible, vendor)


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({}, "docker"),
        ({"run/.containerenv": ""}, "podman"),
        ({"var/run/secrets/kubernetes.io/x": ""}, "kubernetes"),
    ],
)
def test_in_a_container(tmp_path: Path, files: dict[str, str], kind: str) -> None:
    assert read_facts(machine(tmp_path, files)).container == kind


@pytest.mark.parametrize(
    ("cgroup", "kind"),
    [("0::/\n", ""), ("4:memory:/docker/abc\n", "docker"), ("0::/kubepods.slice/x\n", "kubernetes"),
     ("0::/machine.slice/libpod-1.scope\n", "podman"), ("0::/user.slice\n", "")],
)  # fmt: skip
def test_in_a_container_by_its_cgroup(tmp_path: Path, cgroup: str, kind: str) -> None:
    here = machine(tmp_path, {"proc/self/cgroup": cgroup})
    (tmp_path / ".dockerenv").unlink()
    assert read_facts(here).container == kind


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_elsewhere_than_on_linux(tmp_path: Path, platform: str) -> None:
    with pytest.raises(NotLinux):
        read_facts(machine(tmp_path)._replace(platform=platform))
