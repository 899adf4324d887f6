"""Rows of a store that are read again and again are brought into memory where they fit."""

import numpy as np
import pytest

from samecam.cluster import ConsolidatedSSC
from samecam.correlate import rows_on
from samecam.frames import Frame
from samecam.simulate import fingerprints
from samecam.store import DiskStore, MemoryStore


class Counted(MemoryStore):
    """A store that counts how often its rows are read in strips."""

    read_in_strips = 0

    def columns(self, width, rows=None):
        self.read_in_strips += 1
        return super().columns(width, rows)


def filled(store, rows):
    for i, row in enumerate(rows):
        store.add(f"{i:04d}", row, sha256=f"{i}")
    store.commit()
    return store


@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_numbers_become_an_array_where_they_fit(tmp_path, dtype):
    drawn = fingerprints([4, 3], 0.1, 4096, seed=0)
    with DiskStore.create(tmp_path / "s", frame=Frame(64, 64), dtype=dtype) as made:
        store = filled(made, drawn.X).rows()
        held = rows_on(store, "cpu", 4 * 7 * 4096)
        assert isinstance(held, np.ndarray)
        np.testing.assert_array_equal(held, store.read(np.arange(7)))
        assert rows_on(store, "cpu", 4 * 7 * 4096 - 1) is store


def test_bits_and_arrays_stay_what_they_are(tmp_path):
    drawn = fingerprints([4, 3], 0.1, 4096, seed=0)
    assert rows_on(drawn.X, "cpu", 2**40) is drawn.X
    with DiskStore.create(tmp_path / "s", frame=Frame(64, 64), dtype="bits") as made:
        store = filled(made, drawn.X).rows()
        assert rows_on(store, "cpu", 2**40) is store


def test_batches_read_the_store_once_and_end_alike():
    drawn = fingerprints([40, 35, 30, 25, 20], 0.06, 4096, seed=2)
    ample, scarce = (filled(Counted(4096), drawn.X) for _ in range(2))
    first = ConsolidatedSSC(batch_size=60, memory=2**28).fit(ample)
    second = ConsolidatedSSC(batch_size=60, memory=9 * 2**20).fit(scarce)
    assert ample.read_in_strips == 0
    assert scarce.read_in_strips > 10
    assert (first.labels_ == second.labels_).all()
