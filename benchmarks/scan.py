"""How long a scan of a git checkout takes, against one ``git grep`` over the same checkout.

    python benchmarks/scan.py                   # 4,200 files, ten of them with launches
    python benchmarks/scan.py --files 100000 --launches 500

Makes a repository in a temporary directory, runs ``shmlint .`` and ``git grep`` in it by turns,
and prints the median of both in milliseconds and their ratio.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

SNIFFED = "docker|podman|shm|services:"

LAUNCHES = (
    (
        "docker-compose.yml",
        "services:\n  trainer:\n    image: nvcr.io/nvidia/pytorch:24.01-py3\n    command: torchrun train.py\n"
        "    deploy:\n      resources:\n        reservations:\n          devices:\n"
        "            - driver: nvidia\n              count: all\n              capabilities: [gpu]\n",
    ),
    ("run.sh", "#!/bin/bash\ndocker run --gpus all --rm nvcr.io/nvidia/pytorch:24.01-py3 python train.py\n"),
    ("README.md", "# Use\n\n```bash\ndocker run --gpus all -it vllm/vllm-openai --model m\n```\n"),
    (
        "serving.yaml",
        "services:\n  llm:\n    image: vllm/vllm-openai\n    runtime: nvidia\n    shm_size: 64m\n",
    ),
    (
        ".github/workflows/gpu.yml",
        "on: push\njobs:\n  train:\n    runs-on: gpu\n    container:\n      image: nvcr.io/nvidia/pytorch:24.01-py3\n"
        "      options: --gpus all\n    steps:\n      - run: |\n          docker run --gpus all vllm/vllm-openai\n",
    ),
    ("Makefile", "run:\n\tdocker run --gpus all --rm nvcr.io/nvidia/pytorch:24.01-py3\n"),
)

# What a repository is made of: ending, share of the files in percent, usual size in bytes.
ORDINARY = (
    (".py", 45, 9000),
    (".ts", 15, 6000),
    (".json", 8, 3000),
    (".yml", 6, 1500),
    (".yaml", 4, 1500),
    (".md", 8, 5000),
    (".sh", 3, 2000),
    (".mk", 1, 2000),
    (".txt", 5, 2000),
    ("", 2, 1000),
    (".png", 3, 20000),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=4200, help="files in the checkout (default: 4200)")
    parser.add_argument("--launches", type=int, default=10, help="of these with launches (default: 10)")
    parser.add_argument("--runs", type=int, default=11, help="runs of each, by turns (default: 11)")
    parser.add_argument(
        "--command",
        type=shlex.split,
        default=[sys.executable, "-m", "shmlint", "."],
        help="what is timed in the checkout (default: python -m shmlint .)",
    )
    options = parser.parse_args(arguments)

    with tempfile.TemporaryDirectory(prefix="shmlint-scan-") as folder:
        size = make_checkout(Path(folder), options.files, options.launches)
        print(f"{options.files} files, {size / 1e6:.1f} MB, {options.launches} with launches")
        grep = ["git", "grep", "-lE", SNIFFED]
        # By turns, so that a machine that slows down slows both; the first pair fills the caches.
        pairs = [(timed(options.command, folder), timed(grep, folder)) for _ in range(options.runs + 1)]
        ours, theirs = (statistics.median(column) for column in zip(*pairs[1:], strict=True))
        print(f"{' '.join(options.command)}: {ours * 1e3:.1f} ms")
        print(f"{' '.join(grep)}: {theirs * 1e3:.1f} ms")
        print(f"ratio: {ours / theirs:.2f}")


def make_checkout(folder: Path, files: int, launches: int) -> int:
    """Write and add the files of a repository, the same ones every time; their size in bytes."""
    chance = random.Random(1)
    words = ("import", "return", "value", "config", "model", "data", "layer", "train", "batch", "self", "def")
    text = "\n".join(" ".join(chance.choices(words, k=9)) for _ in range(2000))
    yaml = "\n".join(f"key{n}:\n  image: value{n}\n  enabled: true" for n in range(2000))
    names = [(ending, size) for ending, share, size in ORDINARY for _ in range(share)]
    total = 0
    for number, name in enumerate(folders(files)):
        path = folder / name
        if number < launches:
            ending, content = LAUNCHES[number % len(LAUNCHES)]
            path = path / ending
        else:
            ending, usual = chance.choice(names)
            path = path / f"file{number}{ending}"
            size = int(usual * chance.uniform(0.2, 3))
            content = yaml[:size] if ending in (".yml", ".yaml") else text[-size:]
            # Some files speak of containers without starting one.
            content += "\nsee the docker documentation\n" if chance.random() < 0.02 else "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
        total += len(content)
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return total


def folders(count: int) -> Iterator[str]:
    """Twelve files to a directory, ten directories to a package."""
    for number in range(count):
        # Spread, so that neighbours in the list are not neighbours on disk.
        place = (number * 7919) % max(1, count // 12)
        yield f"packages/p{place // 10}/d{place % 10}"


def timed(command: Sequence[str], folder: str) -> float:
    """Seconds a command takes; that shmlint finds something (1) is no failure."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    # A Python that cannot start the program also ends with 1, but has nothing to say for it.
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return seconds


if __name__ == "__main__":
    main()
