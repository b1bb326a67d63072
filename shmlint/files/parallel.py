"""Several processes for large runs. Small ones never get here, and import nothing of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

A = TypeVar("A")
T = TypeVar("T")

FORKS = sys.platform == "linux"
"""Whether processes are forked and so begin at once. Elsewhere a fork is not safe together with the system's threads.
"""


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _nothing() -> None:
    pass


def share(
    work: Callable[[A], T], portions: Sequence[A], jobs: int, meanwhile: Callable[[], None] = _nothing,
    here: Callable[[A], T] | None = None,
) -> list[T]:  # fmt: skip
    """The ``work`` on each portion, in their order, done by ``jobs`` processes, of which this is one.

    ``meanwhile`` is what only this process can do; it is done first. ``here`` does the work in this process.
    The results are pickled; where processes are not forked, so are the work and the portions. What another process
    does not finish is done again here, so that it fails as it would in one process. Where no process may be started,
    this one does all the work.
    """
    from threading import current_thread, main_thread

    here = here or work
    # A fork copies the locks that other threads hold, and signals are handled in the main thread only.
    if jobs < 2 or len(portions) < 2 or current_thread() is not main_thread():
        meanwhile()
        return [here(portion) for portion in portions]
    others = min(jobs, len(portions)) - 1
    if FORKS:
        done = _by_forks(work, portions, others, meanwhile, here)
    else:
        from shmlint.files.spawned import by_spawned

        done = by_spawned(work, portions, others, meanwhile, here)
    return [done[number] if number in done else here(portion) for number, portion in enumerate(portions)]


def _by_forks(
    work: Callable[[A], T], portions: Sequence[A], others: int, meanwhile: Callable[[], None], here: Callable[[A], T]
) -> dict[int, T]:
    """What forked processes and this one make of portions, by their numbers.

    Each takes the number of its next portion from a pipe, which is empty when all are taken.
    """
    import signal

    waiting = _filled(len(portions))
    children: dict[int, int] = {}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # Ctrl+C is for this process
    try:
        try:
            for _ in range(others):
                child, results = _fork(work, portions, waiting)
                children[child] = results
        except OSError:  # no more processes, or files: a container can be so small
            pass
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)  # a Ctrl+C of meanwhile is raised here
        meanwhile()
        done = {number: here(portions[number]) for number in _taken(waiting, len(portions))}
        for results in children.values():
            done.update(_received(results))
        return done
    except BaseException:
        for child in children:
            os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(waiting)
        for child, results in children.items():
            os.close(results)
            os.waitpid(child, 0)


_NUMBER = 4
"""Bytes of a number in the pipe."""
_MOST_NUMBERS = 8_192
"""In the pipe, which holds 64 KiB at least; of more portions one number stands for several."""


def _filled(count: int) -> int:
    """The end of a pipe from which the numbers of portions can be read."""
    waiting, end = os.pipe()
    step = count // _MOST_NUMBERS + 1
    with open(end, "wb") as pipe:
        for number in range(0, count, step):
            pipe.write(number.to_bytes(_NUMBER, "big"))
    return waiting


def _taken(waiting: int, count: int) -> Iterator[int]:
    """The numbers of the portions that this process takes, one after the other."""
    step = count // _MOST_NUMBERS + 1
    while number := os.read(waiting, _NUMBER):
        first = int.from_bytes(number, "big")
        yield from range(first, min(first + step, count))


def _fork(work: Callable[[A], T], portions: Sequence[A], waiting: int) -> tuple[int, int]:
    """Start a process that works on portions: its number, and the end of a pipe from which its results can be read."""
    parent = os.getpid()
    results, end = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(results)
        os.close(end)
        raise
    if child:
        os.close(end)
        return child, results
    status = 1
    try:
        _work(work, portions, waiting, end, parent)
        status = 0
    finally:
        os._exit(status)  # nothing of the parent's is flushed, called or raised here


def _work(work: Callable[[A], T], portions: Sequence[A], waiting: int, end: int, parent: int) -> None:
    """Work on portions as long as there are some and the process that asked for it lives; then send the results."""
    import pickle
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    done: dict[int, bytes] = {}
    for number in _taken(waiting, len(portions)):
        if os.getppid() != parent:
            return
        with suppress(Exception):  # it is done again in the parent
            done[number] = pickle.dumps(work(portions[number]), pickle.HIGHEST_PROTOCOL)
    with open(end, "wb") as pipe:
        pickle.dump(done, pipe, pickle.HIGHEST_PROTOCOL)


def _received(results: int) -> dict[int, T]:
    """The results of another process; nothing of one that did not come to its end."""
    import pickle

    with open(results, "rb", closefd=False) as pipe:
        try:
            return {number: pickle.loads(data) for number, data in pickle.load(pipe).items()}
        except (EOFError, pickle.UnpicklingError):
            return {}
