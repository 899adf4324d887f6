"""Rows of two bits a pixel: correlations and sums are the obvious ones, in whole numbers."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from samecam import correlate
from samecam.correlate import _bit_kernels, _photo_sums
from samecam.correlate._bit_sums import BitMembers
from samecam.correlate._bits import Differences
from samecam.evidence import comparisons_from_rows
from samecam.store import BitRows, Subset, pack
from tests.correlate.test_shifted import LENGTHS, rolled, some_offsets


def levels(n, d, seed=0):
    """Some cameras in noise, as ±1 and ±3; of some photos more are large."""
    rng = np.random.default_rng(seed)
    pattern = rng.normal(size=(3, d))[rng.integers(0, 3, n)]
    X = pattern + rng.normal(size=(n, d))
    large = np.abs(X) > rng.uniform(0.5, 3, (n, 1))
    return (np.where(X > 0, 1, -1) * np.where(large, 3, 1)).astype(np.int64)


def stored(V):
    return BitRows(pack(V, np.abs(V) == 1), V.shape[1])


def scales(V):
    return (1 / np.linalg.norm(V, axis=1)).astype(np.float32).astype(np.float64)


def obvious(V, T=None):
    """Whole numbers first, then the scales: what every way of counting must give."""
    T = V if T is None else T
    return ((V @ T.T) * scales(V)[:, np.newaxis] * scales(T)).astype(np.float32)


def with_ones(gram):
    np.fill_diagonal(gram, 1)
    return gram


@given(n=st.integers(0, 30), d=st.integers(1, 700), seed=st.integers(0, 99))
def test_gram_is_the_obvious_one(n, d, seed):
    V = levels(n, d, seed)
    np.testing.assert_array_equal(correlate.gram(stored(V)), with_ones(obvious(V)))


@given(memory=st.integers(25_000, 100_000), seed=st.integers(0, 99))
def test_neither_budget_nor_rows_nor_tiles_change_a_digit(memory, seed):
    V = levels(37, 901, seed)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(37)[: rng.integers(1, 38)]
    store, expected = stored(V), with_ones(obvious(V[rows]))
    np.testing.assert_array_equal(correlate.gram(store, rows=rows, memory=memory), expected)
    out = np.full((len(rows), len(rows)), np.nan, dtype=np.float32)
    correlate.gram(store, rows=rows, memory=memory // 10, out=out)
    np.testing.assert_array_equal(out, expected)


@given(n=st.integers(1, 20), m=st.integers(1, 20), d=st.integers(1, 300))
def test_cross_correlations(n, m, d):
    V, W = levels(n, d), levels(m, d, 1)
    memory = 4 * n * m + 32 * (n + m)
    for options in ({}, {"memory": memory}):
        got = correlate.cross(stored(V), stored(W), **options)
        np.testing.assert_array_equal(got, obvious(V, W))
    (got,) = correlate.crosses([stored(V)], stored(W))
    np.testing.assert_array_equal(got, obvious(V, W))


def test_with_one_bit_and_with_floats():
    V = levels(6, 333)
    unit, signs = V * scales(V)[:, np.newaxis], np.where(V > 0, 1, -1) / 333**0.5
    got = correlate.cross(stored(V), BitRows(pack(V), 333))
    rounding = 333 * np.finfo(np.float32).eps / 4  # what float32 may lose, in any order
    np.testing.assert_allclose(got, unit @ signs.T, atol=rounding)
    got = correlate.cross(stored(V), unit.astype(np.float32))
    np.testing.assert_allclose(got, unit @ unit.T, atol=rounding)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("lower", [False, True])
def test_threads_and_blocks_change_nothing(threads, lower):
    """More rows than a block has, more words than a thread takes."""
    V = levels(103, 64 * 1100 + 3)
    words = stored(V).values
    counts = np.zeros((103, 103), dtype=np.int32)

    def take(tile, part):
        counts[tile[0] : tile[1], tile[2] : tile[3]] += part

    with Differences((103, 103), take, lower=lower, planes=2, threads=threads) as differences:
        differences.add(words, words, 0, 700)
        differences.add(words, words, 700, words.shape[1])
    expected = (9 * V.shape[1] - (V.astype(np.float64) @ V.T)) / 2
    kept = np.tril if lower else np.asarray
    np.testing.assert_array_equal(kept(counts), kept(expected))


def test_counts_of_the_largest_frames_fit():
    """All pixels of 200 megapixels opposed, without counting them: 9 · 2e8 < 2³¹."""
    words = np.zeros((2, 2 * 1024), dtype=np.uint64)
    words[1, ::2] = 2**64 - 1  # −3 and +3
    counts = np.zeros((2, 2), dtype=np.int32)
    _bit_kernels.count_differences(words, words, 0, 2048, False, 2, counts)
    np.testing.assert_array_equal(counts, [[0, 9 * 64 * 1024], [9 * 64 * 1024, 0]])
    assert 9 * 200_000_000 < 2**31


@st.composite
def collections(draw):
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 500))
    seed = draw(st.integers(0, 999))
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, draw(st.integers(0, 5)), n)
    weights = rng.uniform(0.5, 2, n).astype(np.float32) if draw(st.booleans()) else None
    return levels(n, d, seed), labels, weights


@given(collections(), st.integers(1, 600))
def test_products_of_photos_and_groups(collection, width):
    V, labels, weights = collection
    store, n = stored(V), len(V)
    members = correlate.Membership(labels, int(labels.max(initial=-1)) + 1, weights)
    given_members = BitMembers(store, members)
    whole = np.rint(given_members.members.row_weights / given_members.members.unit)
    unit, parts = given_members.members.unit, given_members.parts
    np.testing.assert_allclose(parts, members.row_weights, rtol=0.005)
    inside = labels == np.arange(members.count)[:, np.newaxis]
    sums = (whole.astype(np.int64) * inside) @ V
    rows = np.arange(0, n, 3)
    got = correlate.row_products(store, members, rows, width)
    own = whole.astype(np.int64) * np.square(V, dtype=np.int64).sum(axis=1)
    others = (V @ sums.T - own[:, None] * inside.T) * scales(V)[:, None] * unit
    expected = others + parts[:, None] * inside.T
    np.testing.assert_allclose(got, expected[rows], rtol=1e-14)
    got = correlate.group_products(store, members, width)
    np.testing.assert_allclose(got, (sums @ sums.T) * unit**2, rtol=1e-14)
    memory = 12 * members.count * n + 8 * n + 48 * (n + 64 * members.count) * -(-width // 64)
    got = correlate.other_products(store, members, memory=memory, device="cpu")
    expected = (sums @ V.T) * scales(V) * unit - np.where(inside, parts, 0)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)
    squares = np.square(members.row_weights, dtype=np.float64)
    memory = 8 * members.count**2 + 48 * (n + 64 * members.count) * -(-width // 64)
    got = correlate.other_group_products(store, members, squares, memory=memory, device="cpu")
    own = np.diag((inside * np.square(parts)).sum(axis=1))
    np.testing.assert_allclose(got, (sums @ sums.T) * unit**2 - own, rtol=1e-12, atol=1e-9)


@given(collections(), st.integers(1, 10))
def test_sums_themselves(collection, words):
    V, labels, _ = collection
    store = stored(V)
    sums = correlate.group_sums(store, labels, memory=64 * 3 * len(V) * words)
    members = correlate.Membership(labels)
    parts = BitMembers(store, members).parts
    inside = labels == np.arange(members.count)[:, np.newaxis]
    expected = (parts * inside) @ (V * scales(V)[:, np.newaxis])
    np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=1e-6)


def test_photo_sums_are_the_same_for_every_budget(tmp_path, monkeypatch):
    V = levels(300, 3000)
    labels = np.random.default_rng(1).integers(-1, 50, 300)
    monkeypatch.setattr(_photo_sums, "LEAST_MEMORY", 0)
    seen = [
        correlate.photo_sums(stored(V), labels, memory=memory, folder=tmp_path)
        for memory in (2**30, 2**20, 2**17 + 2**16)
    ]
    assert {sums.products.in_memory for sums in seen} == {True, False}
    first = seen[0].products.read(0, 50)
    for sums in seen[1:]:
        np.testing.assert_array_equal(sums.products.read(0, 50), first)
        np.testing.assert_array_equal(sums.norms, seen[0].norms)


def test_evidence_is_that_of_floats():
    V = levels(60, 2000)
    labels = np.repeat([0, 1, 2, -1], 15)
    store = stored(V)
    floats = comparisons_from_rows(store.read(), labels)
    for source in (store, Subset(store, np.arange(60))):
        of_bits = comparisons_from_rows(source, labels)
        np.testing.assert_allclose(
            of_bits.correlations.read(0, 3), floats.correlations.read(0, 3), atol=5e-4
        )
        np.testing.assert_allclose(of_bits.totals, floats.totals, rtol=5e-4)


def test_a_pair_has_its_correlation_for_evidence():
    """What a photo has with itself is taken away as it was added, however scales are rounded."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 5000))
    X[::2] += 0.1 * X[1::2]  # ten pairs
    small = np.abs(X) <= rng.uniform(0.5, 2, (20, 1))
    V = (np.where(X > 0, 1, -1) * np.where(small, 1, 3)).astype(np.int64)
    pairs = np.repeat((V[::2] * V[1::2]).sum(axis=1) * scales(V)[::2] * scales(V)[1::2], 2)
    of_bits = comparisons_from_rows(stored(V), np.repeat(np.arange(10), 2))
    np.testing.assert_allclose(of_bits.own, pairs, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("d", LENGTHS)
@pytest.mark.parametrize("count", [1, 2, 3, 9, 30])
def test_rows_are_rolled_by_words(d, count):
    V = levels(count + 2, d)
    rows, members = stored(V), np.arange(1, count + 1)
    period, scale = 32 * rows.n_words, scales(V)
    weights, unit = correlate.whole_weights(rows.scales[members], 255)
    whole = np.rint(weights / unit).astype(np.int64)
    offsets, total = some_offsets(period), whole @ V[members]
    got = correlate.shifted_products(rows, members, offsets)
    for k, i in enumerate(members):
        others = total - whole[k] * V[i]
        wanted = [rolled(V[i], others, o, period) * scale[i] * unit for o in offsets]
        np.testing.assert_allclose(got[k], wanted, rtol=1e-12, atol=1e-15)
    stranger = correlate.sum_rows(rows, members).shifted(rows.values[0], scale[0], offsets)
    wanted = [rolled(V[0], total, o, period) * scale[0] * unit for o in offsets]
    np.testing.assert_allclose(stranger, wanted, rtol=1e-12, atol=1e-15)


def test_the_processor_counts_pairs_by_vectors():
    """Three counts for two words, each of one operation on three inputs where there is such."""
    cpu = Path("/proc/cpuinfo")
    flags = cpu.read_text(encoding="ascii") if cpu.exists() else ""
    if "avx512_vpopcntdq" not in flags:
        pytest.skip("this processor has no vectors of counts, or does not say so")
    fresh = njit(nogil=True)(_bit_kernels._sixteen_weighed.py_func)
    words = stored(levels(4, 1000)).values
    fresh(words, words, 0, 0, 0, words.shape[1], np.zeros((4, 4), dtype=np.int32))
    code = "".join(fresh.inspect_asm().values())
    assert "vpopcntq" in code
    assert "vpternlog" in code
