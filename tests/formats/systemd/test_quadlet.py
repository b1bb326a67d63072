"""The containers of Quadlet, and edits in them."""

from __future__ import annotations

from pathlib import Path

from tests.formats.started import IMAGE, launches, one
from tests.formats.systemd.units import QUADLET
from tests.project import fixed
from tests.table import table


def test_quadlet(tmp_path: Path) -> None:
    more = "ShmSize=1g\nContainerName=c\nVolume=/a:/b\nEnvironment=A=b \"C=d e\"\nUlimit=memlock=-1\nPod=p.pod\n"
    launch = one(tmp_path, QUADLET + more, "x.container")
    assert (launch.engine, launch.name, launch.words.launch) == ("podman", "c", f"container of {IMAGE}")
    assert launch.shm is not None and launch.shm.text == "1g"
    assert {k: v.value for k, v in launch.environment.items()} == {"A": "b", "C": "d e"}
    assert [bind.source for bind in launch.binds] == ["/a"] and "memlock" in launch.ulimits
    assert launch.command is not None and launch.command.known == ("torchrun", "--nproc_per_node=8", "train.py")
    assert launch.effective_shm().decided_by == "unknown", "a pod shares its /dev/shm"
    assert one(tmp_path, QUADLET + "PodmanArgs=--ipc=host\n", "x.container").effective_shm().decided_by == "host"
    (built,) = launches(tmp_path, QUADLET.replace(IMAGE, "x.build"), "x.container")
    assert built.image is not None and built.image.known is None


@table(
    ("before", "after"),
    [
        (QUADLET, QUADLET.replace("=all\n", "=all\nShmSize=8g\n")),
        (QUADLET.replace("\n", "\r\n"),
         QUADLET.replace("=all\n", "=all\nShmSize=8g\n").replace("\n", "\r\n")),
        (f"{QUADLET}ShmSize = 64m\n", f"{QUADLET}ShmSize = 8g\n"),
        (f"{QUADLET}PodmanArgs=--rm --shm-size 64m\n", f"{QUADLET}PodmanArgs=--rm --shm-size 8g\n"),
    ],
)  # fmt: skip
def test_rewriting(tmp_path: Path, before: str, after: str) -> None:
    assert fixed(tmp_path, {"x.container": before}) == {"x.container": after}
    assert fixed(tmp_path, {"x.container": after}) == {}


def test_quadlet_rewrites_its_other_keys(tmp_path: Path) -> None:
    text = QUADLET + "ShmSize=8g\nPodmanArgs=--ipc=host\n"
    assert fixed(tmp_path, {"x.container": text}, unsafe=True) == {"x.container": text.replace("ShmSize=8g\n", "")}
