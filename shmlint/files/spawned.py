"""Several processes where none can be forked: they are started anew, and all that they work on is sent to them."""

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


def by_spawned(
    work: Callable[[A], T], portions: Sequence[A], others: int, meanwhile: Callable[[], None], here: Callable[[A], T]
) -> dict[int, T]:
    """What other processes and this one make of portions, by their numbers."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    if multiprocessing.current_process().daemon:  # which may have no children
        meanwhile()
        return {}
    known = multiprocessing.active_children()  # those of whoever uses this as a library
    pool = None
    turn = sys.getswitchinterval()
    try:
        sys.setswitchinterval(_TURN)
        try:
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(others, mp_context=context, initializer=_begin)
            waiting = [_that_may_be_cancelled(pool.submit(work, portion)) for portion in portions]
        except (OSError, ImportError, RuntimeError):  # no semaphores, no more processes
            waiting = []
        meanwhile()
        # From the end, where the others are not yet.
        done = {i: here(portions[i]) for i in reversed(range(len(portions))) if not waiting or waiting[i].cancel()}
        for i, future in enumerate(waiting):
            if i not in done:
                with suppress(Exception):  # it is done again
                    done[i] = future.result()
        return done
    except BaseException:
        for process in multiprocessing.active_children():
            if process not in known:
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
    from concurrent.futures import Future, InvalidStateError

    class Cancelled(Future[T]):
        def set_exception(self, exception: BaseException | None) -> None:
            with suppress(InvalidStateError):
                super().set_exception(exception)

    future.__class__ = Cancelled
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
