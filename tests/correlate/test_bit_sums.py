"""Sums of rows of bits over groups: whole numbers, the same as the obvious ones."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam import correlate
from samecam.correlate import _bit_sums, _photo_sums
from samecam.correlate._bit_sums import Columns
from samecam.errors import SamecamError
from samecam.evidence import comparisons_from_rows
from samecam.store import BitRows, Subset
from tests.correlate.test_bits import bits, signs


def grouped(S, labels, count, whole=None):
    """Sums over groups of ±1, in whole numbers."""
    q = np.ones(len(S), dtype=np.int64) if whole is None else whole
    return (q * (labels == np.arange(count)[:, np.newaxis])) @ S


@st.composite
def collections(draw):
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 500))
    seed = draw(st.integers(0, 999))
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, draw(st.integers(0, 5)), n)
    whole = rng.integers(1, 64, n) if draw(st.booleans()) else None
    return signs(n, d, seed), labels, whole


def members_of(labels, whole, unit=0.25):
    count = int(labels.max(initial=-1)) + 1
    if whole is None:
        return correlate.Membership(labels, count)
    return correlate.Membership(labels, count, (whole * unit).astype(np.float32), unit)


@given(collections(), st.integers(1, 600))
def test_products_of_photos_and_groups(collection, width):
    S, labels, whole = collection
    store, d, n = bits(S), S.shape[1], len(S)
    members = members_of(labels, whole)
    sums = grouped(S, labels, members.count, whole)
    unit = members.unit
    rows = np.arange(0, n, 3)
    got = correlate.row_products(store, members, rows, width)
    np.testing.assert_array_equal(got, (S[rows] @ sums.T) * unit / d)
    got = correlate.group_products(store, members, width)
    np.testing.assert_array_equal(got, (sums @ sums.T) * unit**2 / d)
    memory = 12 * members.count * n + 8 * n + 16 * (n + 64 * members.count) * -(-width // 64)
    got = correlate.other_products(store, members, memory=memory, device="cpu")
    own = np.zeros((members.count, n))
    own[members.groups, members.inside] = members.weights
    np.testing.assert_array_equal(got, ((sums @ S.T) * unit / d - own).astype(np.float32))
    squares = np.square(members.row_weights, dtype=np.float64)
    memory = 8 * members.count**2 + 16 * (n + 64 * members.count) * -(-width // 64)
    got = correlate.other_group_products(store, members, squares, memory=memory, device="cpu")
    own = np.diag(np.bincount(members.groups, squares[members.inside], members.count))
    np.testing.assert_array_equal(got, (sums @ sums.T) * unit**2 / d - own)


@given(collections(), st.integers(1, 10))
def test_sums_themselves(collection, words):
    S, labels, _ = collection
    memory = 32 * 2 * len(S) * words
    sums = correlate.group_sums(bits(S), labels, memory=memory)
    count = int(labels.max(initial=-1)) + 1
    np.testing.assert_allclose(sums, grouped(S, labels, count) * S.shape[1] ** -0.5, rtol=1e-6)
    centroids = correlate.centroids(bits(S).read(), labels)
    np.testing.assert_allclose(correlate.centroids(bits(S), labels), centroids, atol=1e-6)


def test_a_large_group_has_few_columns_and_a_small_one_its_members():
    labels = np.repeat([0, 1, 2], [200, 2, 3])
    columns = Columns(correlate.Membership(labels))
    np.testing.assert_array_equal(np.bincount(columns.group), [8, 2, 2])
    weighted = correlate.Membership(labels, 3, np.full(205, 63, dtype=np.float32))
    np.testing.assert_array_equal(np.bincount(Columns(weighted).group), [14, 2, 3])


@pytest.mark.parametrize("weight", [1, 5])
def test_large_groups(weight):
    """Carries run through many planes, and products go beyond 32 bits."""
    S = signs(1000, 300)
    whole = np.full(1000, weight)
    labels = np.repeat([0, 1], [900, 100])
    members = members_of(labels, whole, 1.0)
    sums = grouped(S, labels, 2, whole)
    got = correlate.row_products(bits(S), members, np.arange(1000), 10**6)
    np.testing.assert_array_equal(got, (S @ sums.T) / 300)
    got = correlate.group_products(bits(S), members, 10**6)
    np.testing.assert_allclose(got, (sums @ sums.T) / 300, rtol=1e-15)


def test_products_beyond_whole_numbers(monkeypatch):
    S = signs(60, 300)
    labels = np.repeat([0, 1], [40, 20])
    members = correlate.Membership(labels)
    exact = correlate.group_products(bits(S), members, 1000)
    monkeypatch.setattr(_bit_sums, "_EXACT", 0)
    np.testing.assert_allclose(correlate.group_products(bits(S), members, 1000), exact, rtol=1e-12)


def test_weights_are_rounded_to_few_digits():
    weights = np.random.default_rng(0).uniform(20, 60, 500)
    rounded, unit = correlate.whole_weights(weights)
    np.testing.assert_allclose(rounded, weights, atol=0.51 * unit)
    members = correlate.Membership(np.zeros(500, dtype=np.intp), 1, rounded, unit)
    assert members.whole.max() == 63
    np.testing.assert_array_equal(members.whole * unit, rounded.astype(np.float64))
    with pytest.raises(ValueError, match="whole multiples"):
        _ = correlate.Membership(members.labels, 1, weights.astype(np.float32), unit).whole


def test_photo_sums_are_the_same_for_every_budget(tmp_path, monkeypatch):
    S = signs(600, 3000)
    labels = np.random.default_rng(1).integers(-1, 100, 600)
    expected = (grouped(S, labels, 100).astype(float) @ S.T.astype(float)) / 3000
    monkeypatch.setattr(_photo_sums, "LEAST_MEMORY", 0)
    where = set()
    for memory in (2**30, 2**21, 2**18):
        got = correlate.photo_sums(bits(S), labels, memory=memory, folder=tmp_path)
        where.add(got.products.in_memory)
        np.testing.assert_array_equal(got.products.read(0, 100), expected)
        np.testing.assert_array_equal(got.norms, 1)
    assert where == {True, False}
    with pytest.raises(SamecamError, match="raise it"):
        correlate.photo_sums(bits(S), labels, memory=160_000)
    none = correlate.photo_sums(bits(S), np.full(600, -1))
    assert none.products.shape == (0, 600)


def test_photo_sums_count_photos(monkeypatch):
    S, labels = signs(600, 3000), np.arange(600) % 60
    monkeypatch.setattr(_photo_sums, "LEAST_MEMORY", 0)
    for memory in (2**20, 2**18):
        seen = []
        correlate.photo_sums(
            bits(S), labels, memory=memory, progress=lambda *a, s=seen: s.append(a)
        )
        done = [d for d, _ in seen]
        assert {total for _, total in seen} == {600}
        assert done == sorted(done)
        assert len(set(done)) > 1
        assert done[-1] == 600


def test_evidence_from_bits():
    S = signs(60, 2000)
    labels = np.repeat([0, 1, 2, -1], 15)
    store = bits(S)
    for source in (store, Subset(store, np.arange(60))):
        given_bits = comparisons_from_rows(source, labels)
        floats = comparisons_from_rows(store.read(), labels)
        np.testing.assert_allclose(
            given_bits.correlations.read(0, 3), floats.correlations.read(0, 3), atol=1e-5
        )
        np.testing.assert_allclose(given_bits.totals, floats.totals, rtol=1e-5)


def test_what_is_held_stays_within_the_budget():
    rng = np.random.default_rng(0)
    n, words = 400, 20_000
    store = BitRows(rng.integers(2**64, size=(n, words), dtype=np.uint64), 64 * words)
    members = correlate.Membership(np.arange(n, dtype=np.intp) % 30)
    rows = np.arange(n)[::-1].copy()  # not in one piece
    works = (
        lambda memory: correlate.gram(store, rows=rows, memory=memory),
        lambda memory: correlate.other_products(store, members, memory=memory, device="cpu"),
        lambda memory: correlate.other_group_products(
            store, members, np.ones(n), memory=memory, device="cpu"
        ),
        lambda memory: correlate.photo_sums(store, members.labels, memory=memory),
    )
    for work in works:
        work(2**30)  # compiled code
        for memory in (20 * 2**20, 60 * 2**20):
            tracemalloc.start()
            work(memory)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < memory + 2**20
