"""What this machine offers and how it is used: workers, threads, memory, devices.

The only place that decides any of these; everything else is told.
"""

from samecam.compute._dask import LOCAL, DaskPool, cluster_workers, worth_another
from samecam.compute._dask_worker import Answers
from samecam.compute._device import (
    TORCH_CPU,
    check_device,
    choose_device,
    default_memory,
    device_memory,
    device_sentences,
    device_words,
    full_precision,
    out_of_memory,
    torch_device,
    with_less,
)
from samecam.compute._jit import jit
from samecam.compute._machine import (
    Machine,
    format_bytes,
    machine,
    parse_bytes,
    rows_per_block,
    worker_count,
    worker_memory,
)
from samecam.compute._pool import (
    Executor,
    LocalPool,
    PoolBrokenError,
    TaskTimeoutError,
    WorkerDiedError,
)
from samecam.compute._resources import Resources

__all__ = [
    "LOCAL",
    "TORCH_CPU",
    "Answers",
    "DaskPool",
    "Executor",
    "LocalPool",
    "Machine",
    "PoolBrokenError",
    "Resources",
    "TaskTimeoutError",
    "WorkerDiedError",
    "check_device",
    "choose_device",
    "cluster_workers",
    "default_memory",
    "device_memory",
    "device_sentences",
    "device_words",
    "format_bytes",
    "full_precision",
    "jit",
    "machine",
    "out_of_memory",
    "parse_bytes",
    "rows_per_block",
    "torch_device",
    "with_less",
    "worker_count",
    "worker_memory",
    "worth_another",
]
