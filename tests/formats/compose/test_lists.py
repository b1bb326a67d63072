"""Compose files that a script, a page or a pipeline of the repository starts together."""

from __future__ import annotations

from pathlib import Path

from tests.project import fixed, run
from tests.table import table

BASE = "services:\n  a: {image: 'nvcr.io/nvidia/pytorch:24.01-py3', command: torchrun --nproc_per_node=8 train.py}\n"
GPU = "services:\n  a: {gpus: all}\n"
BIG = "services:\n  a: {shm_size: 16g}\n"
FILES = {"c/base.yml": BASE, "c/gpu.yml": GPU, "c/big.yml": BIG}
UP = "docker compose -f c/base.yml -f c/gpu.yml -f c/big.yml up"
ALL = [("c/base.yml", "c/gpu.yml", "c/big.yml")]
WORKFLOW = ".github/workflows/x.yml"


def started(directory: Path, files: dict[str, str]) -> list[tuple[str, ...]]:
    """The files of each launch of a service with a GPU."""
    launches = run(directory, files).launches
    return [launch.files for launch in launches if launch.gpu.requested and launch.kind == "compose-service"]


@table(
    "files",
    [
        {"run.sh": f"{UP}\n"},
        {"run.sh": UP.replace("-f ", "--file=").replace("docker compose", "sudo docker-compose -p x")},
        {"run.sh": f"cd c && {UP.replace('c/', '')}\n"},
        {"c/run.sh": f'cd "$(dirname "$0")"\n{UP.replace("c/", "")}\n'},
        {"c/run.sh": UP.replace("c/", "$HERE/")},
        {"scripts/run.sh": f'cd "$(dirname "$0")/.."\n{UP}\n'},
        {"run.sh": f'COMPOSE="{UP.removesuffix(" up")}"\n$COMPOSE up -d\n'},
        {"run.sh": 'files=(-f c/base.yml -f c/gpu.yml -f c/big.yml)\ndocker compose "${files[@]}" up\n'},
        {"run.sh": "COMPOSE_FILE=c/base.yml:c/gpu.yml:c/big.yml docker compose up\n"},
        {"run.sh": "export COMPOSE_FILE=c/base.yml:c/gpu.yml:c/big.yml\ndocker compose up\n"},
        {"Makefile": f"DC := {UP.removesuffix(' up')}\nup:\n\t$(DC) up\n"},
        {"README.md": f"# a\n\n```sh\n{UP.replace(' -f', f' {chr(92)}{chr(10)}  -f')}\n```\n"},
        {"README.md": f"# a\n\nStart it:\n\n    $ {UP}\n"},
        {"start.markdown": f"# a\n\n```sh\n{UP}\n```\n"},
        {"run.sh": 'C="docker compose -f c/base.yml"\n[ -n "$G" ] && C+=" -f c/gpu.yml"\nC="$C -f c/big.yml"\n$C up\n'},
        {"Makefile": "C := docker compose -f c/base.yml\nifeq ($(G),1)\nC += -f c/gpu.yml -f c/big.yml\nendif\n"
         "up:\n\t$(C) up\n"},
        {"package.json": f'{{"scripts": {{"x": "y", "up": "{UP}"}}}}'},
        {WORKFLOW: f"jobs:\n  a:\n    steps:\n      - run: {UP}\n"},
    ],
)
def test_what_a_command_names_is_a_project(tmp_path: Path, files: dict[str, str]) -> None:
    assert started(tmp_path, {**FILES, **files}) == ALL


@table(
    "files",
    [
        {},
        {"run.sh": "docker compose -f c/base.yml -f c/gpu.yml -f c/missing.yml up\n"},
        {"run.sh": 'docker compose -f c/base.yml -f c/gpu.yml -f "$MORE" up\n'},
        {"run.sh": f"{UP}\ndocker compose -f c/base.yml -f c/gpu.yml $X -f $MORE up\n"},
        {"run.sh": f"{UP}\ndocker compose -f c/gpu.yml up\n"},
        {"run.sh": f"echo '{UP}'\n"},
        {"run.sh": f"# {UP}\n"},
        {"run.sh": f"tool {UP.removeprefix('docker compose ')}\n"},
    ],
)
def test_other_combinations_are_read_where_it_is_not_known_what_else_is_started(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert ("c/base.yml", "c/gpu.yml") in started(tmp_path, {**FILES, **files})


def test_what_compose_finds_by_itself_is_read_too(tmp_path: Path) -> None:
    base = BASE.replace("}", ", gpus: all}")
    other = GPU.replace("gpus: all", "init: true")
    files = {"compose.yaml": base, "x/b.yml": other, "run.sh": "docker compose -f x/b.yml ps\n"}
    assert started(tmp_path, files) == [("compose.yaml",)]
    files["run.sh"] = "docker compose -f compose.yaml -f x/b.yml up\n"
    assert started(tmp_path, files) == [("compose.yaml",), ("compose.yaml", "x/b.yml")]


@table("image, gpus", [("nvcr.io/nvidia/pytorch:24.01-py3", "gpus: all,"), ("example/server:1", "")])
def test_a_size_that_an_override_uses_stays(tmp_path: Path, image: str, gpus: str) -> None:
    base = f"services:\n  a:\n    image: {image}\n    {gpus[:-1]}\n    shm_size: 16g\n    ipc: host\n"
    up = {"Makefile": "up:\n\tdocker compose -f compose.yaml -f deploy/prod.yaml up -d\n"}
    for override in ("private", "!reset null"):
        files = {"compose.yaml": base, "deploy/prod.yaml": f"services:\n  a: {{ipc: {override}}}\n"}
        assert "shm_size" not in fixed(tmp_path / "alone", files)["compose.yaml"]
        assert fixed(tmp_path / "started", {**files, **up}) == {}


@table(
    "second, changed",
    [
        ("-f c/base.yml -f c/big.yml -f c/gpu.yml", "c/base.yml"),
        ("-f c/base.yml -f c/gpu.yml -f c/big.yml", "c/gpu.yml"),
    ],
)
def test_a_size_is_not_put_over_a_larger_one(tmp_path: Path, second: str, changed: str) -> None:
    up = f"docker compose -f c/base.yml -f c/gpu.yml up\ndocker compose {second} up\n"
    assert [*fixed(tmp_path, {**FILES, "run.sh": up})] == [changed]


ROOTED = {
    "sub/a.yml": "services:\n  a:\n    extends: {file: base.yml, service: b}\n    gpus: all\n",
    "base.yml": "services:\n  b: {image: x, shm_size: 8g}\n",
    "sub/base.yml": "services:\n  b: {image: x, shm_size: 1g}\n",
}


@table(
    ("command", "sizes"),
    [
        ("docker compose --project-directory . -f sub/a.yml up", {8}),
        ("docker compose --project-directory=$PWD -f sub/a.yml up", {8}),
        ("docker compose --project-directory sub -f sub/a.yml up", {1}),
        ("docker compose -f sub/a.yml up", {1}),
        ("docker compose --project-directory sub --project-directory . -f sub/a.yml up", {8}),
        ("docker compose --project-directory . -f sub/a.yml up\ndocker compose -f sub/a.yml down", {8, 1}),
    ],
)
def test_paths_count_from_the_project_directory_that_a_command_names(
    tmp_path: Path, command: str, sizes: set[int]
) -> None:
    launches = run(tmp_path, {**ROOTED, "run.sh": f"{command}\n"}).launches
    found = [launch.effective_shm().bytes or 0 for launch in launches if launch.gpu.requested]
    assert {size >> 30 for size in found} == sizes
