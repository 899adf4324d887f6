"""What only a disk can do wrong: damage, crashes, other versions, several writers."""

import json
import os
import pickle
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
import pytest

from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.store import DiskStore, ShardWriter, StoreFullError
from tests.store.test_contract import N, vectors

FRAME = Frame(N // 10, 10)


@pytest.fixture
def filled(tmp_path):
    folder = tmp_path / "store"
    with DiskStore.create(folder, frame=FRAME, dtype="float16", extractor={"sigma": 3.0}) as store:
        for k, x in enumerate(vectors(6)):
            store.add(f"{k}", x, sha256=f"h{k}")
        store.commit()
    return folder


def test_layout_is_as_documented(filled):
    description = json.loads((filled / "store.json").read_text())
    assert description["format"] == "samecam-fingerprints"
    assert (description["version"], description["dtype"]) == (2, "float16")
    assert description["extractor"] == {"sigma": 3.0}
    raw = np.fromfile(filled / "shards" / FRAME.name / "00000.f16", dtype="<f2").reshape(6, N)
    np.testing.assert_allclose(raw.astype(np.float32), vectors(6), atol=3e-4)
    assert sorted(p.name for p in filled.iterdir()) == ["catalogue.sqlite", "shards", "store.json"]


@pytest.mark.parametrize("byte", [0, 7 * N, 12 * N - 1])
def test_a_flipped_bit_is_found_by_its_checksum(filled, byte):
    shard = filled / "shards" / FRAME.name / "00000.f16"
    data = bytearray(shard.read_bytes())
    data[byte] ^= 4
    shard.write_bytes(data)
    with DiskStore.open(filled) as store:
        hurt = str(byte // (2 * N))
        assert store.verify() == [hurt]
        with pytest.raises(SamecamError, match="damaged"):
            store.rows().read()
        with pytest.raises(SamecamError, match="damaged"):
            list(store.rows().columns(70))
        others = [k for k in range(6) if str(k) != hurt]
        assert store.rows().read(others).shape == (5, N)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "bits", "2bits"])
def test_rows_are_read_elsewhere_without_the_catalogue(tmp_path, dtype):
    keys = ["a", "b/ä", "c\nd", "\udcff.jpg"]
    with DiskStore.create(tmp_path / "store", frame=FRAME, dtype=dtype) as store:
        for key, x in zip(reversed(keys), vectors(4), strict=True):
            store.add(key, x, sha256="h", meta={"camera": "none"})
        store.commit()
        whole = store.rows().read()
        message = pickle.dumps(store.rows().on_disk([0, 2, 3]))
    (tmp_path / "store" / "catalogue.sqlite").unlink()
    (tmp_path / "store" / "store.json").unlink()
    with pickle.loads(message) as rows:
        assert list(rows.keys) == [keys[k] for k in (0, 2, 3)]
        np.testing.assert_array_equal(rows.read(), whole[[0, 2, 3]])
        np.testing.assert_array_equal(
            np.hstack([part.copy() for _, part in rows.columns(70)]), whole[[0, 2, 3]]
        )
        assert rows.verify() == []
        assert rows.on_disk([1]).keys == ["c\nd"]
        assert [(r.key, r.sha256, r.has_row) for r in rows.records()][1:2] == [("c\nd", "", True)]
        for change in (lambda: rows.add("e", None), lambda: rows.discard(["a"])):
            with pytest.raises(TypeError, match="for reading"):
                change()
        shard = next((tmp_path / "store" / "shards" / FRAME.name).iterdir())
        shard.write_bytes(bytes(shard.stat().st_size))
        with pytest.raises(SamecamError, match=r"'c\\nd' .*damaged"):
            rows.read([1])


def test_half_precision_is_widened_exactly(tmp_path):
    """Every finite half-precision number, through the store."""
    bits = np.arange(2**16, dtype=np.uint16)
    halves = bits.view(np.float16)
    halves = halves[np.isfinite(halves)]
    with DiskStore.create(tmp_path / "s", frame=Frame(halves.size, 1), dtype="float16") as store:
        store.add("all", halves.astype(np.float32))
        store.commit()
        row = store.rows().read()[0]
    np.testing.assert_array_equal(row.view(np.uint32), halves.astype(np.float32).view(np.uint32))


def test_a_shard_cut_short_or_gone_is_found(filled):
    shard = filled / "shards" / FRAME.name / "00000.f16"
    os.truncate(shard, 5 * 2 * N + 3)
    with DiskStore.open(filled) as store:
        assert store.verify() == ["5"]
    with pytest.raises(SamecamError, match="gone or cut short"):
        DiskStore.open(filled, "a")
    shard.unlink()
    for mode in ("a", "r"):
        with pytest.raises(SamecamError, match="gone or cut short"):
            DiskStore.open(filled, mode)


def test_uncommitted_rows_are_cut_off_and_written_over(filled):
    with DiskStore.open(filled, "a") as store:
        store.add("lost", vectors(1, seed=9)[0])
    shard = filled / "shards" / FRAME.name / "00000.f16"
    with open(shard, "ab") as stream:
        stream.write(b"half a record")
    assert shard.stat().st_size > 7 * 2 * N
    with DiskStore.open(filled, "a") as store:
        assert shard.stat().st_size == 6 * 2 * N
        store.add("6", vectors(1, seed=5)[0])
        store.commit()
        assert len(store.rows()) == 7
        assert store.verify() == []
    assert shard.stat().st_size == 7 * 2 * N


def test_writers_take_shards_of_their_own(tmp_path):
    store = DiskStore.create(tmp_path / "s", frame=FRAME, dtype="float16")
    first, second = (ShardWriter(store.folder, FRAME, "float16") for _ in range(2))
    X = vectors(3)
    places = [first.append(X[0]), second.append(X[1]), first.append(X[2])]
    assert [(p.shard, p.row) for p in places] == [(0, 0), (1, 0), (0, 1)]
    first.close()
    third = ShardWriter(store.folder, FRAME, "float16")
    assert (third.append(X[0]).shard, third.append(X[0]).row) == (0, 3)


def test_full_shards_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("samecam.store._shard.SHARD_BYTES", 2 * 2 * N)
    with DiskStore.create(tmp_path / "s", frame=FRAME, dtype="float16") as store:
        for k, x in enumerate(vectors(5)):
            store.add(str(k), x)
        store.commit()
        np.testing.assert_allclose(store.rows().read(), vectors(5), atol=3e-4)
    sizes = [
        p.stat().st_size // (2 * N) for p in sorted((tmp_path / f"s/shards/{FRAME.name}").iterdir())
    ]
    assert sizes == [2, 2, 1]


def test_orphans_of_a_living_writer_are_not_touched(filled):
    writer = ShardWriter(filled, FRAME, "float16")
    writer.append(vectors(1)[0])
    with DiskStore.open(filled, "a") as store:
        assert (filled / "shards" / FRAME.name / "00000.f16").stat().st_size == 7 * 2 * N
        store.add("new", vectors(1)[0])
        store.commit()
    assert (filled / "shards" / FRAME.name / "00001.f16").stat().st_size == 2 * N
    writer.close()


def test_a_newer_format_is_refused(filled):
    description = json.loads((filled / "store.json").read_text())
    description["version"] = 3
    (filled / "store.json").write_text(json.dumps(description))
    with pytest.raises(SamecamError, match="newer samecam.*update"):
        DiskStore.open(filled)


def test_a_format_of_before_is_refused_and_not_touched(filled):
    description = json.loads((filled / "store.json").read_text())
    description["version"] = 1
    (filled / "store.json").write_text(json.dumps(description))
    before = {p: p.stat().st_mtime_ns for p in filled.rglob("*")}
    for mode in ("r", "a"):
        with pytest.raises(SamecamError, match="earlier samecam.*begin a new case"):
            DiskStore.open(filled, mode)
    assert {p: p.stat().st_mtime_ns for p in filled.rglob("*")} == before


@pytest.mark.parametrize("frame", ["30x10", "07x10", "30x0", "a", "30x10x2", 7, None])
def test_a_place_in_a_frame_that_cannot_be_is_refused(filled, frame):
    with sqlite3.connect(filled / "catalogue.sqlite") as database:
        database.execute("UPDATE records SET frame = ? WHERE sha256 = 'h3'", (frame,))
    database.close()
    if frame == FRAME.name:
        DiskStore.open(filled).close()
        return
    with pytest.raises(SamecamError, match="cannot be used"):
        DiskStore.open(filled)


def test_what_is_no_store_is_refused(tmp_path, filled):
    with pytest.raises(SamecamError, match="holds no fingerprints"):
        DiskStore.open(tmp_path)
    with pytest.raises(SamecamError, match="holds a store already"):
        DiskStore.create(filled, frame=Frame(3, 1))
    with pytest.raises(SamecamError, match="choose auto, float16"):
        DiskStore.create(tmp_path / "new", frame=Frame(3, 1), dtype="float8")
    (filled / "catalogue.sqlite").write_bytes(b"not a data base" * 100)
    with pytest.raises(SamecamError, match="catalogue"):
        DiskStore.open(filled)
    (filled / "store.json").write_text("{")
    with pytest.raises(SamecamError, match="cannot be read"):
        DiskStore.open(filled)


def test_opens_on_a_disk_that_cannot_be_written(filled):
    """Opened read-only, nothing in the folder changes, not even a log beside the catalogue."""
    before = {p: p.stat().st_mtime_ns for p in filled.rglob("*")}
    with DiskStore.open(filled) as store:
        store.rows().read()
        store.add("x", None)
        with pytest.raises(SamecamError, match="readonly"):
            store.commit()
    assert {p: p.stat().st_mtime_ns for p in filled.rglob("*")} == before


KILLED = """
import os, sys
import numpy as np
from samecam.frames import Frame
from samecam.store import DiskStore
store = DiskStore.create(sys.argv[1], frame=Frame(500, 1), dtype="float16")
for k in range(10**6):
    store.add(f"{k:06d}", np.full(500, 1.0))
    if k % 10 == 9:
        store.commit()
        os.write(1, f"{k + 1}\\n".encode())
"""


@pytest.mark.parametrize("acknowledged", [10, 70, 200])
def test_nothing_acknowledged_is_lost_by_kill(tmp_path, acknowledged):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path / "s")],
        stdout=subprocess.PIPE,
        text=True,
    )
    last = 0
    while last < acknowledged:
        last = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest = process.communicate()[0].split()
    last = int(rest[-1]) if rest else last
    with DiskStore.open(tmp_path / "s", "a") as store:
        assert last <= len(store.rows()) <= last + 10
        assert store.verify() == []


@pytest.fixture
def size_limit():
    """Files may not grow past a limit: what a full disk looks like from here."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def bytes_of(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_what_a_killed_run_left_is_put_right_in_a_copy(filled, tmp_path, monkeypatch, mode):
    """A reader may not write: SQLite would refuse a journal that waits to be rolled back."""
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with DiskStore.open(filled) as store:
        before = [(r.key, r.meta) for r in store.records()]
    database = sqlite3.connect(filled / "catalogue.sqlite", isolation_level=None)
    for words in (f"journal_mode = {mode}", "synchronous = OFF", "cache_size = 1"):
        database.execute(f"PRAGMA {words}")
    database.execute("BEGIN IMMEDIATE")
    odd = json.dumps({"odd": "x" * 100_000})
    database.execute("UPDATE records SET meta = ?", (odd,))
    killed = shutil.copytree(filled, tmp_path / "killed")
    database.close()
    if mode == "WAL":  # as on a disk that cannot be written
        (killed / "catalogue.sqlite-shm").unlink()
    left = bytes_of(killed)
    assert len(left) > len(bytes_of(filled))
    with DiskStore.open(killed) as store:
        assert [(r.key, r.meta) for r in store.records()] == before
    assert mode == "WAL" or bytes_of(killed) == left
    assert not list(temporary.iterdir())


def test_a_full_disk_ends_with_an_error_and_a_store_that_goes_on(tmp_path, size_limit):
    n = 20000
    X = vectors(8, n)
    store = DiskStore.create(tmp_path / "s", frame=Frame(n, 1), dtype="float16")
    store.add("0", X[0])
    store.commit()
    size_limit(100_000)  # two and a half rows
    store.add("1", X[1])
    with pytest.raises(StoreFullError, match="No space is left.*same command again"):
        store.add("2", X[2])
    store.commit()
    store.close()
    size_limit(resource.RLIM_INFINITY)
    with DiskStore.open(tmp_path / "s", "a") as again:
        assert list(again.rows().keys) == ["0", "1"]
        again.add("2", X[2])
        again.commit()
        assert again.verify() == []
        np.testing.assert_allclose(again.rows().read(), X[:3], atol=1e-4)


def test_a_full_disk_under_the_catalogue_is_told_alike(tmp_path, size_limit):
    store = DiskStore.create(tmp_path / "s", frame=Frame(4, 1))
    store.add("a", None, meta={"big": "x" * 300_000})
    size_limit(50_000)
    with pytest.raises(StoreFullError):
        store.commit()
    size_limit(resource.RLIM_INFINITY)
    store.commit()
    assert [r.key for r in store.records()] == ["a"]
    store.close()
    database = sqlite3.connect(tmp_path / "s" / "catalogue.sqlite")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
