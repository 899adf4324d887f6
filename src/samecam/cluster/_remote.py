"""Batches that are clustered by other processes: what is sent, and how results come back."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from samecam import correlate
from samecam.arrays import AnyFloats, Rows
from samecam.compute import Executor, TaskTimeoutError, WorkerDiedError
from samecam.errors import ParameterError
from samecam.store import BitRows, FingerprintStore

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class BatchData:
    """A batch to send to a worker: correlations, fingerprints, or where these lie on disk.

    `rows` are the numbers of its photos in the collection.
    """

    rows: Rows
    gram: AnyFloats | None = None
    fingerprints: AnyFloats | FingerprintStore | None = None

    def correlations(self, memory: int, device: str = "cpu") -> AnyFloats:
        """Correlations of the batch; a device that is not there, here, is an error."""
        if self.gram is not None:
            return self.gram
        assert self.fingerprints is not None
        rows = self.fingerprints
        with rows if isinstance(rows, FingerprintStore) else nullcontext():
            return correlate.gram(rows, memory=memory, device=device)


def batch_data(source: correlate.Source, rows: Rows) -> BatchData:
    """Some rows of a source; of a store on disk nothing but where they lie."""
    if isinstance(source, FingerprintStore) and (stored := source.on_disk(rows)) is not None:
        return BatchData(rows, fingerprints=stored)
    if correlate.are_bits(source):
        words = np.empty((len(rows), source.n_words), dtype=np.uint64)
        source.read_stored(rows, words, np.empty(len(rows), dtype=np.float32))
        return BatchData(rows, fingerprints=BitRows(words, source.n_pixels))
    if isinstance(source, FingerprintStore):
        return BatchData(rows, fingerprints=source.read(rows))
    return BatchData(rows, fingerprints=source[rows])


def run_remote(
    executor: Executor,
    function: Callable[[T], R],
    tasks: Iterable[T],
    *,
    window: Callable[[T], int] | None = None,
    kind: str = "",
) -> Iterator[R]:
    """Results in the order of the tasks, whoever ends first.

    Parameters
    ----------
    window : how many may be out at a time with a task; default as many as there are workers
    kind : what a batch is or takes, for the error about a worker that ended
    """
    waiting: list[Future[R]] = []
    for task in tasks:
        while len(waiting) >= (window(task) if window else executor.workers):
            yield _result(waiting.pop(0), kind)
        waiting.append(executor.submit(function, task))
    while waiting:
        yield _result(waiting.pop(0), kind)


def _result(future: "Future[R]", kind: str) -> R:
    try:
        return future.result()
    except (TaskTimeoutError, WorkerDiedError, MemoryError):
        raise ParameterError(
            "batch_size",
            f"A worker ended, or had too little memory, while it clustered a batch{kind}: set a "
            "smaller {name} or less memory, or have fewer workers or such with more memory.",
        ) from None
