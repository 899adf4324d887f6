"""What does the work: processes, a cluster of machines, a device, memory.

None of it changes the answer, except that a device moves it by rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from samecam.compute._dask_connect import cluster_workers
from samecam.compute._device import check_device, choose_device, default_memory
from samecam.compute._machine import worker_count
from samecam.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Resources:
    """What the work may use.

    Attributes
    ----------
    workers : processes on this machine; None: see `worker_count`
    timeout : seconds one file may take before it is given up
    device : that computes, see `choose_device`; "auto" is a GPU if there is one
    scheduler : address of a dask scheduler, or "local" for a cluster on this machine; None:
        processes of our own. The workers of a cluster compute on processors.
    memory : bytes that grouping may take; None: see `default_memory`

    Examples
    --------
    >>> few = samecam.Resources(workers=2, memory=4 * 2**30, device="cpu")
    >>> samecam.cluster_photos(["photos/"], "CASE", resources=few)
    """

    workers: int | None = None
    timeout: float = 60.0
    device: str = "auto"
    scheduler: str | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            worker_count(self.workers)
        if not self.timeout > 0:
            raise ParameterError(
                "timeout",
                f"{{name}} is {self.timeout}; give seconds a file may take, 60 is usual.",
            )
        if self.memory is not None and self.memory <= 0:
            raise ParameterError("memory", f"{{name}} is {self.memory}; give a number of bytes.")
        check_device(self.device)
        if self.scheduler is not None and self.device not in ("auto", "cpu"):
            raise ParameterError(
                "device",
                f"{{name}} {self.device!r} and the scheduler {self.scheduler!r} do not go "
                "together: the workers of a cluster compute on processors; leave one of them out.",
            )

    def resolve(self) -> Resources:
        """The same with the workers and the device that are used on this machine."""
        device = "cpu" if self.scheduler is not None else choose_device(self.device)
        return replace(self, workers=worker_count(self.workers), device=device)

    @property
    def n_workers(self) -> int:
        """Processes on this machine, as a number."""
        return worker_count(self.workers)

    def at_a_time(self) -> int:
        """Photos that are worked on at a time; an error if the scheduler is not there."""
        if self.scheduler is None:
            return self.n_workers
        return cluster_workers(self.scheduler, self.workers)

    def memory_for(self, device: str) -> int:
        """Bytes for work on a device that `choose_device` gave: as asked, or the default."""
        return default_memory(device) if self.memory is None else self.memory
