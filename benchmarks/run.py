"""Every benchmark in one run, as a table in ``benchmarks/RESULTS.md``.

    python benchmarks/run.py
    python benchmarks/run.py --corpus DIR --monorepo     # also a directory of compose files, and 100,000 files

Programs that are not installed (dclint, check-jsonschema) are noted as absent. ``--runs`` counts the runs of
each on one file; on many files there are a third as many. Where a system tells it (not Windows), the most memory
that a run took is noted too.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from cold_start import FILE, program
from large import LARGE
from programs import write as write_programs
from scan import SNIFFED, make_checkout

Row = tuple[str, str, float | None, float | None]
"""What is done, by which program, in how many seconds (None: it is not installed), in how many MiB."""

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=11, help="runs of each, by turns (default: 11)")
    parser.add_argument("--corpus", type=Path, help="a directory of compose files to read in one run")
    parser.add_argument("--monorepo", action="store_true", help="also 100,000 files, 1 GB, in a temporary directory")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("RESULTS.md"))
    options = parser.parse_args(arguments)

    runs, fewer = options.runs, max(1, options.runs // 3)
    with tempfile.TemporaryDirectory(prefix="shmlint-run-") as folder:
        here = Path(folder)
        rows = one_file(here, runs)
        if options.corpus:
            rows += corpus(options.corpus, fewer)
        rows += large(here, fewer)
        for count, launches in ((4200, 10), *(((100_000, 500),) if options.monorepo else ())):
            rows += checkout(here, count, launches, fewer)
        rows += programs(here, fewer)
    given = f"--runs {runs} " if runs != parser.get_default("runs") else ""
    given += "--corpus DIR " if options.corpus else ""
    given += "--monorepo" if options.monorepo else ""
    text = table(rows, f"python benchmarks/run.py {given}".rstrip())
    options.output.write_text(text, "utf-8")
    print(text, end="")


def one_file(here: Path, runs: int) -> list[Row]:
    (here / "one").mkdir()
    shutil.copy(FILE, here / "one" / "compose.yaml")
    commands: dict[str, Sequence[str] | None] = {
        "shmlint": [program("shmlint"), "compose.yaml"],
        "shmlint --jobs 1": [program("shmlint"), "--jobs", "1", "compose.yaml"],
        "yamllint": [program("yamllint"), "compose.yaml"],
        "dclint": installed("dclint", "compose.yaml"),
        "check-jsonschema": installed("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"),
    }
    return measured("one compose file, cold start", commands, here / "one", runs)


def corpus(directory: Path, runs: int) -> list[Row]:
    files = sorted(path for path in directory.rglob("*.y*ml") if path.is_file())
    names = [str(path.relative_to(directory)) for path in files]  # dclint finds some names only
    commands: dict[str, Sequence[str] | None] = {
        "shmlint": [program("shmlint"), "."],
        "yamllint": [program("yamllint"), "."],
        "dclint": installed("dclint", *names),
    }
    size = sum(path.stat().st_size for path in files)
    return measured(f"{len(files)} compose files ({size / 1e6:.1f} MB) in one run", commands, directory, runs)


def large(here: Path, runs: int) -> list[Row]:
    # By a process of its own: what this one holds counts as what the programs it starts hold.
    subprocess.run([sys.executable, Path(__file__).with_name("large.py"), here], check=True)
    ours = program("shmlint")
    rows = []
    for what, name in LARGE.items():
        path = here / name
        commands: dict[str, Sequence[str] | None] = {
            "shmlint": [ours, name], "shmlint on half of it": [ours, f"half-{name}"],
        }  # fmt: skip
        if path.is_dir():
            commands = {"shmlint": [ours, name], "shmlint --jobs 1": [ours, "--jobs", "1", name]}
        elif path.suffix == ".yaml":
            commands["yamllint"] = [program("yamllint"), "-d", "relaxed", name]
        size = sum(file.stat().st_size for file in ([path] if path.is_file() else path.iterdir()))
        rows += measured(f"{what} ({size / 1e6:.1f} MB)", commands, here, runs)
    return rows


def checkout(here: Path, count: int, launches: int, runs: int) -> list[Row]:
    folder = here / str(count)
    folder.mkdir()
    size = make_checkout(folder, count, launches)
    ours = program("shmlint")
    commands = {
        "shmlint": [ours, "."],
        "shmlint --jobs 1": [ours, "--jobs", "1", "."],
        "git grep": ["git", "grep", "-lE", SNIFFED],
    }
    rows = measured(f"{count:,} files ({size / 1e6:,.0f} MB), {launches} with launches", commands, folder, runs)
    shutil.rmtree(folder)
    return rows


def programs(here: Path, runs: int) -> list[Row]:
    folder = here / "programs"
    folder.mkdir()
    write_programs(folder)
    ours = program("shmlint")
    commands = {"shmlint": [ours, "."], "shmlint, programs not followed": [ours, "--select", "SHM103", "."]}
    return measured("100 launches of programs in 2,000 files", commands, folder, runs)


def installed(name: str, *arguments: str) -> list[str] | None:
    found = shutil.which(name)
    return [found, *arguments] if found else None


def measured(
    what: str, commands: Mapping[str, Sequence[str] | None], folder: Path, runs: int
) -> list[Row]:
    """The median of each, the programs by turns; one more run before them fills the caches."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    memory: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            if command is None:
                continue
            seconds, peak = timed(command, folder, must_work=name.startswith("shmlint"))
            if turn:
                times[name].append(seconds)
                memory[name] += [] if peak is None else [peak]
    return [
        (what, name, statistics.median(values) if values else None, max(memory[name], default=None))
        for name, values in times.items()
    ]


def timed(command: Sequence[str], folder: Path, *, must_work: bool) -> tuple[float, float | None]:
    """Seconds a command takes, and MiB at most where the system tells; that it finds something (1) is no failure."""
    with tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
        peak = None
        if hasattr(os, "wait4"):  # what it tells is this child's own
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            peak = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        else:
            process.wait()
        seconds = time.perf_counter() - begin
        if must_work and process.returncode not in (0, 1):
            errors.seek(0)
            raise SystemExit(errors.read().decode())
    return seconds, peak


def table(rows: Sequence[Row], command: str) -> str:
    first = {what: seconds for what, name, seconds, _ in rows if name == "shmlint"}
    others = [f"{name} {release}" for name in ("dclint", "check-jsonschema") if (release := version_of(name))]
    programs = ", ".join([f"shmlint {version('shmlint')}", f"yamllint {version('yamllint')}", *others])
    lines = [
        "# Results",
        "",
        f"{time.strftime('%Y-%m-%d')}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}; {programs}. "
        f"Medians, the programs run by turns, and the most memory of any run: `{command}`.",
        "",
        "| what | program | seconds | shmlint takes | MiB |",
        "|---|---|---:|---:|---:|",
    ]
    for what, name, seconds, peak in rows:
        took = first[what]
        ratio = "" if name == "shmlint" or not seconds or not took else f"{took / seconds:.2f} ×"
        shown = "not installed" if seconds is None else f"{seconds:.3f}"
        lines.append(f"| {what} | {name} | {shown} | {ratio} | {'' if peak is None else f'{peak:.0f}'} |")
    return "\n".join(lines) + "\n"


def version_of(name: str) -> str:
    """The number a program tells of itself; empty where it is not installed or tells none."""
    command = installed(name, "--version")
    told = subprocess.run(command, capture_output=True, text=True).stdout if command else ""
    return next((word for word in told.replace(",", " ").split() if word[0].isdigit()), "")


if __name__ == "__main__":
    main()
