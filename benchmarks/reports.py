"""What reports and repairs of 5,000 findings take, against finding them: ``python benchmarks/reports.py``.

Everything runs in one process, in which the processor's time is measured; only the ratios mean something.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from shmlint.cli import COLLECTION
from shmlint.files.discover import Found, discover
from shmlint.fixing import fix
from shmlint.formats import KINDS
from shmlint.model.settings import Settings
from shmlint.run import Run, lint

T = TypeVar("T")

FINDINGS = 5000
FORMATS = ("json", "github", "sarif", "gitlab", "rdjson", "junit", "checkstyle")
SERVICE = "  g@:\n    image: pytorch/pytorch\n    gpus: all\n    command: torchrun --nproc_per_node=2 train.py\n"
COMMAND = "docker run --gpus all pytorch/pytorch torchrun --nproc_per_node=2 train.py\n"


def services(count: int) -> str:
    return "services:\n" + "".join(SERVICE.replace("@", str(n)) for n in range(count))


def write(folder: Path, name: str) -> None:
    if name == "one compose file":
        (folder / "compose.yaml").write_text(services(FINDINGS), "utf-8")
    elif name == "one script":
        (folder / "run.sh").write_text("#!/bin/bash\n" + COMMAND * FINDINGS, "utf-8")
    else:
        for number in range(500):
            (folder / str(number)).mkdir()
            (folder / str(number) / "compose.yaml").write_text(services(FINDINGS // 500), "utf-8")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def check() -> Run:
    files: dict[str, list[str]] = {}
    for found in discover(["."], kinds=KINDS):
        if isinstance(found, Found):
            files.setdefault(found.kind, []).append(found.path)
    return lint(files, Settings())


def measure(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write(Path(folder), name)
        finding, run = timed(check)
        print(f"{name}: {len(run.findings)} findings in {finding:.1f} s")
        for form in FORMATS:
            module = import_module(f"shmlint.reports.{form}")
            taken, _ = timed(partial(module.render, run, run.findings))
            print(f"  {form:<10} {taken / finding:.2f} of the check")
        taken, outcome = timed(lambda: fix.fix(run))
        print(f"  check and --fix {1 + taken / finding:.2f} of the check, {len(outcome.fixed)} fixed")


if __name__ == "__main__":
    gc.set_threshold(*COLLECTION)
    for each in sys.argv[1:] or ("one compose file", "one script", "500 directories"):
        measure(each)
