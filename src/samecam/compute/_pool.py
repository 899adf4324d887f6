"""Processes on this machine, and what every executor promises."""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from samecam.compute._quiet import silence
from samecam.errors import SamecamError

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

_QUIET = "samecam.compute._quiet"
_CHILDREN = "_children"  # of multiprocessing: those that are waited for at the very end
_WORKER_NAME = "pebble_pool_worker"
_LOOK = 0.2  # seconds between two looks at what runs
# Seconds that workers have to end: one that waits for a disk or a mount that does not answer
# cannot be killed.
_END_SECONDS = 10.0
# Seconds after which a pool in which nothing runs any more is given up.
_STUCK_SECONDS = 60.0


class PoolBrokenError(SamecamError):
    """The worker processes could not be kept alive."""


class TaskTimeoutError(Exception):
    """A task took longer than it may; its process was ended."""


class WorkerDiedError(Exception):
    """The process that worked on a task ended; `exit_code` is negative for a signal."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code

    @property
    def how(self) -> str:
        """How it ended, in words."""
        import signal

        if self.exit_code is None:
            return "with it one worker after another ended"
        with suppress(ValueError):
            return signal.Signals(-self.exit_code).name
        return f"exit code {self.exit_code}"


class Executor(Protocol):
    """Runs functions in other processes. A task that fails takes nobody else's down.

    Attributes
    ----------
    workers : tasks that run at a time
    remote : whether the workers have memory of their own, on other machines
    """

    workers: int
    remote: bool

    def submit(self, function: Callable[[T], R], argument: T) -> "Future[R]":
        """Begin `function(argument)`; both must be importable or plain data.

        The future raises `TaskTimeoutError` or `WorkerDiedError`, or what the function
        raised.
        """
        ...

    def close(self) -> None:
        """Wait for what runs and end all workers."""
        ...


class LocalPool:
    """Processes on this machine, each task with a time-out, each crash its own.

    Workers are forked from a server that has loaded `preload` once. They ignore
    Ctrl-C (the parent decides), print no errors, run one BLAS thread, may not take more
    than `memory` bytes of address space beyond their start, and end when the parent
    ends, however that happens. Time is measured by a clock that nobody sets.

    Parameters
    ----------
    workers : number of processes; as many as there are tasks are enough
    timeout : seconds a task may take, or None for any time
    memory : bytes, or None for no limit
    preload : module that the server imports before it forks
    initializer, initargs : called first in every worker
    """

    remote = False

    def __init__(
        self,
        workers: int,
        *,
        timeout: float | None = None,
        memory: int | None = None,
        preload: str = "samecam.compute",
        initializer: Callable[..., None] | None = None,
        initargs: tuple[Any, ...] = (),
    ) -> None:
        import multiprocessing

        import pebble

        method = (
            "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        )
        context = multiprocessing.get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload([_QUIET, preload])
            _start_server()
        self.workers = workers
        self._timeout = timeout
        self._waiting: dict[Future[Any], _Task] = {}
        self._closed = threading.Event()
        self._ended: float | None = None  # when a task was ended, if nothing has run since
        self._watcher: threading.Thread | None = None
        self._pool = pebble.ProcessPool(
            max_workers=workers,
            initializer=_start_worker,
            initargs=(memory, initializer, initargs),
            context=context,
        )

    def submit(self, function: Callable[[T], R], argument: T) -> "Future[R]":
        """See `Executor.submit`."""
        from concurrent.futures import Future

        try:
            inner = self._pool.schedule(function, args=(argument,))
        except RuntimeError:
            raise _broken() from None
        except OSError as error:  # of what they share with this process
            raise PoolBrokenError(
                f"The worker processes could not be started ({error.strerror}): see whether there "
                "is room in /dev/shm, and how many open files are allowed (ulimit -n)."
            ) from None
        outer: Future[R] = Future()
        self._waiting[outer] = _Task(inner)
        outer.add_done_callback(self._forget)
        if self._watcher is None:
            self._watcher = threading.Thread(target=self._watch, daemon=True, name="pool-watch")
            self._watcher.start()
        inner.add_done_callback(lambda done: _pass_on(done, outer))
        return outer

    def _forget(self, done: "Future[Any]") -> None:
        self._waiting.pop(done, None)
        self._ended = None

    def close(self) -> None:
        """Wait for what runs and end all workers."""
        self._pool.close()
        while self._waiting and self._pool.active:
            time.sleep(_LOOK / 4)
        self.stop()

    def stop(self) -> None:
        """End all workers at once, or leave behind those that cannot be ended."""
        self._closed.set()
        self._pool.stop()
        if sys.is_finalizing():  # no thread begins any more; workers end with this process
            return
        ending = threading.Thread(target=self._pool.join, daemon=True, name="pool-end")
        try:
            ending.start()
        except RuntimeError:  # there may be no more threads
            self._pool.join()
            return
        ending.join(_END_SECONDS)
        if ending.is_alive():
            _leave_behind()

    def _watch(self) -> None:
        """End tasks that took too long, and tell those who wait of a broken pool.

        (Pebble measures time by a clock that may be set, and forgets the tasks it had not
        begun with.)
        """
        while not self._closed.wait(_LOOK):
            if not self._pool.active:
                self._fail()
                return
            if self._timeout is not None:
                for task in list(self._waiting.values()):
                    if task.end_after(self._timeout):
                        self._ended = time.monotonic()
            if self._is_stuck():
                self._fail()
                return

    def _is_stuck(self) -> bool:
        """Whether nothing has run since a task was ended, long ago: its process cannot be killed.

        (Pebble waits for it, for ever, before it begins with anything else.)
        """
        tasks = list(self._waiting.values())
        if any(task.inner.running() for task in tasks):
            self._ended = None
        since = self._ended
        return bool(tasks) and since is not None and time.monotonic() - since > _STUCK_SECONDS

    def _fail(self) -> None:
        """Tell those who wait that nothing will come."""
        from concurrent.futures import InvalidStateError

        for future in list(self._waiting):
            with suppress(InvalidStateError):  # it has just ended
                future.set_exception(_broken())


@dataclass(slots=True)
class _Task:
    """A task as pebble has it, and since when it was seen to run."""

    inner: "Future[Any]"
    since: float | None = None

    def end_after(self, seconds: float) -> bool:
        """Cancel it, which ends its process, if it has run for longer than that."""
        if self.since is None:
            self.since = time.monotonic() if self.inner.running() else None
        elif time.monotonic() - self.since > seconds:
            return bool(self.inner.cancel())
        return False


def _leave_behind() -> None:
    """Forget workers that do not end even when killed, so that nobody waits for them."""
    from multiprocessing import active_children, process

    for child in active_children():
        if child.name == _WORKER_NAME:
            getattr(process, _CHILDREN).discard(child)


def _start_server() -> None:
    """Start the server workers are forked from, deaf to Ctrl-C from its first moment."""
    import signal
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # first: starting it lifts the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _broken() -> PoolBrokenError:
    return PoolBrokenError(
        "The worker processes could not be started or kept alive. In a script, call samecam "
        "under `if __name__ == '__main__':`; else see whether there is too little memory, or too "
        "few processes or open files are allowed (ulimit -a)."
    )


def _pass_on(inner: "Future[Any]", outer: "Future[Any]") -> None:
    """Give what a task of pebble came to, in the terms of `Executor`."""
    from concurrent.futures import InvalidStateError

    failure = TimeoutError() if inner.cancelled() else inner.exception()
    with suppress(InvalidStateError):  # it has been told of a broken pool
        if failure is None:
            outer.set_result(inner.result())
        else:
            outer.set_exception(_translated(failure))


def _translated(failure: BaseException) -> BaseException:
    from concurrent.futures.process import BrokenProcessPool

    import pebble

    if isinstance(failure, TimeoutError):
        return TaskTimeoutError()
    if isinstance(failure, pebble.ProcessExpired):
        return WorkerDiedError(failure.exitcode)
    if isinstance(failure, BrokenProcessPool):
        return _broken()
    return failure


def _start_worker(
    memory: int | None, initializer: Callable[..., None] | None, initargs: tuple[Any, ...]
) -> None:
    import signal

    from threadpoolctl import threadpool_limits

    silence()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with_parent()
    threadpool_limits(limits=1)
    if memory is not None:
        _limit_memory(memory)
    if initializer is not None:
        initializer(*initargs)


def _end_with_parent() -> None:
    """End this process when the one that wants its results does.

    A thread waits for the parent; should native code hold the interpreter just then,
    the kernel's signal on the death of the fork server, which also follows the
    parent, does it.
    """
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent-watch").start()
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
    except (OSError, AttributeError):
        pass  # not Linux: the thread must do


def _limit_memory(extra: int) -> None:
    import resource

    try:
        with open("/proc/self/statm", encoding="ascii") as stream:
            used = int(stream.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + extra, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        pass  # no such limit here: the time-out and crash isolation remain
