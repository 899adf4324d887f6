"""Processes of a pool: quiet, on time whatever the clock says, and left behind if they hang."""

import sys
import time
from contextlib import closing

import pytest

from samecam import compute
from tests.processes import PATIENCE, end, start

LATE = """
from samecam.compute import LocalPool
if __name__ == "__main__":
    for _ in range(10):
        pool = LocalPool(8)
        assert pool.submit(abs, -1).result(60) == 1
        pool.close()
"""

# The server that would tell of the worker's end is stopped: as if the worker could not be killed.
STUCK = """
import os, signal, threading, time
from samecam.compute import LocalPool, _pool

def stuck(seconds):
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(seconds)

if __name__ == "__main__":
    _pool._END_SECONDS = _pool._STUCK_SECONDS = 1.0
    pool = LocalPool(1, timeout={timeout})
    task = pool.submit(stuck, 3600)
    {wait}
    pool.stop()
    print("ended")
"""


def ran(tmp_path, script):
    """What a script has printed when it ends, as itself and as errors."""
    file, out, error = (tmp_path / name for name in ("script.py", "out", "error"))
    file.write_text(script)
    with open(out, "wb") as said, open(error, "wb") as complained:
        process = start([sys.executable, str(file)], stdout=said, stderr=complained)
    try:
        process.wait(timeout=PATIENCE)
    finally:
        end(process)
    return out.read_text(), error.read_text()


def test_workers_that_start_while_their_pool_closes_print_nothing(tmp_path):
    assert ran(tmp_path, LATE) == ("", "")


@pytest.mark.parametrize(
    ("timeout", "wait", "said"),
    [
        ("None", "time.sleep(1)", ["ended"]),
        ("0.5", "print(repr(task.exception()))", ["TaskTimeoutError()", "ended"]),
        (
            "0.5",
            "print(type(pool.submit(abs, -1).exception()).__name__)",
            ["PoolBrokenError", "ended"],
        ),
    ],
)
def test_nobody_waits_for_a_worker_that_cannot_be_ended(tmp_path, timeout, wait, said):
    out, error = ran(tmp_path, STUCK.format(timeout=timeout, wait=wait))
    assert out.split() == said
    assert error == ""


def test_a_clock_that_is_set_back_keeps_no_task_alive(monkeypatch):
    began, now = time.monotonic(), time.time
    monkeypatch.setattr(time, "time", lambda: now() - 100 * (time.monotonic() - began))
    with (
        closing(compute.LocalPool(1, timeout=0.5)) as pool,
        pytest.raises(compute.TaskTimeoutError),
    ):
        pool.submit(time.sleep, 3600).result(PATIENCE)


def test_a_clock_that_is_set_forward_ends_no_task(monkeypatch):
    began, now = time.monotonic(), time.time
    monkeypatch.setattr(time, "time", lambda: now() + 10_000 * (time.monotonic() - began))
    with closing(compute.LocalPool(1, timeout=PATIENCE)) as pool:
        assert pool.submit(time.sleep, 1).result(PATIENCE) is None
