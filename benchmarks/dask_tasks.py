"""What a task on a cluster costs, and what a million photos then cost on 1, 10 and 100 workers.

Figures are measured on a local cluster of two workers; the schedule is simulated from them. Work
is counted in seconds of processor time, photos in the page cache: other programs on the machine
and slow disks are not in it.

python -m benchmarks.dask_tasks [--photos 40] [--size 512] [--batch 1000] [--rounds 3]
"""

import argparse
import heapq
import os
import pickle
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import dask_page
from benchmarks import dask_tasks as itself  # by the name that workers import it by
from benchmarks.extraction import make_photos
from benchmarks.record import write
from samecam import compute
from samecam.case import Case, ExtractionSettings
from samecam.case._means import Means
from samecam.case.extraction import _dispatch, _extract, _worker
from samecam.case.extraction._duplicates import likely_twins
from samecam.case.extraction._ledger import Ledger
from samecam.case.extraction._prepare import Job
from samecam.case.extraction._worker import Outcome, Task
from samecam.cluster._elsewhere import batch_data
from samecam.cluster.large_scale._batches import RemoteBatch, cluster_remote_batch
from samecam.cluster.large_scale._partition import Rules
from samecam.photos import scan
from samecam.store import DiskStore

MILLION = 10**6
WORKERS = (1, 10, 100)
BOOKED = 4000


def tasks_of(photos, count):
    """So many tasks over the photos, again and again."""
    found = scan([photos])
    return [Task(f"{k}", found[k % len(found)].file) for k in range(count)]


def named_tasks(count):
    """Tasks with names as long as they usually are."""
    names = [f"2024/holiday/IMG_{k:05d}.jpg" for k in range(count)]
    return [Task(name, f"/mnt/evidence/photos/{name}") for name in names]


def timed(call):
    """What a function gives, and the processor's seconds that it took (on a worker)."""
    function, argument = call
    began = time.process_time()
    return function(argument), time.process_time() - began


def extraction(photos, scratch, size, rounds):
    """Seconds, bytes sent, returned and written of tasks of 50 and 200 photos, two at a time."""
    settings, store = ExtractionSettings(size=size), scratch / "store"
    DiskStore.create(store, n_pixels=settings.n_pixels).close()
    pool = compute.DaskPool(
        compute.LOCAL,
        workers=2,
        timeout=60,
        memory=compute.worker_memory(size),
        preload="samecam._preload",
        initializer=_worker.start,
        initargs=(settings, store),
    )
    for _ in range(2):
        warm = [pool.submit_many(_worker.extract, tasks_of(photos, 4)) for _ in range(2)]
        [future.result() for future in warm]
    result = {}
    for count in (50, 200):
        seconds, work, before = [], [], shard_bytes(store)
        tasks = tasks_of(photos, count)
        calls = [(_worker.extract, task) for task in tasks]
        for _ in range(rounds):
            began = time.perf_counter()
            pair = [pool.submit_many(itself.timed, calls) for _ in range(2)]
            answers = [future.result() for future in pair]
            seconds.append(time.perf_counter() - began)
            work += [sum(used for _, used in a.items) for a in answers]
        result[f"task_of_{count}"] = {
            "processor_seconds": statistics.median(work),
            "elapsed_seconds": statistics.median(seconds),
            "bytes_sent": len(pickle.dumps(named_tasks(count))),
            "bytes_returned": len(pickle.dumps([outcome for outcome, _ in answers[0].items])),
            "shard_bytes": (shard_bytes(store) - before) // (2 * rounds),
        }
        print(count, result[f"task_of_{count}"], flush=True)
    pool.close()
    return result


def shard_bytes(store):
    return sum(file.stat().st_size for file in (store / "shards").iterdir())


def overhead(count=300):
    """Seconds that a task takes which does nothing, several in flight, as extraction has them."""
    pool = compute.DaskPool(compute.LOCAL, workers=2)
    [future.result() for future in [pool.submit(abs, -1) for _ in range(20)]]
    began = time.perf_counter()
    running = []
    for k in range(count):
        running.append(pool.submit(abs, -k))
        if len(running) >= 4:
            running.pop(0).result()
    [future.result() for future in running]
    seconds = (time.perf_counter() - began) / count
    pool.close()
    return seconds


class Ready:
    """A dispatch that has done everything before it is asked: what is left is the parent's work."""

    def __init__(self):
        self.done = []

    def wants(self):
        return len(self.done) < 500

    def put(self, task):
        status = os.stat(task.file)
        self.done.append(
            Outcome(
                task.path,
                "good",
                sha256=f"{int(task.path):064x}",
                bytes=status.st_size,
                modified=status.st_mtime_ns,
                scene="A" * 1400,
            )
        )

    def idle(self):
        return not self.done

    def collect(self, *_):
        done, self.done = self.done, []
        yield from done

    def close(self):
        pass

    stop = close


def parent(scratch):
    """Seconds a photo that the command itself takes: finding, comparing, booking, reading back."""
    photos, case = scratch / "tiny", scratch / "case"
    photos.mkdir()
    for k in range(BOOKED):
        (photos / f"{k}").write_bytes(b"x" * (k + 1))
    steps, booked = {}, 0.0

    def lap(name, began):
        steps[name] = (time.process_time() - began) / BOOKED

    began = time.process_time()
    found = scan([photos])
    lap("scan", began)
    began = time.process_time()
    likely_twins(Ledger([], found).pending)
    lap("likely_twins", began)
    settings = ExtractionSettings(size=64)
    _extract.dispatch = lambda *_: Ready()
    with Case(case, settings, [str(photos)]) as folder:
        run = _extract._Run(folder, Job(case, [str(photos)], found, settings), settings, Means(1))
        began, booked = time.process_time(), time.perf_counter()
        run.execute()
        lap("book", began)
        booked = (time.perf_counter() - booked) / BOOKED
    began = time.process_time()
    DiskStore.open(case / "fingerprints").close()
    lap("open_store", began)
    catalogue = (case / "fingerprints" / "catalogue.sqlite").stat().st_size
    return {
        "seconds_per_photo": steps,
        "book_elapsed_seconds_per_photo": booked,
        "catalogue_bytes_per_photo": catalogue / BOOKED,
    }


def batches(scratch, size, count):
    """Seconds of LS-SSC on one batch, and bytes a second at which rows are read."""
    n_pixels, rng = size * size, np.random.default_rng(0)
    cameras = rng.normal(size=(20, n_pixels)).astype(np.float32)
    with DiskStore.create(scratch / "rows", n_pixels=n_pixels) as store:
        for k in range(count):
            row = rng.standard_normal(n_pixels, dtype=np.float32) + 0.15 * cameras[k % 20]
            store.add(f"{k:06d}", row / np.linalg.norm(row), sha256=f"{k:064x}")
        store.commit()
        began = time.process_time()
        for start in range(0, count, 100):
            store.read(np.arange(start, min(start + 100, count)))
        rate = count * 2 * n_pixels / (time.process_time() - began)
        data = batch_data(store, np.arange(count))
    scale = n_pixels**-0.5
    task = RemoteBatch(
        data,
        Rules(2 * scale, scale=scale, rate=0.001, n_images=count),
    )
    pool = compute.DaskPool(compute.LOCAL, workers=2, preload="samecam._preload")
    seconds, elapsed = [], []
    for _ in range(2):  # the first loads compiled code
        began = time.perf_counter()
        pair = [pool.submit(itself.timed, (cluster_remote_batch, task)) for _ in range(2)]
        answers = [future.result() for future in pair]
        elapsed.append(time.perf_counter() - began)
        seconds.append(statistics.mean(used for _, used in answers))
    pool.close()
    return {
        "photos": count,
        "processor_seconds": seconds[-1],
        "elapsed_seconds": elapsed[-1],
        "bytes_sent": len(pickle.dumps(task)),
        "bytes_returned": len(pickle.dumps(answers[0][0])),
        "read_bytes_per_second": rate,
    }


def schedule(photos, workers, per_photo, overhead, booking):
    """Simulate extraction: seconds until the last photo is booked, and how busy workers were.

    Twice as many tasks as workers are out. A worker takes `per_photo·n` for a task of n; the
    scheduler gives tasks out one after another; the command books answers one after
    another and sends the next task when it has booked one.
    """
    size = _dispatch.batch_size(photos, workers)
    left = [size] * (photos // size) + [photos % size] * bool(photos % size)
    free = [0.0] * workers
    heapq.heapify(free)
    done, busy, scheduler, parent = [], 0.0, 0.0, 0.0

    def send(now):
        nonlocal busy, scheduler
        count = left.pop()
        scheduler = max(now, scheduler) + overhead
        begin = max(scheduler, heapq.heappop(free))
        took = per_photo * count
        busy += took
        heapq.heappush(free, begin + took)
        heapq.heappush(done, (begin + took, count))

    while left and len(done) < 2 * workers:
        send(0.0)
    while done:
        ready, count = heapq.heappop(done)
        parent = max(parent, ready) + booking * count
        if left:
            send(parent)
    return {"photos_a_task": size, "seconds": parent, "busy": busy / (workers * parent)}


def million(figures, size):
    """Time, disk and network of a million photos from the measured figures."""
    large = figures["extraction"]["task_of_200"]
    per_photo = large["processor_seconds"] / 200
    serial = figures["parent"]["seconds_per_photo"]
    batch = figures["ls_ssc"]
    row = 2 * size * size
    costs = {
        "seconds_per_photo": per_photo,
        "read_bytes": MILLION * figures["photo_bytes"],
        "shard_bytes": MILLION * row,
        "catalogue_bytes": MILLION * figures["parent"]["catalogue_bytes_per_photo"],
        "scheduler_bytes": MILLION * (large["bytes_sent"] + large["bytes_returned"]) / 200,
        "serial_seconds": {name: MILLION * value for name, value in serial.items()},
        "hours_at_one_gigabyte_a_second": MILLION * (figures["photo_bytes"] + row) / 1e9 / 3600,
        "one_reading_of_all_rows_seconds": MILLION * row / batch["read_bytes_per_second"],
    }
    rows = {}
    for workers in WORKERS:
        booking = figures["parent"]["book_elapsed_seconds_per_photo"]
        run = schedule(MILLION, workers, per_photo, figures["overhead_seconds"], booking)
        before = MILLION * (serial["scan"] + serial["likely_twins"])
        number = -(-MILLION // batch["photos"])
        rounds = -(-number // workers)
        rows[str(workers)] = {
            **run,
            "before_seconds": before,
            "extraction_hours": (before + run["seconds"]) / 3600,
            "read_bytes_per_second": costs["read_bytes"] / run["seconds"],
            "write_bytes_per_second": costs["shard_bytes"] / run["seconds"],
            "ls_ssc_first_round_hours": rounds * batch["processor_seconds"] / 3600,
        }
    return {**costs, "workers": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=40)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        make_photos(scratch / "photos", options.photos)
        lengths = [file.stat().st_size for file in (scratch / "photos").iterdir()]
        result = {
            "load_average": os.getloadavg()[0],
            "photo_bytes": sum(lengths) / len(lengths),
            "extraction": extraction(scratch / "photos", scratch, options.size, options.rounds),
            "overhead_seconds": overhead(),
            "parent": parent(scratch),
            "ls_ssc": batches(scratch, options.size, options.batch),
        }
    result["million"] = million(result, options.size)
    for workers, row in result["million"]["workers"].items():
        print(workers, row)
    write("dask_tasks", result, **vars(options))
    dask_page.main()


if __name__ == "__main__":
    main()
