"""How long one compose file takes from a cold start, against yamllint on the same file.

    python benchmarks/cold_start.py
    python benchmarks/cold_start.py --runs 101 --file compose.yaml
    python benchmarks/cold_start.py --against ../before

Starts the programs that are installed next to this Python by turns, each in a new process, and
prints the medians in milliseconds, of the clock and of the processor, and the ratios that have a
goal. Where the machine does other work, only the time of the processor says something.

--against starts another checkout of shmlint too, so that one run shows before and after. Both are
imported by this Python from their directories, with the libraries that are installed for it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parents[1] / "fixtures" / "training" / "compose.yaml"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--file", type=Path, default=FILE, help="what is read (default: fixtures/training)")
    parser.add_argument("--runs", type=int, default=41, help="runs of each, by turns (default: 41)")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another checkout of shmlint")
    options = parser.parse_args(arguments)

    commands = {
        "shmlint FILE": [program("shmlint"), "compose.yaml"],
        "shmlint -q FILE": [program("shmlint"), "-q", "compose.yaml"],
        "with settings": [program("shmlint"), "set/compose.yaml"],
        "shmlint as a hook": [program("shmlint"), "check", "--force-exclude", "--fix", "--", "compose.yaml"],
        "yamllint FILE": [program("yamllint"), "compose.yaml"],
        "shmlint --version": [program("shmlint"), "--version"],
        "shmlint --help": [program("shmlint"), "--help"],
        "import click": [sys.executable, "-c", "import click"],
        "python alone": [sys.executable, "-c", "pass"],
    }
    if options.against is not None:
        commands["this checkout"] = [*imported(Path(__file__).parents[1]), "compose.yaml"]
        commands["the other"] = [*imported(options.against), "compose.yaml"]
    # Bytecode is what an installed program has; without it every start would compile.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory(prefix="shmlint-cold-") as folder:
        # Away from the settings files of either program.
        (Path(folder) / "set").mkdir()
        for below in ("", "set"):
            shutil.copy(options.file, Path(folder) / below / "compose.yaml")
        (Path(folder) / "set" / ".shmlint.yaml").write_text("fail-on: warning\nselect: [SHM]\n", encoding="utf-8")
        for command in commands.values():
            timed(command, folder, environment)
        times: dict[str, list[Seconds]] = {name: [] for name in commands}
        for _ in range(options.runs):
            # By turns, so that a machine that slows down slows all of them.
            for name, command in commands.items():
                times[name].append(timed(command, folder, environment))

    lines = len(options.file.read_text("utf-8").splitlines())
    print(f"{options.file.name}: {lines} lines; medians of {options.runs} runs, in milliseconds")
    print(f"{'':18} {'clock':>6} {'processor':>9}")
    medians = {name: Seconds(*map(statistics.median, zip(*values, strict=True))) for name, values in times.items()}
    for name, (clock, processor) in medians.items():
        print(f"{name:18} {clock * 1e3:6.1f} {processor * 1e3:9.1f}")
    ratio(medians, "shmlint FILE", "yamllint FILE", goal=1.0)
    ratio(medians, "shmlint as a hook", "yamllint FILE", goal=1.0)
    ratio(medians, "with settings", "shmlint FILE", goal=2.0)
    ratio(medians, "shmlint --version", "import click", goal=1.5)
    if options.against is not None:
        ratio(medians, "this checkout", "the other", goal=1.0)


class Seconds(NamedTuple):
    """What a command took: by the clock, and of processors."""

    clock: float
    processor: float


def imported(checkout: Path) -> list[str]:
    """A command that starts the program of a checkout."""
    found = f"import sys; sys.path.insert(0, {str(checkout.resolve())!r}); "
    return [sys.executable, "-c", found + "from shmlint.cli import main; sys.exit(main())"]


def program(name: str) -> str:
    """A program installed next to this Python, wherever else there may be one."""
    found = shutil.which(name, path=os.path.dirname(sys.executable))
    if found is None:
        raise SystemExit(f"{name} is not installed beside {sys.executable}: pip install -e '.[test]'")
    return found


def timed(command: Sequence[str], folder: str, environment: Mapping[str, str]) -> Seconds:
    """What a command takes; that a linter finds something (1) is no failure."""
    before, start = processor_time(), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    taken = Seconds(time.perf_counter() - start, processor_time() - before)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return taken


def processor_time() -> float:
    """Seconds that all processes took which were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ratio(medians: Mapping[str, Seconds], ours: str, theirs: str, *, goal: float) -> None:
    clock, processor = (mine / other for mine, other in zip(medians[ours], medians[theirs], strict=True))
    print(f"{ours} / {theirs}: {clock:.2f} by the clock, {processor:.2f} of the processor (goal: at most {goal})")


if __name__ == "__main__":
    main()
