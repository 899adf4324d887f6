"""Products with shifted sums are those of rolling by hand, to the last digit."""

import numpy as np
import pytest

from samecam import correlate
from samecam.frames import Frame
from samecam.store import BitRows, ByteRows, DiskStore, MemoryStore, Subset, pack

LENGTHS = [64, 100, 128, 1000, 64 * 300, 64 * 300 + 1, 64 * 4100 + 63]


def signs(n, d):
    return np.random.default_rng(n).integers(0, 2, size=(n, d)) * 2 - 1


def levels(n, d, seed=0):
    """Rows of int8 of which some share a pattern, with scales that differ."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-127, 128, size=(n, d)).astype(np.int8)
    values[: n // 2] = (values[: n // 2] + values[0]) // 2
    norms = np.linalg.norm(values.astype(float), axis=1)
    return values, (rng.uniform(0.5, 1, n) / norms).astype(np.float32)


def rolled(a, b, offset, period):
    """Σ a[k] · b[k + offset], both filled up with zeros to the period."""
    a, b = (np.pad(x, (0, period - len(x))) for x in (a, b))
    return a @ np.roll(b, -offset)


def some_offsets(period):
    every = np.array([0, 64, 128, 6400, period // 2 // 64 * 64, period - 128, period - 64])
    return np.unique(every[(every >= 0) & (every < period)])


@pytest.mark.parametrize("d", LENGTHS)
@pytest.mark.parametrize("count", [1, 2, 3, 9, 30])
def test_bits_are_rolled_by_words(d, count):
    S = signs(count + 2, d)
    rows = BitRows(pack(S), d)
    period, members = 64 * rows.n_words, np.arange(1, count + 1)
    offsets, total = some_offsets(period), S[members].sum(axis=0)
    wanted = [[rolled(S[i], total - S[i], o, period) / d for o in offsets] for i in members]
    np.testing.assert_array_equal(correlate.shifted_products(rows, members, offsets), wanted)
    stranger = correlate.sum_rows(rows, members).shifted(rows.values[0], d**-0.5, offsets)
    np.testing.assert_array_equal(stranger, [rolled(S[0], total, o, period) / d for o in offsets])


@pytest.mark.parametrize("d", [64, 100, 1000, 2**15 + 5])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_bytes_are_rolled_by_pixels(d, count):
    values, scales = levels(count + 2, d)
    rows, members = ByteRows(values, scales), np.arange(1, count + 1)
    offsets = some_offsets(d)
    weights = np.rint(scales.astype(float) / (float(scales[members].max()) / 4095))
    assert np.ptp(weights[members]) > 100 or count == 1
    X, unit = values.astype(np.int64), float(scales[members].max()) / 4095
    total = weights[members].astype(np.int64) @ X[members]
    for i, line in zip(members, correlate.shifted_products(rows, members, offsets), strict=True):
        others = total - int(weights[i]) * X[i]
        wanted = [rolled(X[i], others, o, d) * float(scales[i]) * unit for o in offsets]
        np.testing.assert_allclose(line, wanted, rtol=1e-12)
    stranger = correlate.sum_rows(rows, members).shifted(values[0], 0.25, offsets)
    np.testing.assert_allclose(
        stranger, [rolled(X[0], total, o, d) * 0.25 * unit for o in offsets], rtol=1e-12
    )


def test_rounding_the_scales_of_bytes_changes_next_to_nothing():
    values, scales = levels(12, 20_000)
    members, offsets = np.arange(12), 64 * np.arange(40)
    X = values * scales[:, np.newaxis].astype(float)
    got = correlate.shifted_products(ByteRows(values, scales), members, offsets)
    total = X.sum(axis=0)
    wanted = [[rolled(x, total - x, o, 20_000) for o in offsets] for x in X]
    chance = np.std(np.array(wanted)[:, 1:])
    np.testing.assert_allclose(got, wanted, atol=1e-3 * chance, rtol=1e-3)


def test_at_zero_it_is_the_inner_product_with_the_others():
    S = signs(6, 999)
    rows = BitRows(pack(S), 999)
    gram = correlate.gram(rows).astype(float)
    got = correlate.shifted_products(rows, np.arange(6), np.array([0]))[:, 0]
    np.testing.assert_allclose(got, gram.sum(axis=1) - 1, atol=1e-6)


@pytest.mark.parametrize("dtype", ["bits", "int8"])
def test_every_budget_and_every_place_gives_the_same(tmp_path, dtype):
    frame = Frame(90, 80)
    X = signs(8, frame.n_pixels) if dtype == "bits" else levels(8, frame.n_pixels)[0]
    X = correlate.normalised(X)
    with DiskStore.create(tmp_path / "store", frame=frame, dtype=dtype) as store:
        for k, row in enumerate(X):
            store.add(f"{k}", row)
        store.commit()
        rows, members = store.rows(), np.array([1, 2, 4, 6, 7])
        offsets = 64 * np.arange(20)
        whole = correlate.shifted_products(rows, members, offsets)
        for memory in (1, 5000, 2**16):
            some = correlate.shifted_products(rows, members, offsets, memory=memory)
            np.testing.assert_array_equal(some, whole)
        part = Subset(rows, members)
        np.testing.assert_array_equal(
            correlate.shifted_products(part, np.arange(5), offsets), whole
        )
    assert np.abs(whole[:, 1:]).max() > 0


def test_sums_of_many_bytes_stay_within_their_32_bits():
    n = 5000  # of the largest value each, which 4095 steps could not hold
    rows = ByteRows(np.full((n, 64), 127, dtype=np.int8), np.full(n, 1 / 127 / 8))
    total = correlate.sum_rows(rows, np.arange(n))
    assert total.shifted(rows.values[0], 1 / 127 / 8, np.array([0]))[0] == pytest.approx(n)


def test_of_nothing_there_is_nothing():
    rows = BitRows(pack(signs(2, 500)), 500)
    total = correlate.sum_rows(rows, np.zeros(0, dtype=np.intp))
    assert total.shifted(rows.values[0], 1.0, np.array([0, 64])).tolist() == [0, 0]
    assert correlate.shifted_products(rows, np.array([1]), np.array([0, 64])).tolist() == [[0, 0]]


def test_floats_cannot_be_shifted():
    with pytest.raises(TypeError, match="of kind float32; those of bits and int8"):
        correlate.sum_rows(MemoryStore(64), np.zeros(0, dtype=np.intp))
