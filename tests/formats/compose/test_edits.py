"""Compose files that the repository's own scripts change before they start them."""

from __future__ import annotations

from pathlib import Path

from tests import project
from tests.table import table

TEXT = """\
services:
  a:
    image: nvcr.io/nvidia/pytorch:24.01-py3
    gpus: all
    command: torchrun --nproc_per_node=8 train.py
"""
SIZED = f"{TEXT}    shm_size: 64m\n"
STEP = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: {}\n"


def rules(directory: Path, files: dict[str, str]) -> list[str]:
    """The rules of the errors; what has none is not fixed either."""
    found = [one.rule for one in project.findings(directory, files) if one.severity == "error"]
    assert bool(project.fixed(directory, files)) == bool(found)
    return found


@table(
    "script",
    [
        "sed -i 's/shm_size: .*/shm_size: 16g/' compose.yaml\n",
        'sed -i "s/shm_size: 64m/shm_size: $SHM/" compose.yaml\n',
        'sed -i.bak -E "s|(shm_size:) \\S+|\\1 $SHM|" ./compose.yaml\n',
        "sed -i '' -e s/64m/16g/ compose.yaml\n",
        "sed '/shm/s/[0-9].*/16g/' compose.yaml > big.yaml\n",
        "cat compose.yaml | sed s/64m/16g/ | docker compose -f - up\n",
        "sed s/64m/16g/ < compose.yaml | docker compose -f - up\n",
        'sed -i "s/$OLD/$NEW/" compose.yaml\n',
        "FILE=compose.yaml\nsudo sed -i s/64m/16g/ $FILE\n",
        'perl -pi -e "s/64m/16g/" "$HERE/compose.yaml"\n',
        "yq -i '.services.a.shm_size = \"16g\"' compose.yaml\n",
        "sed -i 's/# *ipc:/ipc:/' compose.yaml\n",
    ],
)
def test_a_size_that_a_script_replaces_is_not_known(tmp_path: Path, script: str) -> None:
    assert rules(tmp_path, {"compose.yaml": SIZED, "up.sh": script}) == []


@table(
    "script",
    [
        "sed -i 's/image: .*/image: nvcr.io/nvidia/pytorch:25.01-py3/' compose.yaml\n",
        "sed -i 's/\\r$//' compose.yaml\n",
        "sed -i s/164m/16g/ compose.yaml\n",
        "sed -i 's/shm_size: 32m/shm_size: 16g/' compose.yaml\n",
        "sed -i 's/64m/16g/' other.yaml # compose.yaml\n",
        "sed -i 's/64m/16g/' old/compose.yaml\n",
        "sed -n 's/shm_size: //p' compose.yaml\n",
        "yq '.services.a.shm_size' compose.yaml\n",
        "grep shm_size compose.yaml | sed s/64m/x/\n",
        "echo sed -i s/64m/16g/ compose.yaml\n",
    ],
)
def test_a_size_that_no_script_replaces_is_known(tmp_path: Path, script: str) -> None:
    assert rules(tmp_path, {"compose.yaml": SIZED, "up.sh": script}) == ["SHM102"]


@table(
    ("files", "errors"),
    [
        ({"Makefile": "up:\n\t@sed -i s/64m/16g/ compose.yaml && docker compose up\n"}, []),
        ({".github/workflows/a.yml": STEP.format("sed -i s/64m/16g/ compose.yaml")}, []),
        ({"tools/up.sh": 'cd "$(dirname "$0")/.."\nsed -i s/64m/16g/ compose.yaml\n'}, []),
        ({"README.md": "```sh\nsed -i s/64m/16g/ compose.yaml\n```\n"}, ["SHM102"]),
    ],
)
def test_the_files_that_change_one(tmp_path: Path, files: dict[str, str], errors: list[str]) -> None:
    assert rules(tmp_path, {"compose.yaml": SIZED, **files}) == errors


@table(
    ("script", "errors"),
    [
        ("sed -i 's/deploy/x/' compose.yaml\n", ["SHM101"]),
        ("sed -i 's/shm_size: 64m/shm_size: 16g/' compose.yaml\n", ["SHM101"]),
        ("sed -i '/gpus: all/a\\    shm_size: 16g' compose.yaml\n", []),
        ("sed -i 's/gpus: all/gpus: all\\n    shm_size: 16g/' compose.yaml\n", []),
        ("sed -i 's/# shm_size:/shm_size:/' compose.yaml\n", []),
        ("yq -i '.services.a.shm_size = \"16g\"' compose.yaml\n", []),
    ],
)
def test_a_size_that_a_script_adds(tmp_path: Path, script: str, errors: list[str]) -> None:
    assert rules(tmp_path, {"compose.yaml": TEXT, "up.sh": script}) == errors


def test_a_placeholder_that_a_script_replaces_is_no_invalid_size(tmp_path: Path) -> None:
    text = SIZED.replace("64m", "largest")
    files = {"base.tmpl.yml": text, "up.sh": "sed s/largest/16g/ base.tmpl.yml > compose.yaml\n"}
    assert rules(tmp_path, files) == []
    assert rules(tmp_path, {**files, "up.sh": "ls base.tmpl.yml\n"}) == ["SHM201"]


def test_a_file_in_another_directory(tmp_path: Path) -> None:
    files = {"deploy/gpu/compose.yaml": SIZED, "up.sh": "sed -i s/64m/16g/ deploy/gpu/compose.yaml\n"}
    assert rules(tmp_path, files) == []
    assert rules(tmp_path, {**files, "up.sh": "cd deploy && sed -i s/64m/16g/ gpu/compose.yaml\n"}) == []
    assert rules(tmp_path, {**files, "up.sh": "sed -i s/64m/16g/ compose.yaml\n"}) == ["SHM102"]
