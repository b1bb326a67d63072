"""Several processes for large runs. Small ones never get here, and import nothing of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

A = TypeVar("A")
T = TypeVar("T")


_TURN = 0.0002
"""Seconds after which this process's own work lets a thread of the pool run. By default it is 0.005, several times for
each portion, in which another process has nothing to do."""


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _nothing() -> None:
    pass


def _may_start_processes() -> bool:
    """Not in a daemonic process, which multiprocessing forbids children, nor in any thread but the main one:
    a fork copies the locks that other threads hold, and signals are handled in the main thread only."""
    from multiprocessing import current_process
    from threading import current_thread, main_thread

    return current_thread() is main_thread() and not current_process().daemon


def share(
    work: Callable[[A], T], portions: Sequence[A], jobs: int, meanwhile: Callable[[], None] = _nothing,
    here: Callable[[A], T] | None = None,
) -> list[T]:  # fmt: skip
    """The ``work`` on each portion, in their order, done by ``jobs`` processes, of which this is one.

    ``meanwhile`` is what only this process can do; it is done first. ``here`` does the work in this process.
    The work, the portions and the results are pickled. What another process does not finish is done again here,
    so that it fails as it would in one process. Where no process may be started, this one does all the work.
    """
    here = here or work
    if jobs < 2 or len(portions) < 2 or not _may_start_processes():
        meanwhile()
        return [here(portion) for portion in portions]
    import multiprocessing
    import signal
    from concurrent.futures import ProcessPoolExecutor

    # Forked, a process begins at once. Elsewhere a fork is not safe together with the system's own threads.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    blocks = getattr(signal, "pthread_sigmask", None)  # Ctrl+C is for this process; the others inherit the mask
    before = blocks(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else None
    others = multiprocessing.active_children()  # those of whoever uses this as a library
    pool = None
    turn = sys.getswitchinterval()
    try:
        sys.setswitchinterval(_TURN)
        try:
            pool = ProcessPoolExecutor(min(jobs, len(portions)) - 1, mp_context=context, initializer=_begin)
            waiting = [_that_may_be_cancelled(pool.submit(work, portion)) for portion in portions]
        except (OSError, ImportError, RuntimeError):  # no semaphores, no more processes: a container can be so small
            waiting = []
        finally:
            if blocks:
                blocks(signal.SIG_SETMASK, before)  # a Ctrl+C of meanwhile is raised here
        meanwhile()
        # From the end, where the others are not yet.
        mine = {i: here(portions[i]) for i in reversed(range(len(portions))) if not waiting or waiting[i].cancel()}
        results = []
        for i, portion in enumerate(portions):
            if i in mine:
                results.append(mine[i])
                continue
            try:
                results.append(waiting[i].result())
            except Exception:
                results.append(here(portion))
        return results
    except BaseException:
        for process in multiprocessing.active_children():
            if process not in others:
                process.terminate()
        raise
    finally:
        sys.setswitchinterval(turn)
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def _that_may_be_cancelled(future: Future[T]) -> Future[T]:
    """A future that the pool passes over, if it is cancelled, when one of its processes dies.

    Python 3.11's fails there (python/cpython#107219), and the processes that it leaves keep this one from ending.
    """
    from concurrent.futures import InvalidStateError

    tell = future.set_exception

    def told(exception: BaseException | None) -> None:
        with suppress(InvalidStateError):
            tell(exception)

    future.set_exception = told  # type: ignore[method-assign]
    return future


def _begin() -> None:
    """What a process does first: it leaves Ctrl+C to the one that started it, and ends when that is gone."""
    import signal
    from multiprocessing import connection, parent_process
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            connection.wait([parent.sentinel])
            os._exit(1)

    Thread(target=watch, daemon=True).start()
