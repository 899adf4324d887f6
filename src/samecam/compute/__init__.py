"""What this machine offers and how it is used: workers, threads, memory, devices.

The only place that decides any of these; everything else is told.
"""

from samecam.compute._device import (
    TORCH_CPU,
    check_device,
    choose_device,
    device_memory,
    device_words,
    torch_device,
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

__all__ = [
    "TORCH_CPU",
    "Executor",
    "LocalPool",
    "Machine",
    "PoolBrokenError",
    "TaskTimeoutError",
    "WorkerDiedError",
    "check_device",
    "choose_device",
    "device_memory",
    "device_words",
    "format_bytes",
    "jit",
    "machine",
    "parse_bytes",
    "rows_per_block",
    "torch_device",
    "worker_count",
    "worker_memory",
]
