"""How much of /dev/shm real libraries take at their peak, against the arithmetic in shmlint/workloads/mechanisms.py.

    pip install torch ray numpy
    python benchmarks/mechanisms.py --output benchmarks/MECHANISMS.md

Every case runs in a process of its own while this one looks at /dev/shm a thousand times a second. Run as
root it does so in a private tmpfs, so that nothing else is counted; otherwise what is there before is
subtracted, and nothing else should use /dev/shm meanwhile. A library that is not installed is left out, and
said so. No case needs a GPU: NCCL's part cannot be measured like this.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shmlint.docker.sizes import human
from shmlint.workloads.mechanisms import dataloader_terms, total

SHM = "/dev/shm"
MIB = 1 << 20
PRIVATE = "SHMLINT_PRIVATE_SHM"
LOWEST, HIGHEST = 1.0, 1.5
"""The estimate is at least the peak, and at most half more."""


class Case(NamedTuple):
    """A run of a library: what it does, how large the estimate is and how it came about."""

    name: str
    library: str
    what: str
    estimate: int
    sum: str
    run: Callable[[], None]


# What is run ----------------------------------------------------------------------------------


def load(workers: int, batch: int, item: Sequence[int], prefetch: int, ranks: int) -> None:
    """Read an epoch with a consumer slower than its workers, in ``ranks`` processes that begin together."""
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(ranks)
    arguments = (workers, batch, tuple(item), prefetch, ready)
    readers = [context.Process(target=_read, args=arguments) for _ in range(ranks)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
        if reader.exitcode:
            raise SystemExit(f"a reader ended with {reader.exitcode}")


def _read(workers: int, batch: int, item: tuple[int, ...], prefetch: int, ready: Any) -> None:
    from torch.utils.data import DataLoader

    dataset: Any = _Items(item, batch * workers * prefetch * 2)
    batches = iter(DataLoader(dataset, batch_size=batch, num_workers=workers, prefetch_factor=prefetch))
    ready.wait()
    time.sleep(2)  # the workers fetch ahead as far as they may
    ready.wait()
    for _ in batches:
        time.sleep(0.2)


class _Items:
    """A dataset of tensors of one shape."""

    def __init__(self, shape: tuple[int, ...], length: int) -> None:
        self.shape, self.length = shape, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        import torch

        return torch.full(self.shape, float(index))


def share(count: int, size: int) -> None:
    """Fill blocks of Python's shared memory."""
    from multiprocessing.shared_memory import SharedMemory

    blocks = [SharedMemory(create=True, size=size) for _ in range(count)]
    for block in blocks:
        assert block.buf is not None
        block.buf[:] = b"\x01" * size
    time.sleep(0.1)
    for block in blocks:
        block.close()
        block.unlink()


def queue(count: int, elements: int) -> None:
    """Put tensors into a queue that nobody reads until it is full."""
    import torch
    import torch.multiprocessing as multiprocessing

    context = multiprocessing.get_context("spawn")
    waiting = context.Queue()
    tensors = [torch.full((elements,), 1.0) for _ in range(count)]
    for tensor in tensors:
        waiting.put(tensor)
    time.sleep(0.5)
    for _ in tensors:
        waiting.get()


def store(size: int, count: int, each: int) -> None:
    """Put more objects into Ray's store than it holds."""
    import numpy
    import ray

    ray.init(num_cpus=1, object_store_memory=size, include_dashboard=False, logging_level="ERROR")
    held = [ray.put(numpy.ones(each, dtype=numpy.uint8)) for _ in range(count)]
    time.sleep(0.5)
    del held
    ray.shutdown()


# The cases ------------------------------------------------------------------------------------


def _loader(workers: int, batch: int, item: Sequence[int], prefetch: int = 2, ranks: int = 1) -> Case:
    size = batch * 4
    for length in item:
        size *= length
    terms = dataloader_terms(ranks, workers, size, prefetch)
    shape = " × ".join(map(str, item))
    what = f"{_plural(ranks, 'rank')}, {_plural(workers, 'worker')}, batches of {batch} × {shape} float32"
    return Case(
        f"loader-{ranks}-{workers}-{batch}-{prefetch}", "torch", what, total(terms), terms[0].formula,
        lambda: load(workers, batch, item, prefetch, ranks),
    )  # fmt: skip


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def cases() -> list[Case]:
    """What is measured. Where the arithmetic is more than a product it comes from the program."""
    image = (3, 224, 224)
    return [
        _loader(1, 32, image),
        _loader(2, 32, image),
        _loader(4, 16, image),
        _loader(4, 16, image, prefetch=4),
        _loader(8, 8, image),
        _loader(2, 16, image, ranks=2),
        Case("queue", "torch", "16 tensors of 4 MiB in a queue", 16 * 4 * MIB, "16 × 4 MiB",
             lambda: queue(16, MIB)),
        Case("blocks", "", "8 blocks of 16 MiB of multiprocessing.shared_memory", 8 * 16 * MIB, "8 × 16 MiB",
             lambda: share(8, 16 * MIB)),
        Case("store", "ray", "40 objects of 8 MiB in a store of 200 MiB", 200 * MIB,
             "the store's size, `--object-store-memory`", lambda: store(200 * MIB, 40, 8 * MIB)),
    ]  # fmt: skip


# Measuring ------------------------------------------------------------------------------------


def used() -> int:
    """Bytes of /dev/shm that are taken, also by files without a name."""
    found = os.statvfs(SHM)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def peak(case: Case) -> int:
    """The most that a case takes, in bytes. Raises SystemExit where it fails."""
    before = most = used()
    command = [sys.executable, "-W", "ignore", __file__, "--case", case.name]
    running = subprocess.Popen(command, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    while running.poll() is None:
        most = max(most, used())
        time.sleep(0.001)
    if running.returncode:
        raise SystemExit(f"{case.name} failed with {running.returncode}")
    return most - before


def private() -> None:
    """Start anew with a tmpfs of its own on /dev/shm, where that is possible."""
    if os.environ.get(PRIVATE) or os.geteuid() or not shutil.which("unshare"):
        return
    mount = f'mount -t tmpfs -o size=4g tmpfs {SHM} && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable, *sys.argv]
    os.execvpe(command[0], command, {**os.environ, PRIVATE: "1"})


def installed(library: str) -> str:
    """A library's version; empty where it is not there."""
    try:
        return importlib.metadata.version(library) if library else platform.python_version()
    except importlib.metadata.PackageNotFoundError:
        return ""


def page(rows: Sequence[tuple[Case, str, int]], missing: Sequence[str]) -> str:
    """The table as a Markdown page."""
    lines = [
        "# What mechanisms take of /dev/shm",
        "",
        "The peak of /dev/shm while a real library runs, against the estimate that shmlint makes of the same numbers.",
        "`python benchmarks/mechanisms.py --output benchmarks/MECHANISMS.md` writes this page; the estimate is to lie",
        f"between {LOWEST:.1f} and {HIGHEST:.1f} times the peak. The peak holds a page for each semaphore of",
        "Python's queues, which no estimate counts.",
        "",
        "| library | what runs | sum | estimate | peak | estimate ÷ peak |",
        "|---|---|---|---|---|---|",
    ]
    for case, version, most in rows:
        name = f"{case.library or 'Python'} {version}"
        ratio = f"{case.estimate / most:.2f}"
        lines.append(f"| {name} | {case.what} | {case.sum} | {human(case.estimate)} | {human(most)} | {ratio} |")
    lines += ["", *(f"Not measured, as it is not installed: {library}." for library in missing)]
    lines += [
        "Not measured here, as it needs GPUs: NCCL. Its sizes are those of its own structures, and logs of users show",
        "the same (the constants of `shmlint/workloads/mechanisms.py` name them). Its estimate is of one communicator",
        "on one host: send and receive, more channels and several nodes take more. Nor are inference servers' message",
        "queues, Triton's Python backend and browsers measured.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what mechanisms take of /dev/shm.")
    parser.add_argument("--output", type=Path, help="write the table to this file")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    known = {case.name: case for case in cases()}
    if asked.case:
        known[asked.case].run()
        return
    private()
    rows, missing = [], []
    for case in known.values():
        version = installed(case.library)
        if version:
            rows.append((case, version, peak(case)))
        elif case.library not in missing:
            missing.append(case.library)
    text = page(rows, missing)
    print(text, end="")
    if asked.output:
        asked.output.write_text(text, encoding="utf-8")
    wrong = [case.name for case, _, most in rows if not LOWEST <= round(case.estimate / most, 2) <= HIGHEST]
    if wrong:
        raise SystemExit(f"outside of {LOWEST} to {HIGHEST}: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
