"""Running batches: one after another here, or several at a time elsewhere."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from samecam.arrays import Rows
from samecam.cluster._remote import BatchData, run_remote
from samecam.cluster.large_scale._partition import Partition, Rules, partition
from samecam.cluster.large_scale._source import Source, checked
from samecam.cluster.large_scale._split import batch_bytes, correlating_bytes
from samecam.compute import Executor, choose_device, format_bytes


@dataclass(frozen=True, slots=True)
class Task:
    """One batch to be clustered elsewhere."""

    data: BatchData
    rules: Rules


def run(task: Task) -> Partition:
    """Cluster a batch; what an executor calls."""
    rows, device = task.data.rows, choose_device(task.rules.device)
    gram = task.data.correlations(correlating_bytes(len(rows), device), device)
    return partition(checked(gram, rows), task.rules, n_threads=1)


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
    and, if these share our memory, as fit into `memory` together. `done(k)` is called after
    the k-th answer.
    """
    results: list[Partition] = []
    if executor is None:
        for rows in batches:
            results.append(partition(source.gram(rows), rules))
            done(len(results))
        return results

    def window(task: Task) -> int:
        fit = memory // batch_bytes(max(len(task.data.rows), 1))
        return executor.workers if executor.remote else max(1, min(executor.workers, fit))

    batches = list(batches)
    largest = max((len(rows) for rows in batches), default=0)
    words = f" of up to {largest} photos, which takes {format_bytes(batch_bytes(largest))}"
    tasks = (Task(source.batch(rows), rules) for rows in batches)
    for answer in run_remote(executor, run, tasks, window=window, kind=words):
        results.append(answer)
        done(len(results))
    return results
