"""A cluster keeps the promises of an executor, and says who does not answer."""

import os
import socket
import sys
import time
from contextlib import closing
from functools import partial

import pytest

from samecam import compute
from samecam.case import extract_photos
from samecam.case.extraction import _worker
from samecam.compute import Resources, _dask_connect, _dask_worker
from samecam.errors import SamecamError
from samecam.provenance import versions
from samecam.store import DiskStore
from tests.case.conftest import write
from tests.processes import PATIENCE, run


def double(number):
    if number < 0:
        raise ValueError(f"{number} is negative")
    return 2 * number


def sleep(seconds):
    time.sleep(seconds)
    return os.getppid()


def die(code):
    os._exit(code)


def test_it_keeps_the_promises_of_an_executor(cluster):
    with closing(compute.DaskPool(cluster.address, timeout=4, preload="samecam.errors")) as pool:
        assert pool.workers == 2
        assert pool.remote
        futures = [pool.submit(double, k) for k in range(20)]
        assert [future.result(PATIENCE) for future in futures] == [2 * k for k in range(20)]
        with pytest.raises(ValueError, match="-1 is negative"):
            pool.submit(double, -1).result(PATIENCE)
        with pytest.raises(compute.TaskTimeoutError):
            pool.submit(sleep, 3600).result(PATIENCE)
        with pytest.raises(compute.WorkerDiedError) as died:
            pool.submit(die, 7).result(PATIENCE)
        assert died.value.exit_code == 7
        answers = pool.submit_many(double, [1, -1, 3]).result(PATIENCE)
        assert (answers.items[0], answers.items[2]) == (2, 6)
        assert isinstance(answers.items[1], ValueError)
        last = pool.submit(double, 4)
    assert last.result(0) == 8, "closing waits for what runs"


def test_a_task_for_a_worker_that_is_gone_goes_to_another(cluster):
    with closing(compute.DaskPool(cluster.address, preload="samecam.errors")) as pool:
        pool._roomiest = lambda _: ["tcp://127.0.0.1:1"]
        assert pool.submit_many(double, [4], avoid="x").result(PATIENCE).items == [8]


def test_a_worker_that_cannot_do_it_is_named_before_any_work(cluster, tmp_path):
    blind = partial(_worker.check_machine, tmp_path / "nowhere" / "fingerprints", {}, {})
    with pytest.raises(SamecamError, match=r"The worker tcp://.* does not see the case.*mount"):
        compute.DaskPool(cluster.address, check=blind)
    with DiskStore.create(tmp_path / "store"):
        pass
    look = partial(_worker.check_machine, tmp_path / "store")
    write(tmp_path / "a.jpg", b"12345")
    assert look({str(tmp_path / "a.jpg"): 5}, versions()) == ""
    assert "sees another file" in look({str(tmp_path / "a.jpg"): 6}, {})
    assert "does not see the photo" in look({str(tmp_path / "b.jpg"): 6}, {})
    older = look({}, {**versions(), "libjpeg": "0.9"})
    assert "libjpeg" in older
    assert "and this machine 0.9: install the same" in older
    other = _dask_worker.Setup("x", version="0.0.0")
    assert "install the same version" in _dask_worker._problem(other)


def test_who_does_not_answer_gets_an_error(photos, tmp_path, monkeypatch):
    monkeypatch.setattr(_dask_connect, "CONNECT_SECONDS", 1.0)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(SamecamError, match="No dask scheduler answers.*dask scheduler"):
            extract_photos(photos, tmp_path / "c", resources=Resources(scheduler=address))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(SamecamError, match="No dask scheduler answers.*8787 is dask's page"):
            extract_photos(photos, tmp_path / "c", resources=Resources(scheduler=address))
    assert not (tmp_path / "c").exists()
    with pytest.raises(SamecamError, match="do not go together"):
        Resources(device="cuda", scheduler="tcp://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SamecamError, match=r"pip install 'samecam\[dask\]'"):
        extract_photos(photos, tmp_path / "c", resources=Resources(scheduler="local"))


def test_an_address_that_is_none_leaves_nothing_but_an_error(photos, tmp_path):
    code, _, error = run("extract", photos, "-o", tmp_path / "c", "--scheduler", "127.0.0.1")
    assert code == 1, error
    assert error.count("\n") <= 1
    assert "missing port number" in error


def test_the_address_of_a_worker_is_no_scheduler(cluster):
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        worker = next(iter(client.scheduler_info()["workers"]))
    with pytest.raises(SamecamError, match="it is a worker's address"):
        compute.cluster_workers(worker)
    assert compute.cluster_workers(cluster.address) == 2
