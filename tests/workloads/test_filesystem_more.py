"""What a container sees of the repository."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

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


OWN = 'D="$(cd "$(dirname "$0")" && pwd)"'


@table(
    "script, mount, read",
    [
        (f"{OWN}\ncd ..", "$D", "tools/fit.py"),
        (f"cd ..\n{OWN}", "$D", "tools/fit.py (guessed)"),
        (f"if true; then pushd /data; fi\n{OWN}", "$D", "tools/fit.py (guessed)"),
        ("cd ..\nD=$(dirname $(realpath $0))", "$D", "tools/fit.py (guessed)"),
        ("cd ..", "$(dirname $(readlink -f $0))", "tools/fit.py (guessed)"),
        ("D=$(dirname $0)\ncd ..\nR=$(cd $D && pwd)", "$R", "tools/fit.py (guessed)"),
        (f"{OWN}\ncd /data\nR=$(cd $D/../other && pwd)", "$R", "other/fit.py"),
        (f'cd "$(dirname "$0")"\n{OWN}', "$D", "tools/fit.py"),
        (f'(cd .. && make)\n{OWN}', "$D", "tools/fit.py"),
        (f"cdrom=1\necho cd ..\n{OWN}", "$D", "tools/fit.py"),
        ("git clone https://example.org/a/b\ncd b", "$(git rev-parse --show-toplevel)/tools", "tools/fit.py (guessed)"),
        ('cd "$(dirname "$0")"', "$(git rev-parse --show-toplevel)/other", "other/fit.py"),
    ],
)
def test_a_script_that_has_gone_elsewhere_before_it_asks_where_it_is(
    tmp_path: Path, script: str, mount: str, read: str
) -> None:
    """It may be started by a path from where it was."""
    text = f"#!/bin/bash\n{script}\ndocker run --gpus all -v {mount}:/w -w /w me/image python fit.py\n"
    files = {"tools/run.sh": text, "tools/fit.py": LARGE, "other/fit.py": LARGE}
    assert [step.text for step in need(tmp_path, files).trail] == [read]
