"""Variants of real files: cut, spliced, repeated, with bytes and lines changed.

    python -m tests.fuzz.variants --count 20000 --seed 1 [DIRECTORY…]

reads the files below the directories (``fixtures`` and what ``SHMLINT_CORPUS`` names, where none
are given), checks so many variants, and prints those that fail or take longer than two seconds.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from shmlint.files.kinds import classify
from shmlint.formats import KINDS
from tests.fuzz.check import check, enter

ROOT = Path(__file__).parents[2]
SECONDS = 2.0
"""A variant that takes longer counts as a hang."""

WORDS = [
    word.encode() for word in (
        "gpus: all", "shm_size: 1g", "shm_size: 1e9", "ipc: host", "ipc: service:a", "<<: *a", "&a ", "*a", "!reset",
        "!override []", "---\n", "services:\n", "deploy:", "extends: a", "include: [a]", "${A:-${B}}", "$$", "$(", "`",
        "'", '"', "\\\n", "<<EOF\n", "docker run --gpus all x\n", "--shm-size=64m", "--gpus", "-e NCCL_P2P_DISABLE=1",
        "# shmlint: ignore\n", "/* ", "//", "```sh\n", "~~~\n", ".. code-block:: sh\n", "{{ x }}", "\t", "\r\n", "\r",
        "\ufeff", "\u2028", "\U0001f600", "\0", "{", "}", "[", "]", ",", ":", ": ", "- ", "|\n", ">-\n", "%YAML 1.1\n",
        "tmpfs: /dev/shm:size=1gb", "ulimits: {memlock: -1}", "environment: [NCCL_DEBUG=INFO]",
        "null", "~", "0x10", "1_000", "9" * 40, "runArgs", '"--gpus", "all",', "hostRequirements",
    )
]  # fmt: skip


def files(directories: Sequence[Path]) -> list[tuple[str, bytes]]:
    """The files worth reading below directories: their kinds and contents."""
    found = []
    for directory in directories:
        for path in sorted(directory.rglob("*")):
            if path.is_file() and ".git" not in path.parts:
                content = path.read_bytes()
                below = str(path.relative_to(directory.parent)).replace(os.sep, "/")
                kind = classify(f"/{_renamed(below)}", lambda content=content: content)  # type: ignore[misc]
                if kind in KINDS:
                    found.append((str(kind), content))
    return found


def _renamed(path: str) -> str:
    """A name such as ``owner__repository__folder__file.json``, as the path it means."""
    return path.replace("__", "/")


def variant(generator: random.Random, of: Sequence[tuple[str, bytes]]) -> tuple[str, bytes]:
    """A variant of one of the files, with up to four changes."""
    kind, content = generator.choice(of)
    content = content[:20_000]
    for _ in range(generator.randint(1, 4)):
        content = generator.choice(CHANGES)(generator, content, of)
    return kind, content


def _cut(generator: random.Random, content: bytes, of: Sequence[tuple[str, bytes]]) -> bytes:
    return content[: generator.randrange(len(content) + 1)]


def _behead(generator: random.Random, content: bytes, of: Sequence[tuple[str, bytes]]) -> bytes:
    return content[generator.randrange(len(content) + 1) :]


def _delete(generator: random.Random, content: bytes, of: Sequence[tuple[str, bytes]]) -> bytes:
    start = generator.randrange(len(content) + 1)
    return content[:start] + content[start + generator.randint(1, 40) :]


def _byte(generator: random.Random, content: bytes, of: Sequence[tuple[str, bytes]]) -> bytes:
    at = generator.randrange(len(content) + 1)
    return content[:at] + bytes([generator.randrange(256)]) + content[at + generator.randint(0, 1) :]


def _word(generator: random.Random, content: bytes, of: Sequence[tuple[str, bytes]]) -> bytes:
    at = generator.randrange(len(content) + 1)
    return content[:at] + generator.choice(WORDS) * generator.choice((1, 1, 1, 2, 50)) + content[at:]


def _lines(generator: random.Random, content: bytes, of: Sequence[tuple[str, bytes]]) -> bytes:
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return content
    one, other = generator.randrange(len(lines)), generator.randrange(len(lines))
    change = generator.randrange(4)
    if change == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif change == 1:
        lines.insert(one, lines[other])
    elif change == 2:
        del lines[one]
    else:
        lines[one] = generator.choice((b" ", b"  ", b"\t", b"    ")) + lines[one]
    return b"".join(lines)


def _splice(generator: random.Random, content: bytes, of: Sequence[tuple[str, bytes]]) -> bytes:
    _, other = generator.choice(of)
    start = generator.randrange(len(other) + 1)
    at = generator.randrange(len(content) + 1)
    return content[:at] + other[start : start + generator.randint(1, 500)] + content[at:]


def _endings(generator: random.Random, content: bytes, of: Sequence[tuple[str, bytes]]) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\n", generator.choice((b"\r\n", b"\n", b"\r", b"\n\n")))


def _repeat(generator: random.Random, content: bytes, of: Sequence[tuple[str, bytes]]) -> bytes:
    start = generator.randrange(len(content) + 1)
    part = content[start : start + generator.randint(1, 60)]
    return content[:start] + part * generator.choice((2, 3, 100)) + content[start:]


CHANGES = (_cut, _behead, _delete, _byte, _word, _word, _lines, _lines, _splice, _endings, _repeat)


class Hang(Exception):
    """A variant takes too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Hang in what computes longer than that, where the system has such a timer."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise Hang(f"longer than {seconds} s")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def run(of: Sequence[tuple[str, bytes]], count: int, seed: int, directory: Path) -> Iterator[tuple[str, bytes, str]]:
    """Check so many variants; yields those that fail, and why."""
    enter(directory)
    for number in range(count):
        kind, content = variant(random.Random(f"{seed}/{number}"), of)
        here = directory / str(number)
        enter(here)
        try:
            with limited(SECONDS):
                check(kind, content, here)
        except Exception:
            yield kind, content, traceback.format_exc(limit=-6)
        for left in here.iterdir():
            left.unlink()
        os.chdir(directory)
        here.rmdir()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY", help="Write the failing variants there.")
    parser.add_argument("directories", nargs="*", type=Path)
    options = parser.parse_args()
    given = options.directories or [ROOT / "fixtures"]
    if not options.directories and "SHMLINT_CORPUS" in os.environ:
        given.append(Path(os.environ["SHMLINT_CORPUS"]))
    keep = options.keep.resolve() if options.keep else None
    of = files([directory.resolve() for directory in given])
    start = time.monotonic()
    failures = 0
    with tempfile.TemporaryDirectory() as work:
        for kind, content, why in run(of, options.count, options.seed, Path(work)):
            failures += 1
            print(f"--- {kind}, {len(content)} bytes\n{why}", flush=True)
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{kind}-{failures}").write_bytes(content)
        os.chdir(ROOT)
    took = time.monotonic() - start
    print(f"{options.count} variants of {len(of)} files, seed {options.seed}: {failures} failed; {took:.0f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
