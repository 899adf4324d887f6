"""By which means the work is done: processes, a cluster, a device.

None changes the result, except that a device moves it by rounding.
"""

from dataclasses import dataclass

from samecam import compute
from samecam.errors import SamecamError


@dataclass(frozen=True, slots=True)
class Means:
    """What does the work.

    Attributes
    ----------
    workers : processes on this machine
    timeout : seconds one file may take before it is given up
    device : that computes, as `compute.choose_device` gave it
    scheduler : address of a dask scheduler, or "local" for a cluster on this machine; None:
        processes of our own
    """

    workers: int
    timeout: float = 60.0
    device: str = "cpu"
    scheduler: str | None = None

    @classmethod
    def chosen(
        cls,
        workers: int | None = None,
        timeout: float = 60.0,
        device: str = "cpu",
        scheduler: str | None = None,
    ) -> "Means":
        """What is used for what was asked; a sentence for what cannot be had, before any work."""
        if timeout <= 0:
            raise SamecamError(f"timeout is {timeout}; give seconds a file may take, 60 is usual.")
        n_workers = compute.worker_count(workers)
        if scheduler is None:
            return cls(n_workers, timeout, compute.choose_device(device))
        compute.check_device(device)
        if device not in ("auto", "cpu"):
            raise SamecamError(
                f"The device {device!r} and the scheduler {scheduler!r} do not go together: the "
                "workers of a cluster compute on processors; leave one of the two out."
            )
        return cls(n_workers, timeout, "cpu", scheduler)

    def at_a_time(self) -> int:
        """Photos that are worked on at a time; a sentence if the scheduler is not there."""
        if self.scheduler is None:
            return self.workers
        return compute.cluster_workers(self.scheduler, self.workers)
