"""A few rows with all of a store: the obvious products, whoever else is compared."""

import numpy as np
import pytest

from samecam import correlate
from samecam.store import BitRows, ByteRows, MemoryStore, pack

D = 2500


def noise(n, seed):
    return correlate.normalised(np.random.default_rng(seed).normal(size=(n, D)))


def in_memory(X):
    store = MemoryStore(D)
    for k, row in enumerate(X):
        store.add(f"{k:03}", row)
    store.commit()
    return store


def as_bytes(X):
    values = np.rint(X * 20 * D**0.5).clip(-127, 127).astype(np.int8)
    return ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1))


def as_bits(X):
    return BitRows(pack(X), D)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.asarray, in_memory),
        (np.asarray, np.asarray),
        (as_bytes, as_bytes),
        (as_bits, as_bits),
        (np.asarray, as_bytes),
        (in_memory, as_bits),
    ],
)
def test_each_is_the_obvious_product_whatever_stands_beside_it(first, second):
    few, many = [noise(n, n) for n in (4, 1, 2)], noise(30, 9)
    firsts, store = [first(X) for X in few], second(many)
    whole = correlate.crosses(firsts, store)
    floats = [X if isinstance(X, np.ndarray) else X.read() for X in (*firsts, store)]
    for X, got in zip(floats[:-1], whole, strict=True):
        np.testing.assert_allclose(got, X.astype(float) @ floats[-1].T.astype(float), atol=1e-6)
    for k, one in enumerate(firsts):
        np.testing.assert_array_equal(correlate.crosses([one], store)[0], whole[k])
    for memory in (1, 8 * 37 * 1500):  # bytes for all rows of 1500 pixels
        some = correlate.crosses(firsts, store, memory=memory)
        for got, wanted in zip(some, whole, strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_bits_are_counted_exactly():
    a, b = noise(3, 1), noise(5, 2)
    signs = [np.where(X > 0, 1, -1) for X in (a, b)]
    (got,) = correlate.crosses([as_bits(a)], as_bits(b))
    np.testing.assert_array_equal(got, (signs[0] @ signs[1].T / D).astype(np.float32))


def test_other_lengths_are_refused():
    with pytest.raises(ValueError, match=r"rows have \[5, 2500\] numbers"):
        correlate.crosses([np.zeros((1, 5))], noise(2, 0))
