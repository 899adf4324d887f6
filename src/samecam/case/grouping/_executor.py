"""What runs the batches of a method: processes here, or a cluster."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from samecam import compute
from samecam.case.extraction import check_machine
from samecam.provenance import versions
from samecam.store import FingerprintStore

T = TypeVar("T")
R = TypeVar("R")

Pool = compute.LocalPool | compute.DaskPool


def fit_parameters(method: Any) -> set[str]:
    """Which of the optional arguments a method's `fit` takes."""
    from sklearn.utils.validation import has_fit_parameter

    names = ("weak", "colour", "progress", "executor", "keep")
    return {name for name in names if has_fit_parameter(method, name)}


@contextmanager
def executor_for(
    method: Any, source: FingerprintStore, resources: compute.Resources, gram: bool = False
) -> Iterator[compute.Executor | None]:
    """Processes or a cluster that open the store themselves; none where one process has to do.

    That is so for methods that take none, where correlations are known (`gram`), on a GPU,
    and for a store that is not on disk: fingerprints are not sent around.
    """
    useful = resources.scheduler is not None or resources.n_workers > 1
    ours = "executor" in fit_parameters(method) and resources.device == "cpu" and not gram
    if not (useful and ours and source.folder is not None):
        yield None
        return
    pool = LazyPool(partial(_pool, source.folder, resources), resources)
    try:
        yield pool
    except BaseException:
        pool.stop()
        raise
    pool.close()


class LazyPool:
    """An executor that is made when its first task comes: many methods have none to give."""

    def __init__(self, make: Callable[[], Pool], resources: compute.Resources) -> None:
        self._make = make
        self.workers = resources.at_a_time()
        self.remote = resources.scheduler not in (None, compute.LOCAL)
        self._pool: Pool | None = None

    def submit(self, function: Callable[[T], R], argument: T) -> "Future[R]":
        """See `compute.Executor.submit`."""
        if self._pool is None:
            self._pool = self._make()
        future = self._pool.submit(function, argument)
        self.workers = self._pool.workers
        return future

    def close(self) -> None:
        """Wait for what runs and end all workers."""
        if self._pool is not None:
            self._pool.close()

    def stop(self) -> None:
        """End all workers at once."""
        if self._pool is not None:
            self._pool.stop()


def _pool(folder: Path, resources: compute.Resources) -> Pool:
    if resources.scheduler is None:
        return compute.LocalPool(resources.n_workers, preload="samecam._preload")
    return compute.DaskPool(
        resources.scheduler,
        workers=resources.n_workers,
        preload="samecam._preload",
        check=partial(check_machine, folder.absolute(), {}, versions()),
    )
