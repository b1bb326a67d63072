"""What a container sees of the repository."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.test_program import DOCKERFILE, compose, need

LOADS = "from torch.utils.data import DataLoader\n"
CROPS = "from torchvision.transforms import RandomCrop\n"
LARGE = f"{LOADS}{CROPS}DataLoader(D(RandomCrop(224)), num_workers=8, batch_size=64)\n"


@table(
    "given, code, verdict",
    [
        ("", f"{LOADS}DataLoader(d)\n", "not-needed"),
        ("--volumes-from data ", f"{LOADS}DataLoader(d)\n", "unknown"),
        ("--volumes-from=$DATA:ro ", f"{LOADS}DataLoader(d)\n", "unknown"),
        ("", LARGE, "needed"),
        ("--volumes-from data ", LARGE, "likely"),
    ],
)
def test_volumes_of_another_container_may_hide_code(tmp_path: Path, given: str, code: str, verdict: str) -> None:
    text = f"docker build -t app .\ndocker run --gpus all {given}app python train.py\n"
    assert need(tmp_path, {"start.sh": text, "Dockerfile": DOCKERFILE, "train.py": code}).verdict == verdict


@table(
    "given, verdict",
    [
        ("", "not-needed"),
        ("    volumes_from: [data]\n", "unknown"),
        ("    volumes_from: ['container:data:ro']\n", "unknown"),
    ],
)
def test_volumes_of_another_service_may_hide_code(tmp_path: Path, given: str, verdict: str) -> None:
    more = f"{given}  data: {{image: busybox}}\n"
    files = {"compose.yaml": compose("python train.py", more), "Dockerfile": DOCKERFILE, "train.py": "print(1)\n"}
    assert need(tmp_path, files).verdict == verdict


def test_what_a_command_only_asks_for_is_in_no_volume(tmp_path: Path) -> None:
    text = "docker build -t app .\ndocker run --gpus all --volumes-from data app nvidia-smi\n"
    assert need(tmp_path, {"start.sh": text, "Dockerfile": DOCKERFILE}).verdict == "not-needed"
