"""How files are put into batches, and found again one by one where batches fail."""

import itertools
from concurrent.futures import Future
from pathlib import Path

import pytest

from samecam import compute
from samecam.case.extraction import _dispatch
from samecam.case.extraction._worker import ExtractionTask, Outcome


class Imagined:
    """A pool without processes, whose workers end with every task that holds a bad file."""

    workers = 3

    def __init__(self, ends, crashes, lacks):
        self.ends, self.crashes, self.lacks, self.sent = ends, crashes, lacks, []

    def submit_many(self, _, arguments, *, then, avoid):
        assert then is not None, "rows reach the disk"
        self.sent.append(([task.path for task in arguments], avoid))
        future = Future()
        if any(task.path in self.ends for task in arguments):
            future.set_exception(compute.WorkerDiedError(None))
        else:
            future.set_result(compute.WorkerResults("w", [self.item(t, avoid) for t in arguments]))
        return future

    def item(self, task, avoid):
        if task.path in self.crashes:
            return compute.WorkerDiedError(-11)
        if task.path in self.lacks and avoid is None:
            return Outcome(task.path, lacking=True)
        return Outcome(task.path, "good")


@pytest.mark.parametrize("ends", [(), (0,), (9,), (3, 4), (0, 5, 6)])
@pytest.mark.parametrize("crashes", [(), (2,), (1, 9)])
def test_whatever_ends_workers_is_found_and_the_rest_is_done(ends, crashes):
    pool = Imagined({f"{k}.jpg" for k in ends}, {f"{k}.jpg" for k in crashes}, {"7.jpg"})
    work = _dispatch.InBatches(pool, 60.0, Path("store"), 5)
    for k in range(10):
        work.put(ExtractionTask(f"{k}.jpg", f"/{k}.jpg"))
    outcomes = []
    for _ in range(30):
        outcomes += work.collect(0.0, more=False)
    assert work.idle()
    assert sorted(o.path for o in outcomes) == [f"{k}.jpg" for k in range(10)], "each once"
    bad = {o.path: o.reason for o in outcomes if o.status != "good"}
    assert set(bad) == pool.ends | pool.crashes
    for path in pool.crashes - pool.ends:
        assert bad[path] == "its decoder crashed (SIGSEGV)"
    for path in (pool.crashes | pool.lacks) - pool.ends:
        assert pool.sent.count(([path], "w")) == 1, "tried once more, alone, elsewhere"


def test_the_size_of_a_task():
    for pending, workers in itertools.product((1, 400, 10_000, 10**6), (1, 10, 100)):
        size = _dispatch.batch_size(pending, workers)
        assert 50 <= size <= 500
        assert size in (50, 500) or size == pending // (8 * workers)
