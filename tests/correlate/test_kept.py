"""Correlations that are kept give the sums that rows of bits give, to the last digit."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam import correlate
from samecam.correlate import _kept, _photo_sums
from samecam.store import BitRows
from tests.correlate.test_two_bits import levels, pack, stored


def rows_of(V, planes):
    return stored(V) if planes == 2 else BitRows(pack(V), V.shape[1])


def kept(rows, folder=None):
    grams = correlate.KeptGrams(folder)
    grams.put("frame", correlate.gram(rows))
    return grams


def same(rows, labels, **options):
    """Sums from correlations, and whether these are those of the rows to the last bit."""
    expected = correlate.photo_sums(rows, labels)
    with kept(rows) as grams:
        got = correlate.photo_sums(rows, labels, gram=grams.get("frame"), **options)
        count = expected.products.shape[0]
        np.testing.assert_array_equal(got.products.read(0, count), expected.products.read(0, count))
        np.testing.assert_array_equal(got.norms, expected.norms)


@pytest.mark.parametrize("planes", [1, 2])
@given(n=st.integers(1, 40), d=st.integers(1, 500), groups=st.integers(0, 5), seed=st.integers(0))
def test_sums_are_those_of_the_rows(planes, n, d, groups, seed):
    rng = np.random.default_rng(seed)
    V = levels(n, d, seed % 1000)
    V[n // 2 :] = V[: n - n // 2] * rng.choice([1, -1], (n - n // 2, 1))  # copies, and negatives
    same(rows_of(V, planes), rng.integers(-1, groups, n))


@pytest.mark.parametrize("planes", [1, 2])
def test_any_budget_will_do(planes, tmp_path, monkeypatch):
    monkeypatch.setattr(_photo_sums, "LEAST_MEMORY", 0)
    labels = np.random.default_rng(1).integers(-1, 50, 300)
    rows = rows_of(levels(300, 3001), planes)
    for memory in (2**20, 2**17 + 2**16):
        same(rows, labels, memory=memory, folder=tmp_path)


@pytest.mark.parametrize("planes", [1, 2])
@pytest.mark.parametrize("certain", [0, 60, 400])
def test_numbers_that_are_too_large_are_counted_again(planes, certain, monkeypatch):
    monkeypatch.setattr(_kept, "_CERTAIN", certain + 1)
    V = levels(60, 1000)
    V[1] = V[0]
    labels = np.random.default_rng(2).integers(-1, 9, 60)
    labels[:2] = 3
    same(rows_of(V, planes), labels)


def test_the_largest_numbers_are_found():
    """Even and odd ones to the last below 2²⁴, from correlations in float32."""
    d, rng = 9_000_001, np.random.default_rng(3)
    scale = (rng.uniform(1, 2, 100) / np.sqrt(5 * d)).astype(np.float32).astype(np.float64)
    numbers = rng.integers(-(_kept._CERTAIN // 2), _kept._CERTAIN // 2, (100, 100)) * 2 + 1
    gram = (numbers * scale[:, np.newaxis] * scale).astype(np.float32)

    class Given:
        planes, pixels, norms = 2, d, 1 / scale

    np.fill_diagonal(numbers, 0)
    np.testing.assert_array_equal(_kept._whole_numbers(gram, Given, 0), numbers)


def test_rows_are_not_read_again():
    rows, labels = rows_of(levels(30, 640), 2), np.repeat([0, 1, -1], 10)
    with kept(rows) as grams:
        rows.words = None
        told = []
        correlate.photo_sums(
            rows, labels, gram=grams.get("frame"), progress=lambda *at: told.append(at)
        )
    assert told[-1] == (30, 30)


def test_several_frames_in_one_file():
    grams = [np.random.default_rng(k).random((k, k), dtype=np.float32) for k in (5, 3, 8)]
    with correlate.KeptGrams() as kept_grams:
        for k, gram in enumerate(grams):
            kept_grams.put(str(k), gram)
        kept_grams.put("2", 2 * grams[2])  # as a run does that had too little memory at first
        for k, factor in ((0, 1), (1, 1), (2, 2)):
            found = kept_grams.get(str(k))
            np.testing.assert_array_equal(found.read(0, found.n), factor * grams[k])
            np.testing.assert_array_equal(found.read(1, 3), factor * grams[k][1:3])
        assert kept_grams.get("another") is None
    assert kept_grams.get("0") is None


def test_what_cannot_be_kept_is_not_there(tmp_path):
    with correlate.KeptGrams(tmp_path / "missing") as grams:
        grams.put("frame", np.ones((3, 3), dtype=np.float32))
        assert grams.get("frame") is None


def test_a_full_disk_is_given_back(tmp_path, monkeypatch):
    with correlate.KeptGrams(tmp_path) as grams:
        grams.put("first", np.ones((3, 3), dtype=np.float32))
        monkeypatch.setattr(grams, "_file", Full(grams._file))
        grams.put("second", np.ones((3000, 3000), dtype=np.float32))
        assert grams.get("second") is None
        assert os.fstat(grams._file.fileno()).st_size == 36
        np.testing.assert_array_equal(grams.get("first").read(0, 3), np.ones((3, 3)))


class Full:
    """A file on a disk that has no room for the second half."""

    def __init__(self, file):
        self._file, self._left = file, 2**24

    def write(self, data):
        self._left -= memoryview(data).nbytes
        if self._left < 0:
            raise OSError(28, "No space left on device")
        self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)


def test_no_lines_are_no_runs():
    assert _photo_sums._Lines(np.zeros((0, 5), dtype=np.float32), 0).runs(64) == []
