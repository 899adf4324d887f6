"""Workers on other machines: an executor on a cluster of `dask.distributed`."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from samecam.compute import _dask_connect, _dask_worker
from samecam.compute._dask_connect import LOCAL, connect, distributed_library, quiet
from samecam.compute._dask_worker import Setup, Worker, WorkerResults
from samecam.compute._pool import PoolBrokenError, TaskTimeoutError, WorkerDiedError
from samecam.errors import SamecamError

T = TypeVar("T")
R = TypeVar("R")

Call = tuple[Any, ...]

_UPDATE_SECONDS = 2.0


class DaskPool:
    """Tasks on the workers of a scheduler, each as `LocalPool` would run it.

    A task never runs in a dask worker itself but in a process next to it, with the same
    time-out, memory limit (no more than the worker's own) and crash isolation as here. A
    worker that ends takes nothing down: dask gives its tasks to others. What failed for want
    of memory, by a crash or by its time is tried once more, on the workers with most memory.

    Parameters
    ----------
    address : of the scheduler, like tcp://10.0.0.1:8786, or "local" for a cluster of
        processes on this machine, which ends with the pool
    workers : of a local cluster; others have those that came to the scheduler
    timeout, memory, preload, initializer, initargs : as for `LocalPool`
    check : called on every worker before its first task; what is wrong with it ("does not
        see …"), to which the worker's name is the subject, or ""

    Attributes
    ----------
    workers : tasks that run at a time; it changes as workers come and go
    remote : whether they have memory of their own: all but those of a local cluster
    """

    def __init__(
        self,
        address: str,
        *,
        workers: int | None = None,
        timeout: float | None = None,
        memory: int | None = None,
        preload: str = "samecam.compute",
        initializer: Callable[..., None] | None = None,
        initargs: tuple[Any, ...] = (),
        check: Callable[[], str] | None = None,
    ) -> None:
        self._setup = Setup(
            uuid.uuid4().hex, timeout, memory, preload, initializer, initargs, check
        )
        self._address, self.remote = address, address != LOCAL
        self._client, self._cluster = connect(address, workers)
        self._running: set[Future[Any]] = set()
        self._bound: dict[str, tuple[Any, Call, Future[WorkerResults], list[str]]] = {}
        self._moved: set[str] = set()
        self._lock = threading.Lock()
        self._known: dict[str, Worker] = {}
        self._updated = 0.0
        self.workers = 1
        try:
            self._update_workers()
        except BaseException:
            self.stop()
            raise

    def submit(self, function: Callable[[T], R], argument: T) -> "Future[R]":
        """See `Executor.submit`."""
        outer: Future[R] = Future()

        def last(done: "Future[WorkerResults]") -> None:
            if done.cancelled():
                outer.cancel()
                return
            error = done.exception()
            result = error if error is not None else done.result().items[0]
            if isinstance(result, BaseException):
                outer.set_exception(result)
            else:
                outer.set_result(result)

        def first(done: "Future[WorkerResults]") -> None:
            if (
                not done.cancelled()
                and done.exception() is None
                and worth_retrying(done.result().items[0])
            ):
                with suppress(Exception):  # then the first result must do
                    avoid = done.result().worker
                    again = self.submit_many(function, (argument,), avoid=avoid)
                    again.add_done_callback(last)
                    return
            last(done)

        self.submit_many(function, (argument,)).add_done_callback(first)
        return outer

    def submit_many(
        self,
        function: Callable[[T], R],
        arguments: Sequence[T],
        *,
        then: Callable[[list[Any]], None] | None = None,
        avoid: str | None = None,
    ) -> "Future[WorkerResults]":
        """Begin one task that calls `function` with each argument, on one worker.

        A call that fails has as its result: `TaskTimeoutError`, `WorkerDiedError`, or what it
        raised. The future itself raises `WorkerDiedError` if one worker after another ended.

        Parameters
        ----------
        then : called on the worker with the list of all results, before they are sent
        avoid : worker that had it before: it goes to another one with most memory, if there is
        """
        if time.monotonic() - self._updated > _UPDATE_SECONDS:
            self._update_workers()
        outer: Future[WorkerResults] = Future()
        call = (self._setup, function, tuple(arguments), then)
        self._running.add(outer)
        outer.add_done_callback(self._running.discard)
        self._begin(call, outer, None if avoid is None else self._with_most_memory(avoid))
        return outer

    def _begin(self, call: Call, outer: "Future[WorkerResults]", chosen: list[str] | None) -> None:
        """Give a task to the scheduler, for the chosen workers or for any."""
        with self._scheduler_there():
            inner = self._client.submit(
                _dask_worker.run,
                *call,
                pure=False,
                key=f"samecam-{uuid.uuid4().hex}",
                workers=chosen,
            )
        if chosen is not None:
            self._watch_chosen(inner, call, outer, chosen)
        inner.add_done_callback(lambda done: self._pass_on(done, outer))

    def _watch_chosen(
        self, inner: Any, call: Call, outer: "Future[WorkerResults]", chosen: list[str]
    ) -> None:
        """See that a task for chosen workers goes to any once all of these are gone.

        (Dask itself would wait for them for ever; if it were told that others may have the
        task too, idle ones would take it at once.)
        """
        with self._lock:
            self._bound[inner.key] = inner, call, outer, chosen
            if len(self._bound) == 1:
                threading.Thread(
                    target=self._watch_bound, daemon=True, name="samecam-bound"
                ).start()

    def _watch_bound(self) -> None:
        while True:
            time.sleep(_UPDATE_SECONDS)
            with suppress(Exception), self._lock:
                there = self._client.nthreads()
                for key, (inner, call, outer, chosen) in list(self._bound.items()):
                    if outer.done():
                        del self._bound[key]
                    elif not any(name in there for name in chosen):
                        del self._bound[key]
                        self._moved.add(key)
                        inner.cancel()
                        try:
                            self._begin(call, outer, None)
                        except SamecamError as error:
                            outer.set_exception(error)
            if not self._bound or self._client.status != "running":
                return

    def close(self) -> None:
        """Wait for what runs, and let the workers go."""
        wait(list(self._running))
        self._let_go()

    def stop(self) -> None:
        """End what runs at once, and let the workers go."""
        self._let_go()
        for outer in list(self._running):
            outer.cancel()

    def _let_go(self) -> None:
        with suppress(Exception), quiet():
            if self._client.status == "running":
                self._client.run(_dask_worker.release, self._setup.name, on_error="ignore")
        with suppress(Exception), quiet():
            self._client.close(timeout=_dask_connect.CONNECT_SECONDS)
        if self._cluster is not None:
            with suppress(Exception), quiet():
                self._cluster.close(timeout=_dask_connect.CONNECT_SECONDS)

    def _update_workers(self) -> None:
        """Learn who works, and check those that are new."""
        with self._scheduler_there():
            there: dict[str, int] = self._client.nthreads()
            known = dict(self._known)  # other threads may do this as well: it is bound anew, once
            new = [name for name in there if name not in known]
            if new:
                said = self._client.run(
                    _dask_worker.probe, self._setup, workers=new, on_error="return"
                )
                # One that is gone meanwhile is no worker of ours any more.
                here = {k: v for k, v in said.items() if not isinstance(v, OSError)}
                known.update((name, _checked(name, here[name])) for name in here)
        self.workers = max(1, sum(there.values()))
        self._known = {name: known[name] for name in there if name in known}
        self._updated = time.monotonic()

    def _with_most_memory(self, avoid: str) -> list[str] | None:
        """Workers with most memory, without one that is to be avoided if others are there."""
        room = {name: worker.memory or 2**62 for name, worker in self._known.items()}
        if len(room) > 1:
            room.pop(avoid, None)
        return [name for name in sorted(room) if room[name] == max(room.values())] or None

    @contextmanager
    def _scheduler_there(self) -> Iterator[None]:
        """Turn what dask raises when its scheduler is gone into an error for the user."""
        try:
            yield
        except SamecamError:
            raise
        except (CancelledError, OSError, TimeoutError, RuntimeError) as error:
            raise self._lost(error) from None

    def _lost(self, error: BaseException) -> PoolBrokenError:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        return PoolBrokenError(
            f"The scheduler {self._address!r} was lost ({reason}): start it again with its "
            "workers and give the same command; it goes on where it stopped."
        )

    def _pass_on(self, inner: Any, outer: "Future[WorkerResults]") -> None:
        """Bring dask's failures to the terms of `Executor`."""
        distributed = distributed_library()
        if outer.done() or inner.key in self._moved:
            return
        with suppress(InvalidStateError):  # it came to an end twice, here and on another worker
            self._copy_outcome(inner, outer, distributed)

    def _copy_outcome(self, inner: Any, outer: "Future[WorkerResults]", distributed: Any) -> None:
        try:
            outer.set_result(inner.result())
        except InvalidStateError:
            raise
        except distributed.KilledWorker:
            outer.set_exception(WorkerDiedError(None))
        except (CancelledError, distributed.CancelledError, OSError) as error:
            outer.set_exception(self._lost(error))
        except RuntimeError as error:  # dask cannot read the task
            outer.set_exception(_unreadable(error))
        except BaseException as error:
            outer.set_exception(error)


def _unreadable(error: RuntimeError) -> Exception:
    """An error for a scheduler that cannot import what its workers can."""
    if "deserialization" not in str(error):
        return error
    return SamecamError(
        "The scheduler cannot read the tasks of this samecam: install the same version there too."
    )


def worth_retrying(result: object) -> bool:
    """Whether a result is a failure that another worker might not meet."""
    return isinstance(result, TaskTimeoutError | WorkerDiedError | MemoryError)


def _checked(name: str, said: Any) -> Worker:
    """What a worker said of itself; an error if it cannot do the work."""
    if isinstance(said, Worker) and not said.problem:
        return said
    if isinstance(said, Worker):
        raise SamecamError(f"The worker {name} {said.problem}")
    reason = " ".join(f"{type(said).__name__}: {said}".split())[:200]
    raise SamecamError(
        f"The worker {name} cannot run samecam ({reason}): install the same version on all "
        "machines."
    )
