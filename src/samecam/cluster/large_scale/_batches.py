"""Running batches: one after another here, or several at a time in other processes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from samecam.arrays import Rows
from samecam.cluster._remote import BatchData, run_remote
from samecam.cluster.large_scale._partition import Partition, Rules, partition
from samecam.cluster.large_scale._source import Source, checked
from samecam.cluster.large_scale._split import batch_bytes, correlating_bytes
from samecam.compute import Executor, choose_device, format_bytes


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """One batch to be clustered by another process."""

    data: BatchData
    rules: Rules


def cluster_remote_batch(batch: RemoteBatch) -> Partition:
    """Cluster a batch; what an executor calls."""
    rows, device = batch.data.rows, choose_device(batch.rules.device)
    gram = batch.data.correlations(correlating_bytes(len(rows), device), device)
    return partition(checked(gram, rows), batch.rules, n_threads=1)


def run_all(
    source: Source,
    batches: Iterable[Rows],
    rules: Rules,
    memory: int,
    executor: Executor | None,
    done: Callable[[int], None],
) -> list[Partition]:
    """Cluster batches; their results in the order given, whoever ends first.

    Here one batch is held at a time. An executor gets as many at a time as it has workers,
    and, if these share our memory, as fit into `memory` together. `done(k)` is called after
    the k-th.
    """
    results: list[Partition] = []
    if executor is None:
        for rows in batches:
            results.append(partition(source.gram(rows), rules))
            done(len(results))
        return results

    def window(batch: RemoteBatch) -> int:
        fit = memory // batch_bytes(max(len(batch.data.rows), 1))
        return executor.workers if executor.remote else max(1, min(executor.workers, fit))

    batches = list(batches)
    largest = max((len(rows) for rows in batches), default=0)
    description = f" of up to {largest} photos, which takes {format_bytes(batch_bytes(largest))}"
    sent = (RemoteBatch(source.batch(rows), rules) for rows in batches)
    for result in run_remote(executor, cluster_remote_batch, sent, window=window, kind=description):
        results.append(result)
        done(len(results))
    return results
