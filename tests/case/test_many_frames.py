"""Photos of very many widths and heights: what each one takes."""

import os
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from samecam.case.grouping._evidence import weigh
from samecam.case.studies import _compare_run
from samecam.correlate import normalised
from samecam.frames import Frame
from samecam.store import DiskStore, StoredRows

FRAMES = [Frame(64 + 8 * k, 64) for k in range(5)]


@pytest.fixture
def store(tmp_path):
    rng = np.random.default_rng(0)
    with DiskStore.create(tmp_path / "store") as made:
        for k, frame in enumerate(FRAMES):
            for j, row in enumerate(normalised(rng.normal(size=(3, frame.n_pixels)))):
                made.add(f"{k}{j}", row, frame=frame, meta={"status": "good"})
        made.commit()
        yield made


def shards_open():
    folder = "/proc/self/fd"
    if not os.path.isdir(folder):
        pytest.skip("what is open cannot be seen here")
    links = [Path(folder, name) for name in os.listdir(folder)]
    return sum(os.readlink(link).endswith(".i8") for link in links if link.is_symlink())


def test_shards_of_all_frames_are_never_open_at_once(store):
    before, most = shards_open(), []
    weigh(
        store,
        store.records(),
        np.repeat(np.arange(len(FRAMES)), 3),
        {},
        2**26,
        lambda *_: most.append(shards_open()),
    )
    assert max(most) <= before + 1


def test_correlating_frame_by_frame_closes_each(store, tmp_path, monkeypatch):
    before, most = shards_open(), []

    class Opened:
        def open_store(self):
            return store

    save = np.save
    monkeypatch.setattr(_compare_run, "open_case", lambda _: Opened())
    monkeypatch.setattr(np, "save", lambda *given: (most.append(shards_open()), save(*given)))
    job = _compare_run.Job("case", str(tmp_path), 2**26, None)
    _compare_run.work({"job": asdict(job), "settings": None, "shared": True})
    assert len(most) == len(FRAMES)
    assert max(most) <= before + 1


def test_records_are_gone_through_once_for_all_frames(store, monkeypatch):
    class Counted(dict):
        times = 0

        def values(self):
            Counted.times += 1
            return super().values()

    store.discard(["00"])  # what was known of frames is forgotten
    monkeypatch.setattr(store, "_entries", Counted(store._entries))
    rows = [store.rows(frame) for frame in store.frames]
    assert [len(each) for each in rows] == [2, 3, 3, 3, 3]
    assert Counted.times == 1
    assert all(isinstance(each, StoredRows) for each in rows)
