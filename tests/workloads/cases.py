"""Small repositories that many tests of workloads start from, and what their launches need."""

from __future__ import annotations

import contextlib
from pathlib import Path

from shmlint.model.need import Need
from tests.project import run

GPUS = "deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}"
LOADER = """
from torch.utils.data import DataLoader
import argparse

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    crop = RandomResizedCrop(224)
    loader = DataLoader(data(crop), batch_size=args.batch_size, num_workers=args.workers)

if __name__ == "__main__":
    main()
"""
SERVE = "import json\nfrom helper import answer\nprint(answer(json.loads('1')))\n"
HELPER = "import torch\n\ndef answer(x):\n    return torch.tensor(x)\n"
DOCKERFILE = "FROM python:3.12\nWORKDIR /app\nCOPY . .\n"


def need(directory: Path, files: dict[str, str], paths: tuple[str, ...] = (".",)) -> Need:
    """What the first launch with a GPU needs, in the files that are named."""
    (directory / ".git").mkdir(parents=True, exist_ok=True)
    started = run(directory, files, paths=paths)
    with contextlib.chdir(directory):
        launch = next(launch for launch in started.launches if launch.gpu.requested)
        return started.context.need(launch)


def compose(command: str, more: str = "") -> str:
    return f"services:\n  app:\n    build: .\n    command: {command}\n    {GPUS}\n{more}"


RANKS = "torchrun --nproc_per_node=8"
JOINS = "import torch\ntorch.distributed.init_process_group()\n"
PAINTS = "import unheard_of\nmodel = unheard_of.Model.from_pretrained('a')\nmodel.train(False)\nmodel.paint('tree')\n"
WITH_LOADER = "from torch.utils.data import DataLoader\n"
GIT = "https://example.org/me"
NGC = "nvcr.io/nvidia/pytorch:21.03-py3"
SHELL = "docker run -it --gpus all -v $PWD:/app -w /app --name box pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime"
RANKS_SH = "#!/bin/bash\ntorchrun --nproc_per_node=${GPUS} other.py\n"
PYTORCH = "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime"
CONTAINER = '{"image": "' + PYTORCH + '", "workspaceFolder": "/app", "runArgs": ["--gpus", "all"]}'
ALONE = "import torch\nfrom torch.utils.data import DataLoader\nloader = DataLoader(data(), batch_size=4)\n"
CELLS = '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "import %s\\n", "loss.backward()"]}]}'
HALF = LOADER.replace("RandomResizedCrop(224)", "crop()").replace("args.batch_size,", "batch(),")
