"""Who turns files into outcomes: processes here, one file each, or a cluster, in batches."""

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Protocol

from samecam import compute
from samecam.arrays import Pixels
from samecam.case.extraction import _worker
from samecam.case.extraction._device import HELD, DeviceStage
from samecam.case.extraction._worker import ExtractionTask, Outcome
from samecam.case.folder import ExtractionSettings
from samecam.errors import SamecamError
from samecam.photos import PhotoFile
from samecam.provenance import versions

# Photos a task on a cluster has, and how many tasks a worker should get in all.
FEWEST, MOST = 50, 500
_SHARES = 8
_SAMPLE = 8
# Photos a process may have before it when a device, and not it, makes the fingerprints, and
# pixels that all of them may then have together beside one photo a process.
_AHEAD, _AHEAD_PIXELS = 6, 2**30


class Dispatch(Protocol):
    """Takes tasks and gives outcomes back, in any order."""

    def wants(self) -> bool:
        """Whether there is room for one more task."""
        ...

    def put(self, task: ExtractionTask) -> None:
        """Take a task."""
        ...

    def idle(self) -> bool:
        """Whether nothing that was taken is left."""
        ...

    def collect(self, seconds: float, more: bool) -> Iterator[Outcome]:
        """What has become ready, within so many seconds; `more`: further tasks will come now."""
        ...

    def close(self) -> None:
        """End in order."""
        ...

    def stop(self) -> None:
        """End at once."""
        ...


def dispatch(
    resources: compute.Resources,
    settings: ExtractionSettings,
    store: Path,
    pending: list[PhotoFile],
    largest: int,
) -> Dispatch:
    """Processes here or, with a scheduler, the workers of its cluster, each looked at before.

    `largest` are the pixels of the largest frame.
    """
    store = store.absolute()
    memory = compute.worker_memory(largest)
    if resources.scheduler is None:
        pool = compute.LocalPool(
            min(resources.n_workers, max(len(pending), 1)),
            timeout=resources.timeout,
            memory=memory,
            preload="samecam._preload",
            initializer=_worker.start,
            initargs=(settings, store),
        )
        if resources.device == "cpu":
            return Singly(pool, resources.timeout)
        stage: DeviceStage[None] = DeviceStage(settings, store, resources.device)
        return OnDevice(pool, resources.timeout, stage, largest)
    cluster = compute.DaskPool(
        resources.scheduler,
        workers=resources.n_workers,
        timeout=resources.timeout,
        memory=memory,
        preload="samecam._preload",
        initializer=_worker.start,
        initargs=(settings, store),
        check=partial(_worker.check_machine, store, _sample(pending), versions()),
    )
    return InBatches(cluster, resources.timeout, store, batch_size(len(pending), cluster.workers))


def batch_size(pending: int, workers: int) -> int:
    """Photos a task: from 50 to 500, as many as give every worker eight."""
    return max(FEWEST, min(MOST, pending // (_SHARES * workers)))


class Singly:
    """One file a task, for processes on this machine."""

    def __init__(self, pool: compute.LocalPool, timeout: float) -> None:
        self._pool, self._timeout = pool, timeout
        self._running: dict[Future[Outcome], ExtractionTask] = {}

    def wants(self) -> bool:
        """See `Dispatch.wants`."""
        return len(self._running) < 2 * self._pool.workers

    def put(self, task: ExtractionTask) -> None:
        """See `Dispatch.put`."""
        self._running[self._pool.submit(_worker.extract, task)] = task

    def idle(self) -> bool:
        """See `Dispatch.idle`."""
        return not self._running

    def collect(self, seconds: float, more: bool) -> Iterator[Outcome]:  # noqa: ARG002
        """See `Dispatch.collect`."""
        for future in wait(self._running, timeout=seconds, return_when=FIRST_COMPLETED).done:
            task = self._running.pop(future)
            try:
                outcome = future.result()
            except SamecamError:
                raise
            except Exception as error:
                outcome = given_up(task, error, self._timeout)
            yield outcome

    def close(self) -> None:
        """See `Dispatch.close`."""
        self._pool.close()

    def stop(self) -> None:
        """See `Dispatch.stop`."""
        self._pool.stop()


class _Trial(Enum):
    """A batch's or file's first run, the second elsewhere, or one with nothing beside it."""

    FIRST, SECOND, ALONE = range(3)


class OnDevice:
    """Processes on this machine decode; here, fingerprints are made on a device, many at a time.

    `largest` are the pixels of the largest frame: what is decoded waits here, and must fit.
    """

    def __init__(
        self, pool: compute.LocalPool, timeout: float, stage: DeviceStage[None], largest: int
    ) -> None:
        self._pool, self._timeout, self._stage = pool, timeout, stage
        many = max(pool.workers, _AHEAD_PIXELS // largest)
        self._ahead = min(_AHEAD * pool.workers, many)
        self._running: dict[Future[tuple[Outcome, Pixels | None]], ExtractionTask] = {}

    def wants(self) -> bool:
        """See `Dispatch.wants`; what runs may all be put on the stage."""
        running = len(self._running)
        ahead = running < self._ahead and running + self._stage.waiting < HELD
        return ahead and not self._stage.full

    def put(self, task: ExtractionTask) -> None:
        """See `Dispatch.put`."""
        self._running[self._pool.submit(_worker.decode, task)] = task

    def idle(self) -> bool:
        """See `Dispatch.idle`."""
        return not self._running and not self._stage.waiting

    def collect(self, seconds: float, more: bool) -> Iterator[Outcome]:
        """See `Dispatch.collect`; a part of a batch is worked on when nothing else will come."""
        for future in wait(self._running, timeout=seconds, return_when=FIRST_COMPLETED).done:
            task, pixels = self._running.pop(future), None
            try:
                outcome, pixels = future.result()
            except SamecamError:
                raise
            except Exception as error:
                outcome = given_up(task, error, self._timeout)
            self._stage.put(outcome, pixels, None)
        for outcome, _ in self._stage.finish(force=not self._running and not more):
            yield outcome

    def close(self) -> None:
        """See `Dispatch.close`."""
        self._pool.close()
        self._stage.close()

    def stop(self) -> None:
        """See `Dispatch.stop`."""
        self._pool.stop()
        self._stage.close()


class InBatches:
    """Batches of `size` files for a cluster; each file has its time, memory and crash there.

    A file that failed for one of these is tried once more, alone, elsewhere. A batch with
    which one worker after another ended is halved, down to single files. Those may have
    only shared the worker with what ended it: each is tried at the very end with nothing
    beside it, and only then given up.
    """

    def __init__(self, pool: compute.DaskPool, timeout: float, store: Path, size: int) -> None:
        self._pool, self._timeout, self._size = pool, timeout, size
        self._then = partial(_worker.flush_rows, store)
        self._filling: list[ExtractionTask] = []
        self._suspects: deque[ExtractionTask] = deque()
        self._running: dict[
            Future[compute.WorkerResults], tuple[tuple[ExtractionTask, ...], _Trial]
        ] = {}

    def wants(self) -> bool:
        """See `Dispatch.wants`; nothing runs beside a suspect."""
        if any(trial is _Trial.ALONE for _, trial in self._running.values()):
            return False
        return len(self._running) < 2 * self._pool.workers

    def put(self, task: ExtractionTask) -> None:
        """See `Dispatch.put`."""
        self._filling.append(replace(task, file=os.path.abspath(task.file)))
        if len(self._filling) >= self._size:
            self._send_filling()

    def idle(self) -> bool:
        """See `Dispatch.idle`."""
        return not (self._running or self._filling or self._suspects)

    def collect(self, seconds: float, more: bool) -> Iterator[Outcome]:
        """See `Dispatch.collect`."""
        if self._filling and not more:
            self._send_filling()
        if self._suspects and not self._running and not self._filling:
            self._send((self._suspects.popleft(),), _Trial.ALONE)
        for future in wait(self._running, timeout=seconds, return_when=FIRST_COMPLETED).done:
            tasks, trial = self._running.pop(future)
            try:
                answers = future.result()
            except compute.WorkerDiedError as error:
                if trial is _Trial.ALONE:
                    yield given_up(tasks[0], error, self._timeout)
                else:
                    self._divide(tasks)
                continue
            yield from self._outcomes(tasks, answers, trial)

    def close(self) -> None:
        """See `Dispatch.close`."""
        self._pool.close()

    def stop(self) -> None:
        """See `Dispatch.stop`."""
        self._pool.stop()

    def _send_filling(self) -> None:
        tasks, self._filling = tuple(self._filling), []
        self._send(tasks)

    def _send(
        self,
        tasks: tuple[ExtractionTask, ...],
        trial: _Trial = _Trial.FIRST,
        avoid: str | None = None,
    ) -> None:
        future = self._pool.submit_many(_worker.extract, tasks, then=self._then, avoid=avoid)
        self._running[future] = tasks, trial

    def _divide(self, tasks: tuple[ExtractionTask, ...]) -> None:
        """Send two halves; a single file is a suspect."""
        half = len(tasks) // 2
        if not half:
            self._suspects.append(tasks[0])
            return
        self._send(tasks[:half])
        self._send(tasks[half:])

    def _outcomes(
        self, tasks: tuple[ExtractionTask, ...], answers: compute.WorkerResults, trial: _Trial
    ) -> Iterator[Outcome]:
        """What became of a batch; files that may fare better elsewhere are sent there."""
        for task, answer in zip(tasks, answers.items, strict=True):
            if isinstance(answer, SamecamError):
                raise answer
            lacking = isinstance(answer, Outcome) and answer.lacking
            if trial is _Trial.FIRST and (lacking or compute.worth_retrying(answer)):
                self._send((task,), _Trial.SECOND, answers.worker)
            elif isinstance(answer, Outcome):
                yield answer
            else:
                yield given_up(task, answer, self._timeout)


def given_up(task: ExtractionTask, error: BaseException, timeout: float) -> Outcome:
    """The outcome of a file whose task failed: time, crash, or a bug that it alone met."""
    outcome = Outcome(task.path, passing=True)
    outcome.refuse("skipped", *failure(error, timeout))
    try:
        status = os.stat(task.file)
        outcome.bytes, outcome.modified = status.st_size, status.st_mtime_ns
    except OSError:
        pass
    return outcome


def failure(error: BaseException, timeout: float) -> tuple[str, str]:
    """Code and reason of a task that gave no outcome."""
    if isinstance(error, compute.TaskTimeoutError):
        return "timeout", f"took longer than {timeout:g} s"
    if isinstance(error, compute.WorkerDiedError):
        return "crash", f"its decoder crashed ({error.how})"
    text = " ".join(str(error).split())
    return "internal", f"internal error: {type(error).__name__}: {text}"


def _sample(pending: list[PhotoFile]) -> dict[str, int]:
    """A few of the files, from all parts of the list, with their lengths."""
    step = max(1, len(pending) // _SAMPLE)
    found = {}
    for item in pending[::step]:
        try:
            found[os.path.abspath(item.file)] = os.stat(item.file).st_size
        except OSError:
            continue
    return found
