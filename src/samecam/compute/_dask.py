"""Workers on other machines: an executor on a cluster of `dask.distributed`."""

import logging
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from samecam.compute import _dask_worker
from samecam.compute._dask_worker import Answers, Setup, Worker
from samecam.compute._machine import worker_count
from samecam.compute._pool import PoolBrokenError, TaskTimeoutError, WorkerDiedError
from samecam.errors import SamecamError

T = TypeVar("T")
R = TypeVar("R")

Call = tuple[Any, ...]

LOCAL = "local"
_CONNECT_SECONDS = 10.0
_WORKERS_SECONDS = 30.0
_LOOK_SECONDS = 2.0


class DaskPool:
    """Tasks on the workers of a scheduler, each as `LocalPool` would run it.

    A task never runs in a dask worker itself but in a process beside it, with the same
    time-out, memory limit (no more than the worker's own) and crash isolation as here. A
    worker that ends takes nothing down: dask gives its tasks to others. What failed for want
    of memory, by a crash or by its time is tried once more, on the workers with most memory.

    Parameters
    ----------
    address : of the scheduler, like tcp://10.0.0.1:8786, or "local" for a cluster of
        processes on this machine, which ends with the pool
    workers : of a local cluster; others have those that came to the scheduler
    timeout, memory, preload, initializer, initargs : as for `LocalPool`
    check : called on every worker before its first task; a sentence of what is wrong
        ("does not see …"), to which the worker's name is the subject, or ""

    Attributes
    ----------
    workers : tasks that run at a time; it changes as workers come and go
    elsewhere : whether they have memory of their own: all but those of a local cluster
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
        self._address, self.elsewhere = address, address != LOCAL
        self._client, self._cluster = _connect(address, workers)
        self._running: set[Future[Any]] = set()
        self._bound: dict[str, tuple[Any, Call, Future[Answers], list[str]]] = {}
        self._left: set[str] = set()
        self._lock = threading.Lock()
        self._known: dict[str, Worker] = {}
        self._looked = 0.0
        self.workers = 1
        try:
            self._look()
        except BaseException:
            self.stop()
            raise

    def submit(self, function: Callable[[T], R], argument: T) -> "Future[R]":
        """See `Executor.submit`."""
        outer: Future[R] = Future()

        def last(done: "Future[Answers]") -> None:
            if done.cancelled():
                outer.cancel()
                return
            error = done.exception()
            answer = error if error is not None else done.result().items[0]
            if isinstance(answer, BaseException):
                outer.set_exception(answer)
            else:
                outer.set_result(answer)

        def first(done: "Future[Answers]") -> None:
            if (
                not done.cancelled()
                and done.exception() is None
                and worth_another(done.result().items[0])
            ):
                with suppress(Exception):  # then the first answer must do
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
    ) -> "Future[Answers]":
        """Begin one task that calls `function` with each argument, on one worker.

        A call that fails is an answer: `TaskTimeoutError`, `WorkerDiedError`, or what it
        raised. The future itself raises `WorkerDiedError` if one worker after another ended.

        Parameters
        ----------
        then : called on the worker with the list of all answers, before they are sent
        avoid : worker that had it before: it goes to another one with most memory, if there is
        """
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            self._look()
        outer: Future[Answers] = Future()
        call = (self._setup, function, tuple(arguments), then)
        self._running.add(outer)
        outer.add_done_callback(self._running.discard)
        self._begin(call, outer, None if avoid is None else self._roomiest(avoid))
        return outer

    def _begin(self, call: Call, outer: "Future[Answers]", chosen: list[str] | None) -> None:
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
            self._mind(inner, call, outer, chosen)
        inner.add_done_callback(lambda done: self._pass_on(done, outer))

    def _mind(self, inner: Any, call: Call, outer: "Future[Answers]", chosen: list[str]) -> None:
        """See that a task for chosen workers goes to any once all of these are gone.

        (Dask itself would wait for them for ever; if it were told that others may have the
        task too, idle ones would take it at once.)
        """
        with self._lock:
            self._bound[inner.key] = inner, call, outer, chosen
            if len(self._bound) == 1:
                threading.Thread(target=self._watch, daemon=True, name="samecam-bound").start()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            with suppress(Exception), self._lock:
                there = self._client.nthreads()
                for key, (inner, call, outer, chosen) in list(self._bound.items()):
                    if outer.done():
                        del self._bound[key]
                    elif not any(name in there for name in chosen):
                        del self._bound[key]
                        self._left.add(key)
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
        with suppress(Exception), _quiet():
            if self._client.status == "running":
                self._client.run(_dask_worker.release, self._setup.name, on_error="ignore")
        with suppress(Exception), _quiet():
            self._client.close(timeout=_CONNECT_SECONDS)
        if self._cluster is not None:
            with suppress(Exception), _quiet():
                self._cluster.close(timeout=_CONNECT_SECONDS)

    def _look(self) -> None:
        """See who works, and have those that are new looked at."""
        with self._scheduler_there():
            there: dict[str, int] = self._client.nthreads()
            known = dict(self._known)  # other threads may look as well: it is bound anew, once
            new = [name for name in there if name not in known]
            if new:
                found = self._client.run(
                    _dask_worker.probe, self._setup, workers=new, on_error="return"
                )
                # One that is gone meanwhile is no worker of ours any more.
                here = {k: v for k, v in found.items() if not isinstance(v, OSError)}
                known.update((name, _sound(name, here[name])) for name in here)
        self.workers = max(1, sum(there.values()))
        self._known = {name: known[name] for name in there if name in known}
        self._looked = time.monotonic()

    def _roomiest(self, avoid: str) -> list[str] | None:
        """Workers with most memory, without one that is to be avoided if others are there."""
        room = {name: worker.memory or 2**62 for name, worker in self._known.items()}
        if len(room) > 1:
            room.pop(avoid, None)
        return [name for name in sorted(room) if room[name] == max(room.values())] or None

    @contextmanager
    def _scheduler_there(self) -> Iterator[None]:
        """Turn what dask raises when its scheduler is gone into a sentence."""
        try:
            yield
        except SamecamError:
            raise
        except (CancelledError, OSError, TimeoutError, RuntimeError) as error:
            raise self._gone(error) from None

    def _gone(self, error: BaseException) -> PoolBrokenError:
        words = " ".join(str(error).split())[:200] or type(error).__name__
        return PoolBrokenError(
            f"The scheduler {self._address!r} was lost ({words}): start it again with its "
            "workers and give the same command; it goes on where it stopped."
        )

    def _pass_on(self, inner: Any, outer: "Future[Answers]") -> None:
        """Bring dask's failures to the terms of `Executor`."""
        distributed = _distributed()
        if outer.done() or inner.key in self._left:
            return
        with suppress(InvalidStateError):  # it came to an end twice, here and on another worker
            self._settle(inner, outer, distributed)

    def _settle(self, inner: Any, outer: "Future[Answers]", distributed: Any) -> None:
        try:
            outer.set_result(inner.result())
        except InvalidStateError:
            raise
        except distributed.KilledWorker:
            outer.set_exception(WorkerDiedError(None))
        except (CancelledError, distributed.CancelledError, OSError) as error:
            outer.set_exception(self._gone(error))
        except RuntimeError as error:  # dask cannot read the task
            outer.set_exception(_unlike(error))
        except BaseException as error:
            outer.set_exception(error)


def _unlike(error: RuntimeError) -> Exception:
    """A sentence for a scheduler that cannot import what its workers can."""
    if "deserialization" not in str(error):
        return error
    return SamecamError(
        "The scheduler cannot read the tasks of this samecam: install the same version there too."
    )


def worth_another(answer: object) -> bool:
    """Whether an answer is a failure that another worker might not meet."""
    return isinstance(answer, TaskTimeoutError | WorkerDiedError | MemoryError)


def cluster_workers(address: str, workers: int | None = None) -> int:
    """How many tasks a cluster runs at a time; a sentence if there is none."""
    if address == LOCAL:
        _distributed()
        return worker_count(workers)
    client, _ = _connect(address, workers)
    try:
        return max(1, int(sum(client.nthreads().values())))
    finally:
        client.close()


def _distributed() -> Any:
    """The library, or a sentence."""
    from importlib import import_module

    try:
        return import_module("distributed")
    except ImportError:
        raise SamecamError(
            "A scheduler needs dask: pip install 'samecam[dask]', or leave --scheduler out."
        ) from None


def _connect(address: str, workers: int | None) -> tuple[Any, Any]:
    """A client of the scheduler, and the cluster if it is our own."""
    distributed = _distributed()
    if address != LOCAL:
        _ask_who_is_there(address)
    cluster = _local_cluster(worker_count(workers)) if address == LOCAL else None
    try:
        with _quiet():
            client = distributed.Client(
                cluster or address,
                timeout=_CONNECT_SECONDS,
                set_as_default=False,
                name=f"samecam-{os.getpid()}",
            )
    except OSError as error:
        if cluster is not None:
            cluster.close()
        raise _nobody(address, str(error)) from None
    try:
        client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
    except TimeoutError:
        client.close()
        if cluster is not None:
            cluster.close()
        raise SamecamError(
            f"The scheduler {address!r} has no workers: start some (dask worker {address})."
        ) from None
    return client, cluster


def _ask_who_is_there(address: str) -> None:
    """Raise a sentence unless a scheduler answers.

    A client of dask waits for ever for what is no scheduler, and complains when it is let go of.
    """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    distributed = _distributed()

    async def identity() -> Any:
        known = distributed.Security().get_connection_args("client")
        async with distributed.core.rpc(address, connection_args=known) as there:
            return await there.identity()

    async def asked() -> Any:
        return await asyncio.wait_for(identity(), _CONNECT_SECONDS)

    try:
        with _quiet(), ThreadPoolExecutor(1) as apart:  # the caller may have a loop of its own
            who = apart.submit(asyncio.run, asked()).result()
    except TimeoutError:
        raise _nobody(address, "no answer; 8787 is dask's page, 8786 its scheduler") from None
    except (OSError, ValueError, TypeError, RuntimeError, ImportError, KeyError) as error:
        raise _nobody(address, str(error)) from None
    if who.get("type") != "Scheduler":
        raise _nobody(address, f"it is a {who.get('type', 'stranger').lower()}'s address")


def _nobody(address: str, why: str) -> SamecamError:
    words = " ".join(why.split())[:200]
    return SamecamError(
        f"No dask scheduler answers at {address!r} ({words}): start one (dask scheduler), or "
        "give --scheduler local."
    )


def _local_cluster(workers: int) -> Any:
    """Processes on this machine, deaf to Ctrl-C: the parent decides."""
    from multiprocessing import resource_tracker

    distributed = _distributed()
    resource_tracker.ensure_running()  # first: starting it lifts the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _sound(name: str, found: Any) -> Worker:
    """What a worker said of itself; a sentence if it cannot do the work."""
    if isinstance(found, Worker) and not found.trouble:
        return found
    if isinstance(found, Worker):
        raise SamecamError(f"The worker {name} {found.trouble}")
    words = " ".join(f"{type(found).__name__}: {found}".split())[:200]
    raise SamecamError(
        f"The worker {name} cannot run samecam ({words}): install the same version on all machines."
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep dask from telling on standard error what is told in a sentence."""
    names = ("distributed", "distributed.client", "distributed.core", "distributed.comm.tcp")
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
