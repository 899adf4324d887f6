"""Machine, memory and kernels: what is decided in one place."""

import os
import subprocess
import sys
import threading
import time

import pytest

from samecam import compute
from samecam.errors import ParameterError, SamecamError


@pytest.mark.parametrize(
    ("text", "count"),
    [("1", 1), ("800M", 800 * 2**20), ("8G", 8 * 2**30), ("1.5 GiB", 3 * 2**29), ("2tb", 2**41)],
)
def test_parse_bytes(text, count):
    assert compute.parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "G", "-1G", "8X", "0", "1e9"])
def test_what_is_no_amount_of_memory_is_refused(text):
    with pytest.raises(SamecamError, match="like 800M or 8G"):
        compute.parse_bytes(text)


def test_the_machine_is_seen():
    here = compute.machine()
    assert 1 <= here.cores <= (os.cpu_count() or 1)
    assert 2**26 < here.available <= here.memory


@pytest.fixture
def four_threads(monkeypatch):
    monkeypatch.setattr("samecam.compute._threads.thread_count", lambda: 4)


@pytest.mark.usefixtures("four_threads")
def test_side_by_side_answers_in_order_and_leaves_blas_one_thread():
    import numpy  # noqa: F401 - with its BLAS

    before, meet, told = compute.thread_count(), threading.Barrier(4), list[int]()

    def work(k):
        meet.wait(30)  # all four are there at once
        return k, compute.thread_count()

    answers = compute.side_by_side(work, range(8), done=lambda answer: told.append(answer[0]))
    assert answers == [(k, 1) for k in range(8)]
    assert told == list(range(8))
    assert compute.thread_count() == before
    assert compute.side_by_side(work, []) == []


@pytest.mark.usefixtures("four_threads")
def test_side_by_side_is_no_more_at_a_time_than_memory_has_room_for():
    inside, most, lock = 0, 0, threading.Lock()

    def work(_):
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.01)
        with lock:
            inside -= 1

    compute.side_by_side(work, range(12), most=2)
    assert most <= 2


@pytest.mark.usefixtures("four_threads")
def test_an_error_side_by_side_is_the_callers_and_ends_the_rest():
    begun = list[int]()

    def work(k):
        begun.append(k)
        if k == 0:
            raise ValueError("no")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="no"):
        compute.side_by_side(work, range(1000))
    assert len(begun) < 1000


def test_threads_are_those_of_blas():
    import numpy  # noqa: F401 - with its BLAS: where none is loaded, none is asked
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        assert compute.thread_count() == 1
    assert 1 <= compute.thread_count() <= compute.machine().cores


def test_worker_count():
    assert compute.worker_count(3) == 3
    assert 1 <= compute.worker_count(None) <= compute.machine().cores
    with pytest.raises(SamecamError):
        compute.worker_count(0)


def test_rows_per_block():
    assert compute.rows_per_block(1000, 300) == 3
    with pytest.raises(SamecamError, match="too small for one row"):
        compute.rows_per_block(299, 300)


@pytest.mark.slow
def test_kernels_compile_where_no_cache_can_be_kept(tmp_path):
    """A module in a folder that cannot be written, and no home: compiled all the same."""
    module = tmp_path / "frozen.zip" / "kernel.py"
    code = (
        "import numba.core.caching as c\n"
        "c.CacheImpl._locator_classes = []\n"
        "from samecam.fingerprint import noise_residual\n"
        "import numpy as np\n"
        "print(noise_residual(np.random.default_rng(0).normal(size=(64, 64))).shape)\n"
    )
    assert not module.exists()
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "(64, 64)", result.stderr


def fail_to_start():
    os._exit(1)


def test_a_task_that_was_not_begun_with_when_all_workers_ended_is_told_so(monkeypatch):
    pool = compute.LocalPool(1, initializer=fail_to_start)
    manager = pool._pool._pool_manager
    schedule, broken = manager.schedule, threading.Event()
    abort = manager.handle_broken_pool

    def late(task):
        broken.wait(60)
        schedule(task)

    def note(error):
        abort(error)
        broken.set()

    monkeypatch.setattr(manager, "schedule", late)
    monkeypatch.setattr(manager, "handle_broken_pool", note)
    with pytest.raises(compute.PoolBrokenError, match="could not be started"):
        pool.submit(int, "3").result(60)
    assert broken.is_set()
    pool.close()


def test_what_another_worker_might_not_meet():
    for error in (compute.TaskTimeoutError(), compute.WorkerDiedError(-9), MemoryError()):
        assert compute.worth_retrying(error)
    for answer in (ValueError("x"), None, 3, SamecamError("y")):
        assert not compute.worth_retrying(answer)


def test_a_local_cluster_has_the_workers_that_are_asked_for():
    assert compute.cluster_workers(compute.LOCAL, 3) == 3
    assert compute.cluster_workers(compute.LOCAL) == compute.worker_count(None)


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        *((name, True) for name in ("auto", "cpu", "cuda", "cuda:7", "torch-cpu")),
        *((name, False) for name in ("gpu", "", "cuda:", "cuda:x", "CPU")),
    ],
)
def test_names_of_devices(name, fine):
    if fine:
        compute.check_device(name)
    else:
        with pytest.raises(SamecamError, match="^device is .*: choose auto, cpu"):
            compute.check_device(name)


def test_a_device_that_is_chosen():
    assert compute.choose_device("cpu") == "cpu"
    assert compute.choose_device("auto") in ("cpu", "cuda:0")
    with pytest.raises(SamecamError, match="device is 'cuda:99'.*, or (choose )?cpu"):
        compute.choose_device("cuda:99")


@pytest.mark.torch
def test_less_memory_where_a_gpu_has_none_left(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    tried = []

    def work(memory):
        tried.append(memory)
        if memory > 2**28:
            raise torch.cuda.OutOfMemoryError
        return "done"

    assert compute.retry_with_less_memory(work, 2**30, "cuda:0") == "done"
    assert tried == [2**30, 2**29, 2**28]

    def never(_memory):
        raise torch.cuda.OutOfMemoryError

    with pytest.raises(SamecamError, match="'cuda:0' has no room.*device cpu"):
        compute.retry_with_less_memory(never, 2**30, "cuda:0")
    with pytest.raises(ZeroDivisionError):
        compute.retry_with_less_memory(lambda memory: memory / 0, 1, "cpu")


def test_resources_are_fixed_for_this_machine():
    asked = compute.Resources()
    assert (asked.workers, asked.device, asked.memory) == (None, "auto", None)
    used = asked.resolve()
    assert used.workers == compute.worker_count(None)
    assert used.device == compute.choose_device("auto")
    assert used.memory is None
    assert used.resolve() == used
    assert compute.Resources(3, device="cpu").resolve() == compute.Resources(3, device="cpu")


def test_resources_of_a_cluster_compute_on_processors(monkeypatch):
    from samecam.compute import _resources

    monkeypatch.setattr(_resources, "choose_device", lambda name: pytest.fail(name))
    for device in ("auto", "cpu"):
        used = compute.Resources(2, device=device, scheduler="local").resolve()
        assert used == compute.Resources(2, device="cpu", scheduler="local")
    for device in ("cuda", "cuda:1", "torch-cpu"):
        with pytest.raises(ParameterError, match="'local' do not go together") as error:
            compute.Resources(device=device, scheduler="local")
        assert error.value.parameter == "device"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("workers", value) for value in (0, -1)),
        *(("timeout", value) for value in (0, -1.0, float("nan"))),
        *(("memory", value) for value in (0, -1)),
        ("device", "gpu"),
    ],
)
def test_resources_that_cannot_be_used_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=f"^{name} is {value!r}") as error:
        compute.Resources(**{name: value})
    assert error.value.parameter == name
    assert str(error.value).endswith(".")
    assert error.value.with_name(f"--{name}").startswith(f"--{name} is ")


def test_photos_at_a_time():
    assert compute.Resources(3).at_a_time() == 3
    assert compute.Resources().at_a_time() == compute.worker_count(None)
    pytest.importorskip("distributed")
    assert compute.Resources(3, scheduler="local").at_a_time() == 3


def test_memory_is_what_was_given_or_a_share_of_what_is_free(monkeypatch):
    from samecam.compute import _device

    monkeypatch.setattr(_device, "device_memory", {"cpu": 1000, "cuda:0": 2000}.__getitem__)
    assert compute.Resources(memory=7).memory_for("cuda:0") == 7
    assert compute.Resources().memory_for("cpu") == 500
    assert compute.Resources().memory_for("cuda:0") == 1800


def test_a_process_that_ends_itself_says_what_it_said_last(tmp_path):
    """Nothing waits at its end for the thread that watches the parent."""
    told = compute.run_alone("sys:exit", {"why": "no"}, tmp_path)
    assert told == compute.Told(failure="Its process failed: {'why': 'no'}")


def test_an_error_that_nobody_foresaw_is_told(tmp_path):
    told = compute.run_alone("math:sqrt", {}, tmp_path)
    assert told.failure == "TypeError: must be real number, not dict."
    assert told.peak_memory > 2**22
    assert compute.run_alone("builtins:sorted", {"b": 1, "a": 2}, tmp_path).facts == ["a", "b"]
