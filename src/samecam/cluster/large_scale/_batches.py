"""Running batches: one after another here, or several at a time elsewhere."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from samecam.cluster.large_scale._partition import Partition, Rules, partition
from samecam.cluster.large_scale._source import BatchData, Source
from samecam.cluster.large_scale._split import batch_bytes
from samecam.compute import Executor, TaskTimeoutError, WorkerDiedError, format_bytes
from samecam.errors import SamecamError

if TYPE_CHECKING:
    from concurrent.futures import Future

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Task:
    """One batch to be clustered elsewhere."""

    data: BatchData
    rules: Rules


def run(task: Task) -> Partition:
    """Cluster a batch; what an executor calls."""
    return partition(task.data.correlations(), task.rules, n_threads=1)


def run_all(
    source: Source,
    batches: Iterable[Rows],
    rules: Rules,
    memory: int,
    executor: Executor | None,
    done: Callable[[int], None],
) -> list[Partition]:
    """Cluster batches; their answers in the order given, whoever ends first.

    Here one batch is held at a time. An executor gets as many at a time as it has workers,
    and as fit into `memory` together. `done(k)` is called after the k-th answer.
    """
    results: list[Partition] = []
    if executor is None:
        for rows in batches:
            results.append(partition(source.gram(rows), rules))
            done(len(results))
        return results
    waiting: list[tuple[Rows, Future[Partition]]] = []

    def collect() -> None:
        rows, future = waiting.pop(0)
        results.append(_result(future, len(rows)))
        done(len(results))

    for rows in batches:
        window = max(1, min(executor.workers, memory // batch_bytes(max(len(rows), 1))))
        while len(waiting) >= window:
            collect()
        task = Task(source.batch(rows), rules)
        waiting.append((rows, executor.submit(run, task)))
    while waiting:
        collect()
    return results


def _result(future: "Future[Any]", count: int) -> Partition:
    try:
        answer: Partition = future.result()
    except (TaskTimeoutError, WorkerDiedError):
        need = format_bytes(batch_bytes(count))
        raise SamecamError(
            f"A worker ended while it clustered a batch of {count} photos, which takes {need}: "
            "set a smaller batch_size, or fewer workers."
        ) from None
    return answer
