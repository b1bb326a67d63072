"""How long one compose file takes from a cold start, against yamllint on the same file.

    python benchmarks/cold_start.py
    python benchmarks/cold_start.py --runs 101 --file compose.yaml

Starts the programs that are installed beside this Python by turns, each in a new process, and
prints the medians in milliseconds and the ratios that have a goal.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

FILE = Path(__file__).parents[1] / "fixtures" / "training" / "compose.yaml"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--file", type=Path, default=FILE, help="what is read (default: fixtures/training)")
    parser.add_argument("--runs", type=int, default=41, help="runs of each, by turns (default: 41)")
    options = parser.parse_args(arguments)

    commands = {
        "shmlint FILE": [program("shmlint"), "compose.yaml"],
        "with settings": [program("shmlint"), "--config", "settings.yaml", "compose.yaml"],
        "yamllint FILE": [program("yamllint"), "compose.yaml"],
        "shmlint --version": [program("shmlint"), "--version"],
        "import click": [sys.executable, "-c", "import click"],
        "python alone": [sys.executable, "-c", "pass"],
    }
    # Bytecode is what an installed program has; without it every start would compile.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory(prefix="shmlint-cold-") as folder:
        # Away from the settings files of either program.
        shutil.copy(options.file, Path(folder) / "compose.yaml")
        (Path(folder) / "settings.yaml").write_text("fail-on: warning\nselect: [SHM]\n", encoding="utf-8")
        for command in commands.values():
            timed(command, folder, environment)
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.runs):
            # By turns, so that a machine that slows down slows all of them.
            for name, command in commands.items():
                times[name].append(timed(command, folder, environment))

    lines = len(options.file.read_text("utf-8").splitlines())
    print(f"{options.file.name}: {lines} lines; medians of {options.runs} runs")
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, seconds in medians.items():
        print(f"{name:18} {seconds * 1e3:6.1f} ms")
    ratio(medians, "shmlint FILE", "yamllint FILE", goal=1.0)
    ratio(medians, "with settings", "shmlint FILE", goal=2.0)
    ratio(medians, "shmlint --version", "import click", goal=1.5)


def program(name: str) -> str:
    """A program installed beside this Python, wherever else there may be one."""
    found = shutil.which(name, path=os.path.dirname(sys.executable))
    if found is None:
        raise SystemExit(f"{name} is not installed beside {sys.executable}: pip install -e '.[test]'")
    return found


def timed(command: Sequence[str], folder: str, environment: Mapping[str, str]) -> float:
    """Seconds a command takes; that a linter finds something (1) is no failure."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return seconds


def ratio(medians: Mapping[str, float], ours: str, theirs: str, *, goal: float) -> None:
    print(f"{ours} / {theirs}: {medians[ours] / medians[theirs]:.2f} (goal: at most {goal})")


if __name__ == "__main__":
    main()
