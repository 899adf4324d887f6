"""Rows of two bits a pixel: packing, unpacking, and stores of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.frames import Frame
from samecam.store import BitRows, DiskStore, Subset, pack, unpack


def levels(n, d, seed=0):
    """−3, −1, +1 and +3."""
    return np.random.default_rng(seed).choice([-3, -1, 1, 3], (n, d))


def packed(V):
    return pack(V, np.abs(V) == 1)


def unit(V):
    return V / np.linalg.norm(V, axis=1, keepdims=True)


@given(n=st.integers(0, 5), d=st.integers(1, 300), seed=st.integers(0, 99))
def test_signs_and_small_ones_alternate(n, d, seed):
    V = levels(n, d, seed)
    words = packed(V)
    assert words.shape == (n, 2 * -(-d // 64))
    np.testing.assert_array_equal(words[:, ::2], pack(V))
    np.testing.assert_array_equal(words[:, 1::2], pack(np.abs(V) == 1))
    rows = BitRows(words, d)
    assert (rows.planes, rows.n_words) == (2, words.shape[1])
    np.testing.assert_allclose(rows.scales, np.linalg.norm(V, axis=1) ** -1.0, rtol=1e-6)
    np.testing.assert_allclose(rows.read(), unit(V), rtol=1e-6)


@given(st.integers(0, 4), st.integers(0, 63), st.integers(1, 200))
def test_a_part_begins_anywhere(word, first, width):
    V = levels(3, 700)
    start = 64 * word + first
    width = min(width, 700 - start)
    out = np.empty((3, width), dtype=np.float32)
    scales = np.array([1, 2, 3], dtype=np.float32)
    unpack(packed(V)[:, 2 * word :], 700, out, first=first, scales=scales)
    np.testing.assert_array_equal(out, V[:, start : start + width] * scales[:, np.newaxis])


@pytest.fixture(params=["memory", "disk"])
def store(request, tmp_path):
    """Seven rows of 333 pixels."""
    V = levels(7, 333)
    if request.param == "memory":
        yield BitRows(packed(V), 333)
        return
    with DiskStore.create(tmp_path / "s", frame=Frame(333, 1), dtype="2bits") as made:
        for k, row in enumerate(V):
            made.add(f"{k}", row)
        made.commit()
        yield made.rows()


@pytest.mark.parametrize("width", [1, 7, 64, 100, 333, 400])
def test_columns_and_rows_are_floats(store, width):
    V = unit(levels(7, 333))
    parts = [part.copy() for _, part in store.columns(width)]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), V, rtol=1e-6)
    some = [part.copy() for _, part in store.columns(width, np.array([5, 2]))]
    np.testing.assert_allclose(np.concatenate(some, axis=1), V[[5, 2]], rtol=1e-6)
    np.testing.assert_allclose(store.read([3, 0]), V[[3, 0]], rtol=1e-6)


@pytest.mark.parametrize("width", [1, 2, 5, 12, 20])
def test_parts_of_words_have_all_bits_of_their_pixels(store, width):
    words = packed(levels(7, 333))
    parts = [(start, part.copy()) for start, part in store.words(width)]
    assert [start for start, _ in parts] == list(range(0, 12, max(2, width // 2 * 2)))
    got = np.concatenate([part for _, part in parts], axis=1)
    np.testing.assert_array_equal(got, words)
    part = Subset(store, np.array([1, 4, 6]))
    assert (part.planes, part.n_words) == (2, 12)
    some = [p.copy() for _, p in part.words(width, np.array([2, 0]))]
    np.testing.assert_array_equal(np.concatenate(some, axis=1), words[[6, 1]])


def test_the_ending_says_what_it_is(tmp_path):
    with DiskStore.create(tmp_path / "s", frame=Frame(70, 1), dtype="2bits") as store:
        store.add("a", levels(1, 70)[0])
        store.commit()
    (shard,) = (tmp_path / "s/shards/70x1").iterdir()
    assert shard.name == "00000.2bits"
    assert shard.stat().st_size == 2 * 2 * 8
