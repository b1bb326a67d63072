"""How much of /dev/shm real libraries take at their peak, against the arithmetic in shmlint/workloads/mechanisms.py.

    pip install torch ray numpy mpi4py psutil pyzmq regex; pip install --no-deps vllm
    apt-get install chromium openmpi-bin
    python benchmarks/mechanisms.py --output benchmarks/MECHANISMS.md

``--chromium FILE`` names another Chromium, and may be repeated. Every case runs in a process of its own while
this one looks at /dev/shm a thousand times a second. Run as root it does so in a private tmpfs, so that nothing
else is counted; otherwise what is there before is subtracted, and nothing else should use /dev/shm meanwhile. A
library that is not installed is left out, and said so. No case needs a GPU: NCCL's part cannot be measured like
this.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

from shmlint.docker.sizes import human
from shmlint.workloads.mechanisms import (
    GROUP_SLOT,
    GROUP_SLOTS,
    VLLM_ANSWER,
    VLLM_BROADCAST,
    VLLM_CHUNKS,
    Size,
    browser_terms,
    dataloader_terms,
    mpi_terms,
    total,
    vllm_terms,
)

SHM = "/dev/shm"
MIB = 1 << 20
PRIVATE = "SHMLINT_PRIVATE_SHM"
CHROMIUM = "Chromium"
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
    version: str = ""
    """The library's, where it is no package of Python."""
    times: int = 1
    """How often it runs; the largest peak counts."""


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
    settle()  # the workers fetch ahead as far as they may
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


def pass_messages(sizes: Sequence[tuple[int, int]]) -> None:
    """Fill the slots of vLLM's message queues, each given by the bytes of its slots and their number."""
    from vllm.distributed.device_communicators.shm_broadcast import MessageQueue

    queues = [MessageQueue(1, 1, max_chunk_bytes=size, max_chunks=slots) for size, slots in sizes]
    for messages, (size, slots) in zip(queues, sizes, strict=True):
        for _ in range(slots):
            messages.enqueue(b"\x01" * (size - 1024))  # what does not fit with its headers goes through a socket
    time.sleep(0.5)


def exchange(processes: int) -> None:
    """Let the processes of MPI send to each other through UCX."""
    ucx = "--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any --mca btl self,vader -x UCX_TLS=posix,self"
    code = "from mpi4py.MPI import COMM_WORLD as w; w.alltoall([bytes(10**5)] * w.size); w.Barrier()"
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(processes), *ucx.split()]
    subprocess.run([*command, sys.executable, "-c", code], check=True)


def browse(chromium: str, tabs: int, window: Size, pictures: Sequence[Size]) -> None:
    """Open a page in several tabs, one after the other."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        page = Path(directory, "page.html")
        page.write_text(_page(directory, pictures), encoding="utf-8")
        profile = Path(directory, "profile")
        command = [
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={profile}", f"--window-size={window[0]},{window[1]}", "--remote-debugging-port=0",
            "about:blank",
        ]  # fmt: skip
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = _port(profile / "DevToolsActivePort")
            settle(3)
            for _ in range(tabs):
                urlopen(Request(f"http://127.0.0.1:{port}/json/new?{page.as_uri()}", method="PUT")).close()
                settle(3)
        finally:
            running.terminate()
            running.wait()


def _port(file: Path) -> str:
    """The port that a browser listens on. Raises SystemExit where it does not start."""
    for _ in range(600):
        if file.exists() and (text := file.read_text(encoding="ascii")):
            return text.split()[0]
        time.sleep(0.1)
    raise SystemExit("the browser does not start")


def _page(directory: str, pictures: Sequence[Size]) -> str:
    """A page that is longer than any window, with pictures above its text."""
    lines = []
    for number, size in enumerate(pictures):
        Path(directory, f"{number}.png").write_bytes(_png(size, number))
        lines.append(f"<img src={number}.png width=300>")
    lines += [f"<p style='background: hsl({line * 7}, 50%, 80%)'>{line}{' word' * 80}" for line in range(1000)]
    return "\n".join(lines)


def _png(size: Size, number: int) -> bytes:
    """A picture in which no two columns are alike."""
    width, height = size
    row = b"\0" + bytes((number + column) % 256 for column in range(width * 3))

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(row * height)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


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
        lambda: load(workers, batch, item, prefetch, ranks), times=3,
    )  # fmt: skip


def _browser(chromium: str, tabs: int, window: Size, pictures: Sequence[Size] = ()) -> Case:
    terms = browser_terms(tabs, window, pictures)
    what = f"{_plural(tabs, 'tab')} of {window[0]} × {window[1]}"
    if pictures:
        what += f" with {_plural(len(pictures), 'picture')} of {pictures[0][0]} × {pictures[0][1]}"
    return Case(
        f"{chromium}-{tabs}-{window[0]}-{len(pictures)}", CHROMIUM, what, total(terms),
        " + ".join(term.formula for term in terms), lambda: browse(chromium, tabs, window, pictures),
        _version(chromium), 3,
    )  # fmt: skip


def _version(program: str) -> str:
    """What ``--version`` of a browser prints last: "Chromium 150.0.7871.100 built on …"."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return next(word for word in said.split() if word[0].isdigit())


def _messages(workers: int) -> Case:
    terms = vllm_terms(workers)
    sizes = [(VLLM_BROADCAST * MIB, VLLM_CHUNKS), *[(VLLM_ANSWER * MIB, VLLM_CHUNKS)] * workers,
             (GROUP_SLOT * MIB, GROUP_SLOTS)]  # fmt: skip
    return Case(
        f"vllm-{workers}", "vllm", f"message queues of {workers} workers, all slots full", total(terms),
        " + ".join(term.formula for term in terms), lambda: pass_messages(sizes),
    )  # fmt: skip


def _mpi(processes: int) -> Case:
    terms = mpi_terms(processes)
    return Case(
        f"mpi-{processes}", "mpi4py", f"{processes} processes that all send to all, UCX", total(terms),
        terms[0].formula, lambda: exchange(processes),
    )  # fmt: skip


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def cases(browsers: Sequence[str]) -> list[Case]:
    """What is measured. Where the arithmetic is more than a product it comes from the program."""
    image = (3, 224, 224)
    photographs = [(2000, 1500)] * 8
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
        _messages(2), _messages(4), _mpi(2), _mpi(8),
        *(case for browser in browsers for case in (
            _browser(browser, 1, (1280, 720)), _browser(browser, 5, (1280, 720)), _browser(browser, 1, (1920, 1080)),
            _browser(browser, 5, (1920, 1080)), _browser(browser, 2, (3840, 2160)),
            _browser(browser, 3, (1280, 720), photographs), _browser(browser, 6, (1280, 720), photographs),
        )),
    ]  # fmt: skip


# Measuring ------------------------------------------------------------------------------------


def used() -> int:
    """Bytes of /dev/shm that are taken, also by files without a name."""
    found = os.statvfs(SHM)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def settle(seconds: float = 2) -> None:
    """Wait until /dev/shm has not grown for so long."""
    most, since = used(), time.monotonic()
    while time.monotonic() - since < seconds:
        time.sleep(0.01)
        if (now := used()) > most:
            most, since = now, time.monotonic()


def peak(case: Case, more: Sequence[str]) -> int:
    """The most that a case takes, in bytes. Raises SystemExit where it fails."""
    before = most = used()
    command = [sys.executable, "-W", "ignore", __file__, "--case", case.name, *more]
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
        if most < MIB:
            continue
        name = f"{case.library or 'Python'} {version}"
        ratio = f"{case.estimate / most:.2f}"
        lines.append(f"| {name} | {case.what} | {case.sum} | {human(case.estimate)} | {human(most)} | {ratio} |")
    lines += ["", *(f"Not measured, as it is not installed: {library}." for library in missing)]
    for version in dict.fromkeys(version for _, version, most in rows if most < MIB):
        lines += [f"Chromium {version} put nothing into /dev/shm: it keeps shared memory in files without a name",
                  "(`memfd_create`), where the kernel has that.", ""]  # fmt: skip
    if any(case.library == CHROMIUM for case, _, most in rows if most >= MIB):
        lines += [
            "Chromium draws without a GPU here, and its tabs are shown one after the other. Its peak is the largest of",
            "three runs. Pictures in a single tab are no case: their peak differs by more than half from run to run.",
            "",
        ]  # fmt: skip
    lines += [
        "Not measured here, as it needs GPUs: NCCL. Its sizes are those of its own structures, and logs of users show",
        "the same (the constants of `shmlint/workloads/mechanisms.py` name them). Its estimate is of one communicator",
        "on one host: send and receive, more channels and several nodes take more. Nor is Triton's Python backend",
        "measured. vLLM fills its slots for messages that are large, as those with images; for text it fills little.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what mechanisms take of /dev/shm.")
    parser.add_argument("--output", type=Path, help="write the table to this file")
    parser.add_argument("--chromium", action="append", help="a Chromium; may be repeated (default: the one installed)")
    parser.add_argument("--only", default="", help="measure the libraries whose name begins so")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    browsers = asked.chromium or [path for path in (shutil.which("chromium"),) if path]
    known = {case.name: case for case in cases(browsers)}
    if asked.case:
        known[asked.case].run()
        return
    private()
    rows, missing = [], [] if browsers else [CHROMIUM]
    more = [word for browser in browsers for word in ("--chromium", browser)]
    for case in known.values():
        empty = case.version and any(case.version == version and most < MIB for _, version, most in rows)
        if empty or not case.library.startswith(asked.only):
            continue
        version = case.version or installed(case.library)
        if version:
            rows.append((case, version, max(peak(case, more) for _ in range(case.times))))
        elif case.library not in missing:
            missing.append(case.library)
    text = page(rows, missing)
    print(text, end="")
    if asked.output:
        asked.output.write_text(text, encoding="utf-8")
    ratios = [(case, case.estimate / most) for case, _, most in rows if most >= MIB]
    wrong = [case.what for case, ratio in ratios if not LOWEST <= round(ratio, 2) <= HIGHEST]
    if wrong:
        raise SystemExit(f"outside of {LOWEST} to {HIGHEST}: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
