"""Every benchmark in one run, as a table in ``benchmarks/RESULTS.md``.

    python benchmarks/run.py
    python benchmarks/run.py --corpus DIR --monorepo     # also a directory of compose files, and 100,000 files

Programs that are not installed (dclint, check-jsonschema) are noted as absent.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from cold_start import FILE, program
from scan import SNIFFED, make_checkout

Row = tuple[str, str, float | None]
"""What is done, by which program, in how many seconds (None: it is not installed)."""

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=11, help="runs of each, by turns (default: 11)")
    parser.add_argument("--corpus", type=Path, help="a directory of compose files to read in one run")
    parser.add_argument("--monorepo", action="store_true", help="also 100,000 files, 1 GB, in a temporary directory")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("RESULTS.md"))
    options = parser.parse_args(arguments)

    ours, theirs = program("shmlint"), program("yamllint")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="shmlint-run-") as folder:
        here = Path(folder)
        (here / "one").mkdir()
        shutil.copy(FILE, here / "one" / "compose.yaml")
        one: dict[str, Sequence[str] | None] = {
            "shmlint": [ours, "compose.yaml"],
            "yamllint": [theirs, "compose.yaml"],
            "dclint": installed("dclint", "compose.yaml"),
            "check-jsonschema": installed(
                "check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"
            ),
        }
        rows += measured("one compose file, cold start", one, here / "one", options.runs)
        if options.corpus:
            rows += measured(
                "a directory of compose files",
                {"shmlint": [ours, "."], "yamllint": [theirs, "."], "dclint": installed("dclint", ".")},
                options.corpus, max(1, options.runs // 3),
            )  # fmt: skip
        for files, launches in ((4200, 10), *(((100_000, 500),) if options.monorepo else ())):
            checkout = here / str(files)
            checkout.mkdir()
            size = make_checkout(checkout, files, launches)
            rows += measured(
                f"{files} files ({size / 1e6:.0f} MB), {launches} with launches",
                {"shmlint": [ours, "."], "git grep": ["git", "grep", "-lE", SNIFFED]},
                checkout, max(1, options.runs // 3),
            )  # fmt: skip
            shutil.rmtree(checkout)
    text = table(rows)
    options.output.write_text(text, "utf-8")
    print(text, end="")


def installed(name: str, *arguments: str) -> list[str] | None:
    found = shutil.which(name)
    return [found, *arguments] if found else None


def measured(
    what: str, commands: Mapping[str, Sequence[str] | None], folder: Path, runs: int
) -> list[Row]:
    """The median of each, the programs by turns; one more run before them fills the caches."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            if command is None:
                continue
            begin = time.perf_counter()
            done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True)
            if turn:
                times[name].append(time.perf_counter() - begin)
            if name == "shmlint" and done.returncode not in (0, 1):
                raise SystemExit(done.stderr.decode())
    return [(what, name, statistics.median(values) if values else None) for name, values in times.items()]


def table(rows: Sequence[Row]) -> str:
    first = {what: seconds for what, name, seconds in rows if name == "shmlint"}
    lines = [
        "# Results",
        "",
        f"{time.strftime('%Y-%m-%d')}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}; shmlint {version('shmlint')}, yamllint {version('yamllint')}. "
        "Medians, the programs run by turns: `python benchmarks/run.py`.",
        "",
        "| what | program | seconds | shmlint takes |",
        "|---|---|---:|---:|",
    ]
    for what, name, seconds in rows:
        took = first[what]
        ratio = "" if name == "shmlint" or not seconds or not took else f"{took / seconds:.2f} ×"
        lines.append(f"| {what} | {name} | {'not installed' if seconds is None else f'{seconds:.3f}'} | {ratio} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
