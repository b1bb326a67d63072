"""What a file of commands starts, for the tests of the formats that hold commands."""

from __future__ import annotations

from pathlib import Path

from shmlint.model.launch import Launch
from tests.project import run

IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"
TRAIN = f"{IMAGE} torchrun --nproc_per_node=8 train.py"
RUN = "docker run --gpus all"


def launches(directory: Path, text: str, name: str) -> list[Launch]:
    """The launches of a file of this name; ``IMG`` stands for an image."""
    return run(directory, {name: text.replace("IMG", IMAGE)}).launches


def one(directory: Path, text: str, name: str) -> Launch:
    (launch,) = launches(directory, text, name)
    return launch


def seen(directory: Path, text: str, name: str) -> tuple[str, object, int]:
    """The image, the number of GPUs and the line of a launch that is known in full."""
    launch = one(directory, text, name)
    assert launch.image is not None
    assert (launch.gpu.requested, launch.undecided) == (True, None)
    return launch.image.text, launch.gpu.number, launch.span.line
