"""Rows of one bit a pixel: correlations are the obvious ones, to the last digit."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from threadpoolctl import threadpool_limits

from samecam import correlate
from samecam.correlate import _bit_kernels
from samecam.correlate._bits import Differences
from samecam.store import BitRows, Subset, pack


def signs(n, d, seed=0):
    """Some cameras in noise, as ±1."""
    rng = np.random.default_rng(seed)
    pattern = rng.normal(size=(3, d))[rng.integers(0, 3, n)]
    return np.where(pattern + rng.normal(size=(n, d)) > 0, 1, -1).astype(np.int64)


def bits(S):
    return BitRows(pack(S), S.shape[1])


def obvious(S, T=None):
    """Whole numbers first, then one division: what every way of counting must give."""
    d = S.shape[1]
    return ((S @ (S if T is None else T).T) / d).astype(np.float32)


@given(n=st.integers(0, 30), d=st.integers(1, 700), seed=st.integers(0, 99))
def test_gram_is_the_obvious_one(n, d, seed):
    S = signs(n, d, seed)
    np.testing.assert_array_equal(correlate.gram(bits(S)), obvious(S))


@given(memory=st.integers(25_000, 100_000), seed=st.integers(0, 99))
def test_neither_budget_nor_rows_nor_tiles_change_a_digit(memory, seed):
    S = signs(37, 901, seed)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(37)[: rng.integers(1, 38)]
    store = bits(S)
    expected = obvious(S[rows])
    np.testing.assert_array_equal(correlate.gram(store, rows=rows, memory=memory), expected)
    out = np.full((len(rows), len(rows)), np.nan, dtype=np.float32)
    assert correlate.gram(store, rows=rows, memory=memory // 20, out=out) is out
    np.testing.assert_array_equal(out, expected)


@given(n=st.integers(1, 20), m=st.integers(1, 20), d=st.integers(1, 300))
def test_cross_correlations(n, m, d):
    S, T = signs(n, d), signs(m, d, 1)
    np.testing.assert_array_equal(correlate.cross(bits(S), bits(T)), obvious(S, T))
    small = correlate.cross(bits(S), bits(T), memory=4 * n * m + 16 * (n + m))
    np.testing.assert_array_equal(small, obvious(S, T))
    store = bits(S)
    np.testing.assert_array_equal(correlate.cross(store, store), obvious(S))


def test_bits_with_floats():
    S = signs(6, 333)
    floats = correlate.normalised(np.random.default_rng(0).normal(size=(4, 333)))
    np.testing.assert_allclose(correlate.cross(bits(S), floats), S @ floats.T / 333**0.5, atol=1e-6)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("lower", [False, True])
def test_threads_and_blocks_change_nothing(threads, lower):
    """More rows than a block has, more words than a thread takes."""
    S = signs(203, 64 * 1100 + 3)
    words = pack(S)
    counts = np.zeros((203, 203), dtype=np.int32)

    def take(tile, part):
        counts[tile[0] : tile[1], tile[2] : tile[3]] += part

    with Differences((203, 203), take, lower=lower, threads=threads) as differences:
        differences.add(words, words, 0, 700)
        differences.add(words, words, 700, words.shape[1])
    expected = (S.shape[1] - (S.astype(np.float64) @ S.T)) / 2
    kept = np.tril if lower else np.asarray
    np.testing.assert_array_equal(kept(counts), kept(expected))


def test_threads_are_as_many_as_blas_takes():
    store = bits(signs(50, 5000))
    with threadpool_limits(1):
        one = correlate.gram(store)
    np.testing.assert_array_equal(correlate.gram(store), one)


def test_a_part_of_a_store():
    S = signs(20, 200)
    part = Subset(bits(S), np.array([2, 3, 11]))
    assert part.is_bits
    np.testing.assert_array_equal(correlate.gram(part), obvious(S[[2, 3, 11]]))
    np.testing.assert_array_equal(correlate.gram(part, rows=np.array([2, 0])), obvious(S[[11, 2]]))


def test_progress_counts_photos():
    store = bits(signs(30, 64 * 50 - 7))
    for options in (
        {"memory": 4 * 30 * 30 + 512 * 30},
        {"memory": 2000, "out": np.empty((30, 30), dtype=np.float32)},
    ):
        seen = []
        rows = np.arange(30)[::-1].copy()
        correlate.gram(store, rows=rows, progress=lambda *w, s=seen: s.append(w), **options)
        done = [d for d, _ in seen]
        assert {total for _, total in seen} == {30}
        assert done == sorted(done)
        assert done[-1] == 30
        assert len(done) > 1


def test_the_processor_counts_bits():
    """The compiler made vectors of counting where the processor has them."""
    cpu = Path("/proc/cpuinfo")
    flags = cpu.read_text(encoding="ascii") if cpu.exists() else ""
    if " popcnt" not in flags:
        pytest.skip("this processor counts no bits, or does not say so")
    fresh = njit(nogil=True)(_bit_kernels.count_differences.py_func)  # code from disk has no text
    words = pack(signs(5, 100))
    fresh(words, words, 0, 2, False, 1, np.zeros((5, 5), dtype=np.int32))
    code = "".join(fresh.inspect_asm().values())
    assert "popcnt" in code or "vpshufb" in code  # AVX2 counts by a table of 16
    if "avx512_vpopcntdq" in flags:
        assert "vpopcntq" in code
