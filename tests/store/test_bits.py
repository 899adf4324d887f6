"""Rows of one bit a pixel: packing, unpacking, and a store of them in memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.store import BitRows, MemoryStore, Subset, pack, unpack


def signs(n, d, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (n, d)) * 2 - 1


def decoded(S):
    return (S * np.float32(S.shape[1] ** -0.5)).astype(np.float32)


@given(n=st.integers(0, 5), d=st.integers(1, 300), seed=st.integers(0, 99))
def test_bit_k_of_word_j_is_pixel_64j_plus_k(n, d, seed):
    S = signs(n, d, seed)
    words = pack(S)
    np.testing.assert_array_equal(pack(S > 0), words)
    assert words.shape == (n, -(-d // 64))
    assert words.dtype == np.uint64
    for i in range(n):
        ones = {p for p in range(64 * words.shape[1]) if int(words[i, p // 64]) >> p % 64 & 1}
        assert ones == set(np.flatnonzero(S[i] > 0))
    out = np.empty((n, d), dtype=np.float32)
    unpack(words, d, out)
    np.testing.assert_array_equal(out, decoded(S))


@given(st.integers(0, 4), st.integers(0, 63), st.integers(1, 200))
def test_a_part_begins_anywhere(word, first, width):
    S = signs(3, 700)
    start = 64 * word + first
    width = min(width, 700 - start)
    out = np.empty((3, width), dtype=np.float32)
    unpack(pack(S)[:, word:], 700, out, first=first)
    np.testing.assert_array_equal(out, decoded(S)[:, start : start + width])


@pytest.fixture
def S():
    return signs(7, 333)


@pytest.fixture
def store(S):
    return BitRows(pack(S), 333, list("abcdefg"), [f"h{k}" for k in range(7)])


@pytest.mark.parametrize("width", [1, 7, 64, 100, 333, 400])
def test_columns_and_rows_are_floats(store, S, width):
    parts = list(store.columns(width))
    assert [start for start, _ in parts] == list(range(0, 333, width))
    np.testing.assert_array_equal(np.concatenate([p for _, p in parts], axis=1), decoded(S))
    some = [part for _, part in store.columns(width, np.array([5, 2]))]
    np.testing.assert_array_equal(np.concatenate(some, axis=1), decoded(S)[[5, 2]])
    np.testing.assert_array_equal(store.read([3, 0]), decoded(S)[[3, 0]])


@pytest.mark.parametrize("width", [1, 4, 6, 9])
def test_words_as_they_are(store, S, width):
    parts = list(store.words(width))
    assert [start for start, _ in parts] == list(range(0, 6, width))
    np.testing.assert_array_equal(np.concatenate([p for _, p in parts], axis=1), pack(S))
    part = Subset(store, np.array([1, 4, 6]))
    some = [p for _, p in part.words(width, np.array([2, 0]))]
    np.testing.assert_array_equal(np.concatenate(some, axis=1), pack(S)[[6, 1]])


def test_stored_words_and_their_scale(store, S):
    out, scales = np.empty((2, 3), dtype=np.uint64), np.empty(2, dtype=np.float32)
    store.read_stored(np.array([6, 1]), out, scales, start=2)
    np.testing.assert_array_equal(out, pack(S)[[6, 1], 2:5])
    np.testing.assert_array_equal(scales, np.float32(333**-0.5))


def test_what_it_says_of_itself(store):
    assert store.is_bits
    assert store.kind == np.uint64
    assert store.n_words == 6
    assert len(store) == 7
    assert store.index("c") == 2
    assert store.find("h3") == 3
    assert [(r.key, r.sha256, r.has_row) for r in store.records()][1] == ("b", "h1", True)
    assert store.row_bytes == 4 * 333 + 8 * 6
    with pytest.raises(TypeError, match="for reading"):
        store.add("h", None)
    assert not MemoryStore(3).is_bits
    with pytest.raises(TypeError, match="no bits"):
        MemoryStore(3).words(1)


@pytest.mark.parametrize(
    "wrong",
    [
        (np.zeros((2, 5), dtype=np.uint64), 333),
        (np.zeros((2, 6), dtype=np.int64), 333),
        (np.zeros((2, 6), dtype=np.uint64), 333, ["b", "a"]),
        (np.zeros((2, 6), dtype=np.uint64), 333, ["a"]),
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError, match="words have shape|rising"):
        BitRows(*wrong)
