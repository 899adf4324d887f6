"""Many tasks through a pool of processes, a few ahead at a time."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

from samecam.compute._pool import LocalPool

T = TypeVar("T")
R = TypeVar("R")


def completed(
    pool: LocalPool,
    function: Callable[[T], R],
    tasks: "deque[T] | Iterable[T]",
    stop: threading.Event | None = None,
) -> "Iterator[tuple[T, Future[R]]]":
    """Tasks with their futures, as they end; the pool is closed at the end, or stopped.

    Parameters
    ----------
    tasks : arguments of `function`; to a deque more may be added meanwhile
    stop : when it is set, no further task is begun
    """
    waiting = tasks if isinstance(tasks, deque) else deque(tasks)
    running: dict[Future[R], T] = {}
    try:
        while running or (waiting and not (stop is not None and stop.is_set())):
            while waiting and len(running) < 2 * pool.workers:
                if stop is not None and stop.is_set():
                    break
                task = waiting.popleft()
                running[pool.submit(function, task)] = task
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future
    except BaseException:
        pool.stop()
        raise
    pool.close()
