"""On a worker of a cluster: tasks run in processes next to it, so that it outlives them all."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from samecam._version import __version__
from samecam.compute._pool import LocalPool, WorkerDiedError
from samecam.compute._quiet import silence
from samecam.errors import SamecamError

_SERVE = "import sys; from samecam.compute._dask_worker import serve; serve(int(sys.argv[1]))"
_END_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Setup:
    """How the tasks of one pool are run: as on this machine, see `LocalPool`.

    `name` is the pool's own; `check` says what is wrong with a worker, or nothing.
    """

    name: str
    timeout: float | None = None
    memory: int | None = None
    preload: str = "samecam.compute"
    initializer: Callable[..., None] | None = None
    initargs: tuple[Any, ...] = ()
    check: Callable[[], str] | None = None
    version: str = __version__


@dataclass(frozen=True, slots=True)
class WorkerResults:
    """What became of several tasks on one worker: results in order, or what was raised."""

    worker: str
    items: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Worker:
    """What is known of a worker: bytes a task may take there, and what is wrong with it."""

    memory: int | None
    problem: str = ""


def probe(setup: Setup, dask_worker: Any) -> Worker:
    """Look whether this worker can do the work; called on each, outside of all tasks."""
    return Worker(_share(dask_worker), _problem(setup))


def release(name: str) -> None:
    """End the processes of a pool on this worker."""
    with _lock:
        _released.add(name)
        if name in _processes:
            _processes.pop(name).close()


def run(
    setup: Setup,
    function: Callable[[Any], Any],
    arguments: tuple[Any, ...],
    then: Callable[[list[Any]], None] | None = None,
) -> WorkerResults:
    """Call `function` with each argument, next to this process; `then` here with all results.

    What one call raises is its result. Should the process end (the kernel was out of
    memory, say), another takes the rest one by one: the call that ends it again is the one
    that died.
    """
    from distributed import get_worker

    worker = get_worker()
    problem = "" if setup.name in _processes else _problem(setup)
    if problem:
        raise SamecamError(f"The worker {worker.address} {problem}")
    futures = [_submit(setup, worker, function, argument) for argument in arguments]
    results = [_result(future) for future in futures]
    for k, result in enumerate(results):
        if isinstance(result, _ProcessEndedError):
            again = _result(_submit(setup, worker, function, arguments[k]))
            ended = isinstance(again, _ProcessEndedError)
            results[k] = WorkerDiedError(again.exit_code) if ended else again
    if then is not None:
        then(results)
    return WorkerResults(worker.address, results)


class _ProcessEndedError(WorkerDiedError):
    """The process next to the worker ended, with all that ran in it."""


class TaskProcess:
    """A process with a `LocalPool` of its own, next to a worker, which may not have children.

    (A worker of dask is a daemon of its nanny.) It ends when the connection does, so when the
    worker ends, however that happens.
    """

    def __init__(self, setup: Setup, workers: int, memory: int | None) -> None:
        import multiprocessing

        ours, theirs = multiprocessing.Pipe()
        self._connection = ours
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Any]] = {}
        self._count = 0
        self.ended = False
        ours.send((setup, workers, memory))
        threading.Thread(target=self._listen, daemon=True, name="task-process").start()

    @property
    def idle(self) -> bool:
        """Whether nothing runs in it."""
        return not self._waiting

    def submit(self, function: Callable[[Any], Any], argument: Any) -> "Future[Any]":
        """Begin a call; the future has what it gives or raises."""
        future: Future[Any] = Future()
        data = ForkingPickler.dumps((function, argument))
        with self._lock:
            self._count += 1
            self._waiting[self._count] = future
            try:
                if self.ended:
                    raise BrokenPipeError
                self._connection.send(self._count)
                self._connection.send_bytes(data)
            except OSError:
                del self._waiting[self._count]
                future.set_exception(_ProcessEndedError(None))
        return future

    def close(self) -> None:
        """Have the process end, with all that runs in it."""
        with self._lock, suppress(OSError):
            self._connection.send(None)

    def _listen(self) -> None:
        try:
            while True:
                number, result, error = self._connection.recv()
                with self._lock:
                    future = self._waiting.pop(number)
                if error is None:
                    future.set_result(result)
                else:
                    future.set_exception(error)
        except Exception:  # it ended, or what it sends cannot be read: give it up
            pass
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        with self._lock:
            self.ended = True
            left, self._waiting = list(self._waiting.values()), {}
            self._connection.close()
        for future in left:
            future.set_exception(_ProcessEndedError(code))


_processes: dict[str, TaskProcess] = {}
_released: set[str] = set()
_lock = threading.Lock()


def _submit(setup: Setup, worker: Any, function: Any, argument: Any) -> "Future[Any]":
    """Begin a call in the pool's process here, which is started if need be.

    What other pools left behind (their command was killed) is ended.
    """
    with _lock:
        if setup.name in _released:
            raise SamecamError("The command that wanted this has ended: give it again.")
        process = _processes.get(setup.name)
        if process is None or process.ended:
            for name in [name for name, other in _processes.items() if other.idle]:
                _processes.pop(name).close()
            limits = [m for m in (setup.memory, _share(worker)) if m is not None]
            memory = min(limits, default=None)
            process = _processes[setup.name] = TaskProcess(setup, worker.state.nthreads, memory)
        return process.submit(function, argument)


def _result(future: "Future[Any]") -> Any:
    try:
        return future.result()
    except Exception as error:
        return error


def _share(worker: Any) -> int | None:
    """Bytes that one task may take: the worker's limit over its threads."""
    limit = worker.memory_manager.memory_limit
    return int(limit) // int(worker.state.nthreads) if limit else None


def _problem(setup: Setup) -> str:
    if setup.version != __version__:
        return (
            f"has samecam {__version__}, and this command is of {setup.version}: install the "
            "same version on all machines."
        )
    return "" if setup.check is None else setup.check()


def serve(descriptor: int) -> None:
    """Be the process next to a worker: run what comes, until the connection ends."""
    silence()
    connection = Connection(descriptor)
    setup, workers, memory = connection.recv()
    pool = LocalPool(
        workers,
        timeout=setup.timeout,
        memory=memory,
        preload=setup.preload,
        initializer=setup.initializer,
        initargs=setup.initargs,
    )
    sending = threading.Lock()

    def reply(number: int, done: "Future[Any]") -> None:
        error = done.exception()
        with sending:
            try:
                connection.send((number, None if error else done.result(), error))
            except OSError:
                os._exit(1)
            except Exception as problem:  # what cannot be pickled
                connection.send((number, None, RuntimeError(f"{error!r}: {problem}")))

    try:
        while (number := connection.recv()) is not None:
            try:
                function, argument = connection.recv()
            except (EOFError, OSError):
                raise
            except Exception as error:  # it cannot be imported here
                unread: Future[Any] = Future()
                unread.set_exception(error)
                reply(number, unread)
            else:
                pool.submit(function, argument).add_done_callback(partial(reply, number))
    except (EOFError, OSError):
        pass  # the worker has ended
    finally:  # or the pool has: those who wait see this process end
        pool.stop()
