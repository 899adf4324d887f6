"""What a task on a cluster costs, and what a million photos then cost on 1, 10 and 100 workers.

Figures are measured on a local cluster of two workers; the schedule is simulated from them. Work
is counted in seconds of processor time, photos in the page cache: other programs on the machine
and slow disks are not in it.

python -m benchmarks.dask_tasks [--photos 40] [--size 512] [--batch 1000] [--rounds 3]
python -m benchmarks.pages                          # writes the figures into docs/scaling.md
"""

import heapq
import os
import pickle
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.extraction import make_photos
from benchmarks.record import folder_of, parser, write
from benchmarks.timed import timed
from samecam import compute
from samecam.case import ExtractionSettings
from samecam.case.extraction import _dispatch, _extract, _worker
from samecam.case.extraction._duplicates import likely_duplicates
from samecam.case.extraction._ledger import Ledger
from samecam.case.extraction._prepare import Job
from samecam.case.extraction._worker import ExtractionTask, Outcome
from samecam.case.folder import Case
from samecam.cluster._remote import batch_data
from samecam.cluster.large_scale._batches import RemoteBatch, cluster_remote_batch
from samecam.cluster.large_scale._partition import Rules
from samecam.frames import Frame
from samecam.photos import scan
from samecam.store import DiskStore

MILLION = 10**6
WORKERS = (1, 10, 100)
TASKS = (50, 200)  # photos


class Sizes(NamedTuple):
    """Photos, their pixels, crop, photos of a batch, rounds, photos booked, idle tasks, workers."""

    photos: int = 40
    width: int = 4000
    height: int = 3000
    size: int = 512
    batch: int = 1000
    rounds: int = 3
    booked: int = 4000
    idle: int = 300
    workers: int = 2


QUICK = Sizes(3, 200, 160, 64, 60, 1, 40, 10, 1)


def tasks_of(photos: Path, count: int) -> list[ExtractionTask]:
    """So many tasks over the photos, again and again."""
    files = scan([photos])
    return [ExtractionTask(f"{k}", files[k % len(files)].file) for k in range(count)]


def named_tasks(count: int) -> list[ExtractionTask]:
    """Tasks with names as long as they usually are."""
    names = [f"2024/holiday/IMG_{k:05d}.jpg" for k in range(count)]
    return [ExtractionTask(name, f"/mnt/evidence/photos/{name}") for name in names]


def extraction(photos: Path, scratch: Path, sizes: Sizes) -> dict[str, Any]:
    """Seconds, bytes sent, returned and written of tasks of 50 and 200 photos, one a worker."""
    settings, store = ExtractionSettings(size=sizes.size), scratch / "store"
    rounds, workers = sizes.rounds, range(sizes.workers)
    DiskStore.create(store, frame=settings.frame, dtype=settings.rows).close()
    pool = compute.DaskPool(
        compute.LOCAL,
        workers=sizes.workers,
        timeout=60,
        memory=compute.worker_memory(sizes.size**2),
        preload="samecam._preload",
        initializer=_worker.start,
        initargs=(settings, store),
    )
    for _ in range(2):
        warm = [pool.submit_many(_worker.extract, tasks_of(photos, 4)) for _ in workers]
        [future.result() for future in warm]
    result = {}
    for count in TASKS:
        seconds: list[float] = []
        work: list[float] = []
        before = shard_bytes(store)
        tasks = tasks_of(photos, count)
        calls = [(_worker.extract, task) for task in tasks]
        for _ in range(rounds):
            began = time.perf_counter()
            waiting = [pool.submit_many(timed, calls) for _ in workers]
            answers = [future.result() for future in waiting]
            seconds.append(time.perf_counter() - began)
            work += [sum(used for _, used in a.items) for a in answers]
        result[f"task_of_{count}"] = {
            "processor_seconds": statistics.median(work),
            "elapsed_seconds": statistics.median(seconds),
            "bytes_sent": len(pickle.dumps(named_tasks(count))),
            "bytes_returned": len(pickle.dumps([outcome for outcome, _ in answers[0].items])),
            "shard_bytes": (shard_bytes(store) - before) // (sizes.workers * rounds),
        }
        print(count, result[f"task_of_{count}"], flush=True)
    pool.close()
    return result


def shard_bytes(store: Path) -> int:
    return sum(file.stat().st_size for file in (store / "shards").glob("*/*"))


def overhead(count: int, workers: int) -> float:
    """Seconds that a task takes which does nothing, several in flight, as extraction has them."""
    pool = compute.DaskPool(compute.LOCAL, workers=workers)
    [future.result() for future in [pool.submit(abs, -1) for _ in range(20)]]
    began = time.perf_counter()
    running: list[Any] = []
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

    def __init__(self) -> None:
        self.done: list[Outcome] = []

    def wants(self) -> bool:
        return len(self.done) < 500

    def put(self, task: ExtractionTask) -> None:
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

    def idle(self) -> bool:
        return not self.done

    def collect(self, *_: Any) -> Iterator[Outcome]:
        done, self.done = self.done, []
        yield from done

    def close(self) -> None:
        """Nothing is held."""

    stop = close


def parent(scratch: Path, count: int) -> dict[str, Any]:
    """Seconds a photo that the command itself takes: finding, comparing, booking, reading back."""
    photos, case = scratch / "tiny", scratch / "case"
    photos.mkdir()
    for k in range(count):
        (photos / f"{k}").write_bytes(b"x" * (k + 1))
    steps: dict[str, float] = {}

    def lap(name: str, began: float) -> None:
        steps[name] = (time.process_time() - began) / count

    began = time.process_time()
    files = scan([photos])
    lap("scan", began)
    began = time.process_time()
    likely_duplicates(Ledger([], files).pending)
    lap("likely_duplicates", began)
    settings = ExtractionSettings(size=64)
    with (
        patch.object(_extract, "dispatch", lambda *_: Ready()),
        Case(case, settings, [str(photos)]) as folder,
    ):
        job = Job(case, [str(photos)], files, settings, Counter({Frame(64, 64): len(files)}))
        alone = compute.Resources(workers=1, device="cpu")
        run = _extract.ExtractionRun(folder, job, alone, compute.no_progress, threading.Event())
        began, booked = time.process_time(), time.perf_counter()
        run.execute()
        lap("book", began)
        booked = (time.perf_counter() - booked) / count
    began = time.process_time()
    DiskStore.open(case / "fingerprints").close()
    lap("open_store", began)
    catalogue = (case / "fingerprints" / "catalogue.sqlite").stat().st_size
    return {
        "seconds_per_photo": steps,
        "book_elapsed_seconds_per_photo": booked,
        "catalogue_bytes_per_photo": catalogue / count,
    }


def batches(scratch: Path, sizes: Sizes) -> dict[str, Any]:
    """Seconds of LS-SSC on one batch, and bytes a second at which rows are read."""
    n_pixels, count = sizes.size**2, sizes.batch
    rng = np.random.default_rng(0)
    cameras = rng.normal(size=(20, n_pixels)).astype(np.float32)
    frame = Frame(sizes.size, sizes.size)
    with DiskStore.create(scratch / "rows", frame=frame, dtype="float16") as store:
        for k in range(count):
            row = rng.standard_normal(n_pixels, dtype=np.float32) + 0.15 * cameras[k % 20]
            store.add(f"{k:06d}", row / np.linalg.norm(row), sha256=f"{k:064x}")
        store.commit()
        began = time.process_time()
        for start in range(0, count, 100):
            store.rows().read(np.arange(start, min(start + 100, count)))
        rate = count * 2 * n_pixels / (time.process_time() - began)
        data = batch_data(store.rows(), np.arange(count))
    scale = n_pixels**-0.5
    task = RemoteBatch(
        data,
        Rules(2 * scale, scale=scale, rate=0.001, n_images=count),
    )
    pool = compute.DaskPool(compute.LOCAL, workers=sizes.workers, preload="samecam._preload")
    seconds: list[float] = []
    elapsed: list[float] = []
    for _ in range(2):  # the first loads compiled code
        began = time.perf_counter()
        call = (cluster_remote_batch, task)
        waiting = [pool.submit(timed, call) for _ in range(sizes.workers)]
        answers = [future.result() for future in waiting]
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


def schedule(
    photos: int, workers: int, per_photo: float, overhead: float, booking: float
) -> dict[str, float]:
    """Simulate extraction: seconds until the last photo is booked, and how busy workers were.

    Twice as many tasks as workers are out. A worker takes `per_photo·n` for a task of n; the
    scheduler gives tasks out one after another; the command books answers one after
    another and sends the next task when it has booked one.
    """
    size = _dispatch.batch_size(photos, workers)
    left = [size] * (photos // size) + [photos % size] * bool(photos % size)
    free = [0.0] * workers
    heapq.heapify(free)
    done: list[tuple[float, int]] = []
    busy, scheduler, parent = 0.0, 0.0, 0.0

    def send(now: float) -> None:
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


def million(figures: dict[str, Any], size: int) -> dict[str, Any]:
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
        before = MILLION * (serial["scan"] + serial["likely_duplicates"])
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


def measure(sizes: Sizes) -> dict[str, Any]:
    """All figures, and what a million photos cost by them."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        photos = scratch / "photos"
        make_photos(photos, sizes.photos, sizes.width, sizes.height)
        lengths = [file.stat().st_size for file in photos.iterdir()]
        result = {
            "load_average": os.getloadavg()[0],
            "photo_bytes": sum(lengths) / len(lengths),
            "extraction": extraction(photos, scratch, sizes),
            "overhead_seconds": overhead(sizes.idle, sizes.workers),
            "parent": parent(scratch, sizes.booked),
            "ls_ssc": batches(scratch, sizes),
        }
    return {**result, "million": million(result, sizes.size)}


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    for name in ("photos", "size", "batch", "rounds"):
        asked.add_argument(f"--{name}", type=int, default=getattr(Sizes(), name))
    options = asked.parse_args(arguments)
    given = {name: getattr(options, name) for name in ("photos", "size", "batch", "rounds")}
    sizes = QUICK if options.quick else Sizes(**given)
    result = measure(sizes)
    for workers, row in result["million"]["workers"].items():
        print(workers, row)
    write("dask_tasks", result, folder=folder_of(options), **sizes._asdict())


if __name__ == "__main__":
    main()
