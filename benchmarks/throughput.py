"""How long the files of a directory take, against another checkout of shmlint in the same run.

    python benchmarks/throughput.py DIRECTORY --against ../before

Both are started by turns and print JSON; the medians are those of ``cold_start``.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence
from pathlib import Path

from cold_start import Seconds, imported, ratio, timed


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", type=Path, help="what is read")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", required=True, help="another checkout of shmlint")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, by turns (default: 5)")
    options = parser.parse_args(arguments)

    checkouts = {"this checkout": Path(__file__).parents[1], "the other": options.against}
    times: dict[str, list[Seconds]] = {name: [] for name in checkouts}
    for _ in range(options.runs):
        for name, checkout in checkouts.items():
            command = [*imported(checkout), "--format", "json", "."]
            times[name].append(timed(command, str(options.directory), os.environ))
    medians = {name: Seconds(*map(statistics.median, zip(*values, strict=True))) for name, values in times.items()}
    for name, (clock, processor) in medians.items():
        print(f"{name:14} {clock:6.1f} s by the clock, {processor:6.1f} s of the processor")
    ratio(medians, "this checkout", "the other", goal=1.0)


if __name__ == "__main__":
    main()
