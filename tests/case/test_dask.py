"""A cluster on loopback, of real processes: the same answer, whatever happens to its workers."""

import csv
import itertools
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import psutil
import pytest

from samecam import cluster_photos, compute
from samecam.case import (
    ClusteringSettings,
    ExtractionSettings,
    check_log,
    extract_photos,
    versions,
)
from samecam.case._means import Means
from samecam.case.extraction import _dispatch, _worker
from samecam.case.extraction._worker import Outcome, Task
from samecam.compute import _dask, _dask_worker
from samecam.errors import SamecamError
from samecam.photos import scan
from samecam.simulate import simulate_photos
from samecam.store import DiskStore
from tests.case.conftest import SIZE, command, make_photos, run, same_answer, write
from tests.photos.pictures import encode, scene

distributed = pytest.importorskip("distributed")

SMALL = ExtractionSettings(size=SIZE)
TABLES = ("images.csv", "clusters.csv", "evidence.csv", "clusters.json")

# Loaded by every Python process of a cluster: pictures that hold certain bytes do harm.
FAULTS = """
import os, signal, time
import PIL.Image
real = PIL.Image.open

def faulty(stream, *args, **kwargs):
    data = stream.getvalue() if hasattr(stream, "getvalue") else b""
    if b"CRASH-HERE" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"SLOW-HERE" in data:
        time.sleep(0.1)
    if b"HUGE-HERE" in data:
        bytearray(900 * 2**20)
    if os.environ.get("TEST_HANGS"):
        time.sleep(3600)
    if b"ENDS-THE-WORKER" in data:
        import psutil
        for process in psutil.Process().parents():
            if "_dask_worker" in " ".join(process.cmdline()):
                process.parent().kill()
        time.sleep(3600)
    return real(stream, *args, **kwargs)

PIL.Image.open = faulty
"""


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


class Cluster:
    """A scheduler and workers, each a process of its own, on loopback."""

    def __init__(self, folder, port=0, **environment):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "sitecustomize.py").write_text(FAULTS)
        path = os.pathsep.join((str(folder), str(Path(__file__).parents[2])))
        self.environment = {**os.environ, "PYTHONPATH": path, **environment}
        self.processes = []
        contact = folder / "scheduler.json"
        contact.unlink(missing_ok=True)
        words = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self.scheduler = self.start("dask_scheduler", *words, "--scheduler-file", str(contact))
        assert wait_for(lambda: contact.exists() and contact.read_text().endswith("}"), 60)
        self.address = json.loads(contact.read_text())["address"]

    def start(self, module, *words, **environment):
        log = open(self.folder / f"{module}.log", "a")  # noqa: SIM115
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *words],
            cwd=self.folder,
            stdout=log,
            stderr=log,
            env={**self.environment, **environment},
        )
        log.close()
        self.processes.append(process)
        return process

    def worker(self, memory="4GB", **environment):
        """The nanny of a new worker of one thread."""
        words = ("--nthreads", "1", "--memory-limit", memory, "--no-dashboard", "--host")
        words = (*words, "127.0.0.1", "--local-directory", str(self.folder))
        return self.start("dask_worker", self.address, *words, **environment)

    def workers(self, *nannies):
        """Wait until these have their workers."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(len(nannies), timeout=60)
        return self

    def close(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


def below(process):
    """The dask worker that a nanny looks after."""
    found = psutil.Process(process.pid).children()
    return next(p for p in found if "spawn_main" in " ".join(p.cmdline()))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(
        tmp_path_factory.mktemp("cluster"), DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0"
    )
    made.nannies = [made.worker(), made.worker()]
    yield made.workers(*made.nannies)
    made.close()


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(_dispatch, "FEWEST", 4)
    monkeypatch.setattr(_dispatch, "MOST", 4)


def table(case):
    with open(case / "images.csv", encoding="utf-8", errors="surrogateescape", newline="") as f:
        return list(csv.DictReader(f))


def reasons(case):
    return {row["path"]: row["reason"] for row in table(case)}


SETTINGS = ExtractionSettings(size=256)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Three cameras, twins, a name of odd bytes, and what is no photo."""
    folder = tmp_path_factory.mktemp("dask") / "photos"
    simulate_photos(folder / "sim", cameras=3, images=12, size=(512, 384), seed=2, workers=1)
    pile = folder.parent / "pile"
    extract_photos(folder / "sim" / "images", folder.parent / "all", SETTINGS)
    for row in table(folder.parent / "all"):
        if row["status"] == "good":
            write(pile / "images" / row["path"], (folder / "sim/images" / row["path"]).read_bytes())
    make_photos(pile / "more", 4)
    for k, file in enumerate(sorted((pile / "images").iterdir())[:6]):
        write(pile / "twins" / f"{k}.jpg", file.read_bytes())
        write(pile / "twins" / f"{k} again.jpg", file.read_bytes())
    return pile


METHODS = {
    "auto": ClusteringSettings(),
    "batched": ClusteringSettings("ls-ssc", {"batch_size": 12}),
}


@pytest.mark.usefixtures("small_batches")
def test_every_file_of_a_case_is_the_same(photos, cluster, tmp_path, monkeypatch):
    """Once here, once there: fingerprints in batches of four, then two ways of grouping."""
    submit, grouped = compute.DaskPool.submit, []

    def note(pool, function, argument):
        grouped.append(len(pickle.dumps(argument)))
        return submit(pool, function, argument)

    monkeypatch.setattr(compute.DaskPool, "submit", note)
    cases = {None: tmp_path / "here", cluster.address: tmp_path / "there"}
    for settings in METHODS.values():
        for scheduler, case in cases.items():
            result = cluster_photos(photos, case, SETTINGS, settings, scheduler=scheduler)
            assert result.sizes, settings
        here, there = cases.values()
        assert same_answer(here, there)
        for name in TABLES:
            assert (here / name).read_bytes() == (there / name).read_bytes(), name
    assert len(grouped) >= 3, "batches were grouped there"
    assert max(grouped) < 2 * 256 * 256, "and read from the case's folder"
    info = json.loads((there / "case.json").read_text())
    assert info["counts"]["duplicate"] >= 13
    assert (info["device"], info["clustering"]["details"]["device"]) == ("cpu", "cpu")
    assert check_log(there / "log.jsonl") is None
    again = extract_photos(photos, there, SETTINGS, scheduler=cluster.address)
    assert again.done == 0


def rows_in(case):
    """Rows that count, read beside a living writer."""
    try:
        with DiskStore.open(case / "fingerprints") as store:
            return len(store)
    except Exception:
        return 0


@pytest.mark.usefixtures("small_batches")
def test_a_worker_killed_in_the_middle_costs_nothing(slow, undisturbed, cluster, tmp_path):
    case, killed = tmp_path / "case", []

    def kill(_, done, __):
        if done and not killed:
            worker = below(cluster.nannies[0])
            beside = worker.children(recursive=True)
            worker.kill()
            killed.extend(beside)

    result = extract_photos([slow], case, SMALL, scheduler=cluster.address, progress=kill)
    assert killed
    assert result.done == sum(result.counts.values())
    assert same_answer(case, undisturbed)
    assert wait_for(lambda: not any(p.is_running() for p in killed), 5), "they end with it"
    with open(case / "log.jsonl") as stream:
        booked = [e["path"] for e in map(json.loads, stream) if e["event"] == "file"]
    assert len(booked) == len(set(booked)), "no file is booked twice"


@pytest.mark.usefixtures("small_batches")
def test_a_file_that_ends_its_worker_every_time_is_named_and_the_rest_is_done(cluster, tmp_path):
    photos = tmp_path / "photos"
    for k in range(7):
        write(photos / f"{k}.jpg", encode(scene(k, 90, 90)))
    extract_photos([photos], tmp_path / "without", SMALL)
    write(photos / "3 crash.jpg", encode(scene(21, 90, 90)) + b"CRASH-HERE")
    write(photos / "3 end.jpg", encode(scene(20, 90, 90)) + b"ENDS-THE-WORKER")
    result = extract_photos([photos], tmp_path / "case", SMALL, scheduler=cluster.address)
    assert result.counts["good"] == 7
    why = {path: reason for path, reason in reasons(tmp_path / "case").items() if reason}
    assert why == {
        "3 crash.jpg": "its decoder crashed (SIGSEGV)",
        "3 end.jpg": "its decoder crashed (with it one worker after another ended)",
    }
    for name in ("3 crash.jpg", "3 end.jpg"):
        (photos / name).unlink()
    with (
        DiskStore.open(tmp_path / "case" / "fingerprints") as one,
        DiskStore.open(tmp_path / "without" / "fingerprints") as other,
    ):
        assert (one.read() == other.read()).all()


def extract(photos, case, address):
    words = ("extract", photos, "-o", case, "--size", SIZE, "--scheduler", address)
    return command(*words)


def test_killed_and_given_again_it_goes_on(slow, undisturbed, cluster, tmp_path):
    case = tmp_path / "case"
    process = extract(slow, case, cluster.address)
    assert wait_for(lambda: (case / "fingerprints" / "shards" / "00000.f16").exists())
    process.kill()
    process.communicate()
    code, _, error = run(*process.args[3:])
    assert code == 3, error
    assert same_answer(case, undisturbed)
    beside = [p for n in cluster.nannies for p in below(n).children()]
    assert wait_for(lambda: not any(p.is_running() for p in beside), 10), "nobody is left"


@pytest.mark.usefixtures("small_batches")
def test_a_scheduler_that_is_restarted(slow, undisturbed, tmp_path, monkeypatch):
    monkeypatch.setattr(_dask, "_CONNECT_SECONDS", 3.0)
    case, first = tmp_path / "case", Cluster(tmp_path / "cluster")
    first.workers(first.worker())

    def kill(_, done, __):
        if done and first.scheduler.poll() is None:
            first.scheduler.kill()
            first.scheduler.wait()

    with pytest.raises(SamecamError, match="was lost.*start it again.*goes on where it stopped"):
        extract_photos([slow], case, SMALL, scheduler=first.address, progress=kill)
    first.close()
    before = rows_in(case)
    assert before > 0, "what was finished is kept"
    port = first.address.rpartition(":")[2]
    second = Cluster(tmp_path / "cluster", port)
    second.workers(second.worker())
    assert second.address == first.address
    result = extract_photos([slow], case, SMALL, scheduler=second.address)
    second.close()
    assert result.done < sum(result.counts.values()) - before + 1
    assert same_answer(case, undisturbed)


def test_workers_that_are_slow_or_small_change_nothing(tmp_path, monkeypatch):
    """One never ends with a picture, one has too little memory for one of them."""
    monkeypatch.setattr(_dispatch, "FEWEST", 2)
    monkeypatch.setattr(_dispatch, "MOST", 2)
    photos = make_photos(tmp_path / "photos", 8)
    write(photos / "a08.jpg", encode(scene(70, 90, 90)) + b"HUGE-HERE")
    extract_photos([photos], tmp_path / "here", SMALL)
    lame = Cluster(tmp_path / "cluster")
    try:
        nannies = lame.worker("700MB"), lame.worker(TEST_HANGS="1"), lame.worker("8GB")
        lame.workers(*nannies)
        options = {"scheduler": lame.address, "timeout": 4.0}
        result = extract_photos([photos], tmp_path / "there", SMALL, **options)
    finally:
        lame.close()
    assert reasons(tmp_path / "there") == reasons(tmp_path / "here")
    assert result.counts["good"] == 10
    assert same_answer(tmp_path / "there", tmp_path / "here")


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
    pool = compute.DaskPool(cluster.address, timeout=2, preload="samecam.errors")
    assert pool.workers == 2
    assert pool.elsewhere
    futures = [pool.submit(double, k) for k in range(20)]
    assert [future.result(30) for future in futures] == [2 * k for k in range(20)]
    with pytest.raises(ValueError, match="-1 is negative"):
        pool.submit(double, -1).result(30)
    with pytest.raises(compute.TaskTimeoutError):
        pool.submit(sleep, 60).result(30)
    with pytest.raises(compute.WorkerDiedError) as died:
        pool.submit(die, 7).result(30)
    assert died.value.exit_code == 7
    answers = pool.submit_many(double, [1, -1, 3]).result(30)
    assert (answers.items[0], answers.items[2]) == (2, 6)
    assert isinstance(answers.items[1], ValueError)
    last = pool.submit(double, 4)
    pool.close()
    assert last.result(0) == 8, "closing waits for what runs"


def test_a_task_for_a_worker_that_is_gone_goes_to_another(cluster):
    pool = compute.DaskPool(cluster.address, preload="samecam.errors")
    pool._roomiest = lambda _: ["tcp://127.0.0.1:1"]
    assert pool.submit_many(double, [4], avoid="x").result(30).items == [8]
    pool.close()


def test_fingerprints_do_not_travel(photos, cluster, tmp_path):
    """What comes back is little, and does not grow with the fingerprints."""
    with DiskStore.create(tmp_path / "store", n_pixels=256 * 256):
        pass
    pool = compute.DaskPool(
        cluster.address,
        initializer=_worker.start,
        initargs=(SETTINGS, tmp_path / "store"),
    )
    tasks = [Task(f.path, f.file) for f in scan([photos / "images"])]
    answers = pool.submit_many(_worker.extract, tasks).result(60)
    pool.close()
    rows = sum(outcome.place is not None for outcome in answers.items)
    written = sum(f.stat().st_size for f in (tmp_path / "store" / "shards").iterdir())
    assert written == rows * 2 * 256 * 256
    assert rows > 30
    assert len(pickle.dumps(answers)) < min(4096 * len(tasks), written / 50)


def test_a_worker_that_cannot_do_it_is_named_before_any_work(cluster, tmp_path):
    blind = partial(_worker.look_around, tmp_path / "nowhere" / "fingerprints", {}, {})
    with pytest.raises(SamecamError, match=r"The worker tcp://.* does not see the case.*mount"):
        compute.DaskPool(cluster.address, check=blind)
    with DiskStore.create(tmp_path / "store", n_pixels=9):
        pass
    look = partial(_worker.look_around, tmp_path / "store")
    write(tmp_path / "a.jpg", b"12345")
    assert look({str(tmp_path / "a.jpg"): 5}, versions()) == ""
    assert "sees another file" in look({str(tmp_path / "a.jpg"): 6}, {})
    assert "does not see the photo" in look({str(tmp_path / "b.jpg"): 6}, {})
    older = look({}, {**versions(), "libjpeg": "0.9"})
    assert "libjpeg" in older
    assert "and this machine 0.9: install the same" in older
    other = _dask_worker.Setup("x", version="0.0.0")
    assert "install the same version" in _dask_worker._trouble(other)


def test_who_does_not_answer_gets_a_sentence(photos, tmp_path, monkeypatch):
    monkeypatch.setattr(_dask, "_CONNECT_SECONDS", 1.0)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(SamecamError, match="No dask scheduler answers.*dask scheduler"):
            extract_photos(photos, tmp_path / "c", SMALL, scheduler=address)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(SamecamError, match="No dask scheduler answers.*8787 is dask's page"):
            extract_photos(photos, tmp_path / "c", SMALL, scheduler=address)
    assert not (tmp_path / "c").exists()
    with pytest.raises(SamecamError, match="do not go together"):
        Means.chosen(device="cuda", scheduler="tcp://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SamecamError, match=r"pip install 'samecam\[dask\]'"):
        extract_photos(photos, tmp_path / "c", SMALL, scheduler="local")


def test_an_address_that_is_none_leaves_nothing_but_a_sentence(photos, tmp_path):
    code, _, error = run("extract", photos, "-o", tmp_path / "c", "--scheduler", "127.0.0.1")
    assert code == 1, error
    assert error.count("\n") <= 1
    assert "missing port number" in error


def test_the_address_of_a_worker_is_no_scheduler(cluster):
    with distributed.Client(cluster.address, set_as_default=False) as client:
        worker = next(iter(client.scheduler_info()["workers"]))
    with pytest.raises(SamecamError, match="it is a worker's address"):
        compute.cluster_workers(worker)
    assert compute.cluster_workers(cluster.address) == 2


def test_a_local_cluster_needs_no_more_than_the_word(slow, undisturbed, tmp_path):
    code, out, error = run(
        *("extract", slow, "-o", tmp_path / "case", "--size", SIZE, "--workers", 2),
        *("--scheduler", "local", "--json"),
    )
    assert code == 3, error
    assert "distributed" not in error
    assert json.loads(out)["counts"]["good"] == 26
    assert same_answer(tmp_path / "case", undisturbed)


@pytest.mark.long
@pytest.mark.parametrize("delay", [2.0, 4.0, 6.0, 8.0])
def test_ctrl_c_on_a_local_cluster(slow, undisturbed, tmp_path, delay):
    process = extract(slow, tmp_path / "case", "local")
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    _, error = process.communicate(timeout=60)
    assert process.returncode in (130, 3, -signal.SIGINT), error.decode()
    run(*process.args[3:])
    assert same_answer(tmp_path / "case", undisturbed)


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
            future.set_result(compute.Answers("w", [self.item(t, avoid) for t in arguments]))
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
        work.put(Task(f"{k}.jpg", f"/{k}.jpg"))
    found = []
    for _ in range(30):
        found += work.collect(0.0, more=False)
    assert work.idle()
    assert sorted(o.path for o in found) == [f"{k}.jpg" for k in range(10)], "each once"
    bad = {o.path: o.reason for o in found if o.status != "good"}
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
