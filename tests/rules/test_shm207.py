"""SHM207: sizes of a tmpfs that the kernel refuses, and what is written instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from shmlint.fixing.plan import planned
from tests.project import findings, fixed
from tests.table import table

RULE = ("SHM207",)


def compose(option: str) -> str:
    return f"services:\n  x:\n    image: x\n    gpus: all\n    tmpfs: ['/dev/shm:{option}']\n"


def shell(option: str) -> str:
    return f"docker run --gpus all --tmpfs '/dev/shm:{option}' x\n"


# Refused and taken as `mount -t tmpfs -o size=…` does on Linux 6.18.
RESPELLED = [
    ("size=8gb", "size=8g"),
    ("size=8GiB", "size=8g"),
    ("size=8Gi", "size=8g"),
    ("size=1.5g", "size=1536m"),
    ("size=512MB", "size=512m"),
    ("size=8 gb", "size=8g"),
    ("size=1073741824b", "size=1g"),
    ("size=12345b", "size=12345"),
    ("rw,size=8gb,mode=1777", "rw,size=8g,mode=1777"),
    ("size=08", "size=8"),
    ("size=1g,size=8gb", "size=1g,size=8g"),  # of several the last one counts
]
BY_HAND = ["size=", "size=x", "size=-1", "size=-8g", "size=0b", "size=much,mode=1777", "size=50%%"]
FINE = [
    "size=8g", "size=8gb,size=8g", "size=8G", "size=50%", "size=0", "size=0x10", "size=1e", "mode=1777", "rw",
    "size=SIZE", "size=<size>", "size=XXg",
]  # fmt: skip


WAYS = [("compose.yaml", compose), ("run.sh", shell)]


@table(("name", "write"), WAYS)
@table(("option", "right"), RESPELLED)
def test_is_respelled(tmp_path: Path, name: str, write: Callable[[str], str], option: str, right: str) -> None:
    (found,) = findings(tmp_path, {name: write(option)}, select=RULE)
    assert found.severity == "error"
    assert "cannot be mounted" in found.message
    assert fixed(tmp_path, {}, select=RULE) == {name: write(right)}
    assert findings(tmp_path, {name: write(right)}, select=RULE) == []


def test_without_a_gpu_too(tmp_path: Path) -> None:
    """The container does not start, whatever it is for."""
    text = "services:\n  x:\n    image: nginx\n    tmpfs: ['/dev/shm:size=8gb']\n"
    assert [found.rule for found in findings(tmp_path, text)] == ["SHM207"]


@table(("name", "write"), WAYS)
@table("option", BY_HAND)
def test_is_left_to_people(tmp_path: Path, name: str, write: Callable[[str], str], option: str) -> None:
    (found,) = findings(tmp_path, {name: write(option)}, select=RULE)
    assert found.fix is None
    assert fixed(tmp_path, {}, select=RULE) == {}


@table(("name", "write"), WAYS)
@table("option", FINE)
def test_is_fine(tmp_path: Path, name: str, write: Callable[[str], str], option: str) -> None:
    assert findings(tmp_path, {name: write(option)}, select=RULE) == []


def test_a_size_out_of_an_env_file_is_neither_shown_nor_rewritten(tmp_path: Path) -> None:
    files = {"compose.yaml": compose("size=${SIZE}"), ".env": "SIZE=77gb\n"}
    (found,) = findings(tmp_path, files, select=RULE)
    assert "77" not in found.message
    assert fixed(tmp_path, files, select=RULE) == {}


def test_a_default_that_is_refused(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, compose("size=${SIZE:-8gb}"), select=RULE)
    assert fixed(tmp_path, {}, select=RULE) == {}, "the size is not written where it would be replaced"
    assert found.fix is None


def test_what_docker_reads_is_no_matter_of_the_kernels(tmp_path: Path) -> None:
    files = {
        "compose.yaml": "services:\n  x: {image: x, volumes: [{type: tmpfs, target: /dev/shm, tmpfs: {size: 8gb}}]}\n",
        "run.sh": "docker run --mount type=tmpfs,dst=/dev/shm,tmpfs-size=8gb x\n",
    }
    assert findings(tmp_path, files, select=RULE) == []


def test_of_two_sizes_the_last_counts(tmp_path: Path) -> None:
    """The engine leaves out the first before it mounts (moby/sys mount, MergeTmpfsOptions)."""
    assert findings(tmp_path, {"run.sh": shell("size=8gb,size=8g")}, select=RULE) == []
    files = {"run.sh": shell("size=1g,size=8gb")}
    assert fixed(tmp_path, files, select=RULE) == {"run.sh": shell("size=1g,size=8g")}


@table(
    "words, written",
    [
        ("--mount type=tmpfs,dst=/dev/shm,tmpfs-size=8Gi", "write `tmpfs-size=8g` in line 1"),
        ("--tmpfs /dev/shm:size=8Gi", "write `size=8g` in line 1"),
    ],
)
def test_the_title_names_the_key_that_is_there(tmp_path: Path, words: str, written: str) -> None:
    (found,) = findings(tmp_path, {"run.sh": f"docker run --gpus all {words} x\n"}, select=RULE)
    change = planned(found)
    assert change is not None and change.title == written
