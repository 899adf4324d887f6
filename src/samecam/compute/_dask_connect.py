"""Finding a scheduler of `dask.distributed` and its workers."""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from samecam.compute._machine import worker_count
from samecam.errors import ParameterError, SamecamError

LOCAL = "local"
CONNECT_SECONDS = 10.0
_WORKERS_SECONDS = 30.0


def cluster_workers(address: str, workers: int | None = None) -> int:
    """How many tasks a cluster runs at a time; an error if there is none."""
    if address == LOCAL:
        distributed_library()
        return worker_count(workers)
    client, _ = connect(address, workers)
    try:
        return max(1, int(sum(client.nthreads().values())))
    finally:
        client.close()


def distributed_library() -> Any:
    """The library, or an error that tells how to get it."""
    from importlib import import_module

    try:
        return import_module("distributed")
    except ImportError:
        raise ParameterError(
            "scheduler", "{name} needs dask: pip install 'samecam[dask]', or leave it out."
        ) from None


def connect(address: str, workers: int | None) -> tuple[Any, Any]:
    """A client of the scheduler, and the cluster if it is our own."""
    distributed = distributed_library()
    if address != LOCAL:
        _check_scheduler(address)
    cluster = _local_cluster(worker_count(workers)) if address == LOCAL else None
    try:
        with quiet():
            client = distributed.Client(
                cluster or address,
                timeout=CONNECT_SECONDS,
                set_as_default=False,
                name=f"samecam-{os.getpid()}",
            )
    except OSError as error:
        if cluster is not None:
            cluster.close()
        raise _no_scheduler(address, str(error)) from None
    try:
        client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
    except TimeoutError:
        client.close()
        if cluster is not None:
            cluster.close()
        raise SamecamError(
            f"The scheduler {address!r} has no workers: start some (dask worker {address})."
        ) from None
    return client, cluster


def _check_scheduler(address: str) -> None:
    """Refuse an address at which no scheduler answers.

    A client of dask waits for ever for what is no scheduler, and complains when it is let go of.
    """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    distributed = distributed_library()

    async def identity() -> Any:
        known = distributed.Security().get_connection_args("client")
        async with distributed.core.rpc(address, connection_args=known) as there:
            return await there.identity()

    async def asked() -> Any:
        return await asyncio.wait_for(identity(), CONNECT_SECONDS)

    try:
        with quiet(), ThreadPoolExecutor(1) as apart:  # the caller may have a loop of its own
            who = apart.submit(asyncio.run, asked()).result()
    except TimeoutError:
        raise _no_scheduler(address, "no answer; 8787 is dask's page, 8786 its scheduler") from None
    except (OSError, ValueError, TypeError, RuntimeError, ImportError, KeyError) as error:
        raise _no_scheduler(address, str(error)) from None
    if who.get("type") != "Scheduler":
        raise _no_scheduler(address, f"it is a {who.get('type', 'stranger').lower()}'s address")


def _no_scheduler(address: str, why: str) -> SamecamError:
    reason = " ".join(why.split())[:200]
    return ParameterError(
        "scheduler",
        f"No dask scheduler answers at {address!r} ({reason}): start one (dask scheduler), or "
        "let {name} be 'local'.",
    )


def _local_cluster(workers: int) -> Any:
    """Processes on this machine, deaf to Ctrl-C: the parent decides."""
    from multiprocessing import resource_tracker

    distributed = distributed_library()
    resource_tracker.ensure_running()  # first: starting it lifts the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            preload=["samecam.compute._quiet"],
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep dask from telling on standard error what an error tells."""
    names = ("distributed", "distributed.client", "distributed.core", "distributed.comm.tcp")
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
