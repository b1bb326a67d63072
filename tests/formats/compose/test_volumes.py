"""Volumes that a file defines, mounted on /dev/shm."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.files.workspace import Workspace
from shmlint.formats.compose.read import read
from shmlint.model.launch import Launch, Unknown
from shmlint.model.settings import Settings
from tests.project import findings
from tests.table import table

GB = 1 << 30
A = "services:\n  a:\n    image: x\n    gpus: all\n    volumes: ['shm:/dev/shm']\n"
TMPFS = "driver_opts: {type: tmpfs, device: tmpfs, o: %s}"


def launch_of(files: dict[str, str]) -> Launch:
    (launch,) = read(["compose.yaml"], Workspace(files), Settings()).launches
    return launch


def volume(text: str) -> dict[str, str]:
    return {"compose.yaml": A + f"volumes:\n  shm: {{{text}}}\n"}


OTHER_FILE = {"compose.override.yaml": "volumes:\n  shm: {driver_opts: {o: size=4g}}\n"}


@table(
    ("files", "decided_by", "size"),
    [
        (volume(TMPFS % "size=8g"), "tmpfs", 8 * GB),
        (volume("driver: local, " + TMPFS % "'uid=5,size=2g,mode=1777'"), "tmpfs", 2 * GB),
        (volume(TMPFS % "'size=${SHM:-4g}'"), "tmpfs", 4 * GB),
        ({**volume(TMPFS % "'size=${SHM}'"), ".env": "SHM=3g\n"}, "tmpfs", 3 * GB),
        (volume("driver_opts: {type: tmpfs, device: none}"), "tmpfs", None),
        (volume(TMPFS % "size=0"), "tmpfs", None),
        (volume("driver_opts: {type: none, device: /dev/shm, o: bind}"), "bind", None),
        ({**volume(TMPFS % "size=1g"), **OTHER_FILE}, "tmpfs", 4 * GB),
        ({"compose.yaml": A + "volumes: {shm: &v {" + TMPFS % "size=1g" + "}, other: *v}\n"}, "tmpfs", GB),
        ({"compose.yaml": A.replace("'shm:/dev/shm'", "{type: volume, source: shm, target: /dev/shm}")
          + "volumes: {shm: {" + TMPFS % "size=1g" + "}}\n"}, "tmpfs", GB),
        ({"compose.yaml": "include: [v.yaml]\n" + A, "v.yaml": "volumes: {shm: {" + TMPFS % "size=1g" + "}}\n"},
         "tmpfs", GB),
        (volume(""), "volume", None),
        (volume("driver: local"), "volume", None),
    ],
)  # fmt: skip
def test_what_a_volume_gives(files: dict[str, str], decided_by: str, size: int | None) -> None:
    launch = launch_of(files)
    effective = launch.effective_shm()
    assert (effective.decided_by, effective.bytes, effective.because) == (decided_by, size, "")


def test_a_volume_is_handed_on_whatever_it_is() -> None:
    text = A.replace("image: x", "image: x\n    volumes_from: [b]").replace("    volumes: ['shm:/dev/shm']\n", "")
    text += f"  b: {{image: y, volumes: ['shm:/dev/shm']}}\nvolumes: {{shm: {{{TMPFS % 'size=8g'}}}}}\n"
    launches = read(["compose.yaml"], Workspace({"compose.yaml": text}), Settings()).launches
    assert [launch.effective_shm().bytes for launch in launches] == [8 * GB, 8 * GB]


@table(
    ("files", "kind", "because"),
    [
        (volume("external: true"), "engine", "volume `shm` is external: whoever creates it sets its size"),
        (volume("external: {name: x}"), "engine", "volume `shm` is external"),
        (volume("driver: rclone, " + TMPFS % "size=8g"), "engine", "driver `rclone` makes volume `shm`"),
        (volume("driver: '${DRIVER}'"), "engine", "a driver that a variable names makes volume `shm`"),
        (volume(TMPFS % "'size=${SHM}'"), "variable", "variable SHM is not set here"),
        (volume("driver_opts: {type: '${T}', device: tmpfs}"), "engine", "the options of volume `shm`"),
        # The engine refuses a type without a device, and has a size of its own on some disks only.
        (volume("driver_opts: {type: tmpfs, o: size=8g}"), "engine", "the options of volume `shm`"),
        (volume("driver_opts: {type: tmpfs, device: tmpfs, size: 8g}"), "engine", "the options of volume `shm`"),
    ],
)
def test_what_is_not_known(files: dict[str, str], kind: str, because: str) -> None:
    launch = launch_of(files)
    (mount,) = launch.mounts
    assert isinstance(mount.size, Unknown) and mount.size.kind == kind
    assert because in mount.size.because and launch.effective_shm().bytes is None


def test_a_size_that_the_kernel_refuses(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, volume(TMPFS % "size=8gb")["compose.yaml"], select=("SHM207",))
    assert found.span.text == "8gb"


@pytest.mark.parametrize(("size", "rules"), [("1g", ["SHM102"]), ("8g", [])])
def test_the_size_is_compared_with_the_need(tmp_path: Path, size: str, rules: list[str]) -> None:
    text = A.replace("image: x", "image: vllm/vllm-openai\n    command: --tensor-parallel-size 4")
    found = findings(tmp_path, text + "volumes: {shm: {" + TMPFS % f"size={size}" + "}}\n")
    assert [each.rule for each in found] == rules


def test_a_size_beside_a_volume_of_somebody_else(tmp_path: Path) -> None:
    text = volume("external: true")["compose.yaml"].replace("    gpus", "    shm_size: 8g\n    gpus")
    (found,) = findings(tmp_path, text, select=("SHM208",))
    assert found.message.endswith("shm_size has no effect: the volume `shm` is mounted on /dev/shm")
