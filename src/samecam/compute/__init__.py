"""What this machine offers and how it is used: workers, threads, memory, devices.

The only place that decides any of these; everything else is told.
"""

from samecam.compute._alone import Told, run_alone
from samecam.compute._completed import completed
from samecam.compute._dask import DaskPool, worth_retrying
from samecam.compute._dask_connect import LOCAL, cluster_workers
from samecam.compute._dask_worker import WorkerResults
from samecam.compute._device import (
    TORCH_CPU,
    check_device,
    choose_device,
    default_memory,
    describe_device,
    device_errors,
    device_memory,
    full_precision,
    out_of_memory,
    retry_with_less_memory,
    torch_device,
)
from samecam.compute._jit import jit
from samecam.compute._machine import (
    Machine,
    format_bytes,
    machine,
    parse_bytes,
    rows_per_block,
    thread_count,
    worker_count,
    worker_memory,
)
from samecam.compute._notebook import shown_progress
from samecam.compute._once import SharedSteps, once
from samecam.compute._pool import (
    Executor,
    LocalPool,
    PoolBrokenError,
    TaskTimeoutError,
    WorkerDiedError,
)
from samecam.compute._progress import Progress, no_progress
from samecam.compute._resources import Resources
from samecam.compute._threads import side_by_side

__all__ = [
    "LOCAL",
    "TORCH_CPU",
    "DaskPool",
    "Executor",
    "LocalPool",
    "Machine",
    "PoolBrokenError",
    "Progress",
    "Resources",
    "SharedSteps",
    "TaskTimeoutError",
    "Told",
    "WorkerDiedError",
    "WorkerResults",
    "check_device",
    "choose_device",
    "cluster_workers",
    "completed",
    "default_memory",
    "describe_device",
    "device_errors",
    "device_memory",
    "format_bytes",
    "full_precision",
    "jit",
    "machine",
    "no_progress",
    "once",
    "out_of_memory",
    "parse_bytes",
    "retry_with_less_memory",
    "rows_per_block",
    "run_alone",
    "shown_progress",
    "side_by_side",
    "thread_count",
    "torch_device",
    "worker_count",
    "worker_memory",
    "worth_retrying",
]
