"""A repository of programs: ``python benchmarks/programs.py DIRECTORY`` writes 2,000 Python files and 100 GPU launches.

    python benchmarks/programs.py DIRECTORY --files 1000 --launches 50
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

SHARED = 12
"""Modules that every program imports."""
OF_A_PROJECT = 20
"""Python files of one project, its program among them."""

PROGRAM = '''\
"""Train model {number}."""
import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

{imports}


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default={workers})
    parser.add_argument("--batch-size", type=int, default=32)
    return parser.parse_args()


def main():
    args = options()
    dist.init_process_group("nccl")
    loader = DataLoader(step_0(args), batch_size=args.batch_size, num_workers=args.workers)
    for batch in loader:
        step_1(batch)


if __name__ == "__main__":
    main()
'''
FUNCTION = '''\

def step_{number}(batch, scale=1.0, *, mode="{mode}"):
    """Work on one batch."""
    if scale > {number}:
        batch = [item * scale for item in batch if item is not None]
    result = {{"loss": sum(batch) / max(len(batch), 1), "mode": mode}}
    for key, value in sorted(result.items()):
        print(f"{{key}}: {{value}}", numpy.mean([value, {number}]))
    return Layer{number}(len(batch), scale).forward(result)


class Layer{number}(torch.nn.Module):
    def __init__(self, width, scale=1.0):
        super().__init__()
        self.weight = torch.nn.Linear(width, width * 2)
        self.scale = scale

    def forward(self, value):
        return torch.relu(self.weight(value)) * self.scale + {number}
'''


def module(number: int, functions: int) -> str:
    modes = ("train", "test", "export")
    parts = (FUNCTION.format(number=n, mode=modes[(number + n) % 3]) for n in range(functions))
    return "import logging\n\nimport numpy\nimport torch\n" + "".join(parts)


def write(folder: Path, files: int = 2000, launches: int = 100) -> None:
    """Write so many Python files, and scripts that start so many containers."""
    chance = random.Random(1)
    (folder / ".git").mkdir()
    (folder / "common").mkdir()
    (folder / "common" / "__init__.py").touch()
    for number in range(SHARED):
        (folder / "common" / f"shared{number}.py").write_text(module(number, 8), "utf-8")
    projects = max(1, files // OF_A_PROJECT)
    for number in range(projects):
        project = folder / f"project{number}"
        project.mkdir()
        own = [f"part{part}" for part in range(OF_A_PROJECT - 1)]
        for part, name in enumerate(own):
            (project / f"{name}.py").write_text(module(part, chance.randrange(2, 14)), "utf-8")
        imports = [f"from common.shared{part} import *" for part in range(SHARED)]
        imports += [f"from {name} import step_0, step_1" for name in own[:5]]
        text = PROGRAM.format(number=number, imports="\n".join(imports), workers=number % 9)
        (project / "train.py").write_text(text, "utf-8")
    for number in range(launches):
        place = f"project{number % projects}"
        words = f"torchrun --nproc_per_node {number % 8 + 1} train.py --workers {number % 5}"
        mount = f'-v "$PWD:/src" -e PYTHONPATH=/src -w /src/{place}'
        text = f"#!/bin/bash\ndocker run --rm --gpus all {mount} registry.example.org/train:{number} {words}\n"
        (folder / f"run{number}.sh").write_text(text, "utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=2000, help="Python files (default: 2000)")
    parser.add_argument("--launches", type=int, default=100, help="GPU launches (default: 100)")
    options = parser.parse_args(arguments)
    options.directory.mkdir(parents=True, exist_ok=True)
    write(options.directory, options.files, options.launches)


if __name__ == "__main__":
    main()
