"""Reads and fixes CI files for the tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from shmlint.model.launch import Launch
from tests.project import fixed, run

IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"
RUN = f"docker run --gpus all --rm {IMAGE} python train.py"
FIXED = f"docker run --gpus all --shm-size=8g --rm {IMAGE} python train.py"
SERVE = "vllm serve m --tensor-parallel-size 2"
GITHUB = ".github/workflows/test.yml"
JOB = "on: push\njobs:\n  train:\n    runs-on: gpu\n"


def steps(text: str) -> str:
    return f"{JOB}    steps:\n{text}"


def launches(directory: Path, text: str, name: str = GITHUB) -> list[Launch]:
    return run(directory, {name: text}).launches


def lines(directory: Path, text: str, name: str = GITHUB) -> list[int]:
    found = launches(directory, text, name)
    for launch in found:
        if launch.kind == "docker-run":
            assert launch.span.text in ("docker", "podman", "nvidia-docker")
    return [launch.span.line for launch in found]


def load(text: str) -> Any:
    return list(YAML(typ="safe", pure=True).load_all(text.removeprefix("\ufeff")))


def without_size(value: Any) -> Any:
    """A loaded document as it was before ``--shm-size=8g`` came in."""
    if isinstance(value, dict):
        return {key: without_size(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_size(item) for item in value]
    if not isinstance(value, str):
        return value
    for new in ("  --shm-size=8g \\\n", " --shm-size=8g", "--shm-size=8g "):
        value = value.replace(new, "")
    return value


def after_fix(directory: Path, text: str, name: str = GITHUB) -> str:
    """The text after fixing: all there is to fix, and to YAML nothing else has changed."""
    new = fixed(directory, {name: text}).get(name, text)
    assert fixed(directory, {name: new}) == {}
    assert without_size(load(new)) == without_size(load(text))
    return new
