"""Rows without some pixels of the frame."""

import pickle

import numpy as np
import pytest

from samecam import correlate
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.store import (
    BitRows,
    ByteRows,
    DiskStore,
    FingerprintStore,
    MemoryStore,
    RowsWithout,
    Subset,
    pack,
)

N, D = 9, 1000  # the last 64 pixels are 40


def vectors():
    X = np.random.default_rng(0).normal(size=(N, D))
    X += 0.5 * np.random.default_rng(1).normal(size=D)
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)


def stored(kind, folder):
    X = vectors()
    if kind == "words":
        return BitRows(pack(X), D)
    if kind == "pairs":
        return BitRows(pack(X, np.abs(X) <= D**-0.5), D)
    if kind == "bytes":
        values = np.rint(1000 * X).astype(np.int8)
        return ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1))
    store = MemoryStore(D)
    if kind != "memory":
        store = DiskStore.create(folder / kind, frame=Frame(D, 1), dtype=kind)
    for k in range(N):
        store.add(f"{k}", X[k], sha256=f"h{k}")
    store.commit()
    return store if kind == "memory" else store.rows()


KINDS = ["memory", "float32", "float16", "int8", "bits", "2bits", "words", "pairs", "bytes"]


@pytest.fixture(params=KINDS)
def whole(request, tmp_path):
    with stored(request.param, tmp_path) as rows:
        yield rows


def pixels(*places):
    inside = np.zeros(D, dtype=bool)
    inside[list(places)] = True
    return inside


# At the beginning, in the middle twice, and at the end, where 40 pixels go.
PLACES = [(0,), (200, 201, 500), (999,), (63, 64, 700, 990), ()]


@pytest.fixture(params=PLACES)
def inside(request):
    return pixels(*request.param)


def left_of(inside):
    """As by hand: pixels go 64 at a time."""
    result = np.ones(D, dtype=bool)
    for place in np.flatnonzero(inside):
        result[place // 64 * 64 : place // 64 * 64 + 64] = False
    return result


def expected(whole, inside):
    X = whole.read()[:, left_of(inside)].astype(np.float64)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def test_rows_are_those_of_fewer_pixels(whole, inside):
    rows, X = RowsWithout(whole, inside), expected(whole, inside)
    assert (len(rows), rows.n_pixels, rows.kind, rows.planes) == (
        *X.shape,
        whole.kind,
        whole.planes,
    )
    assert (list(rows.keys), list(rows.hashes)) == (list(whole.keys), list(whole.hashes))
    np.testing.assert_array_equal(rows.kept, left_of(inside))
    np.testing.assert_allclose(rows.read(), X, atol=3e-6)
    some = np.array([1, 4, 8])
    for width in (64, 192, 5000):
        for chosen in (None, some):
            parts, at = [], 0
            for start, part in rows.columns(width, chosen):
                assert start == at
                parts.append(part.copy())
                at += part.shape[1]
            got = np.concatenate(parts, axis=1)
            np.testing.assert_allclose(got, X if chosen is None else X[chosen], atol=3e-6)


@pytest.mark.parametrize("width", [None, 4, 70])
def test_rows_as_they_are_stored_in_one_piece_or_in_strips(whole, inside, width):
    rows, X = RowsWithout(whole, inside), expected(whole, inside)
    numbers = rows.n_words if rows.is_bits else rows.n_pixels
    some, checks = np.array([0, 5, 6]), np.zeros(3, dtype=np.uint32)
    parts, scales = [], np.zeros(3, dtype=np.float32)
    for start in range(0, numbers, width or numbers):
        part = np.empty((3, min(width or numbers, numbers - start)), dtype=rows.kind)
        more = {"start": start, "checks": checks} if width else {}
        rows.read_stored(some, part, scales, n_threads=2, **more)
        parts.append(part)
    values = np.concatenate(parts, axis=1)
    if rows.is_bits:
        packed = BitRows(values, rows.n_pixels)
        np.testing.assert_allclose(scales, packed.scales, rtol=1e-5)
        got = packed.read()
    else:
        got = values.astype(np.float64) * scales[:, np.newaxis]
    np.testing.assert_allclose(got, X[some], atol=3e-6)


def test_correlations_are_those_of_fewer_pixels(whole, inside):
    rows, X = RowsWithout(whole, inside), expected(whole, inside)
    np.testing.assert_allclose(correlate.gram(rows), X @ X.T, atol=1e-5)
    labels = np.array([0, 0, 1, 1, 1, -1, -1, 0, 1])
    members = correlate.Membership(labels, 2)
    sums = correlate.other_products(rows, members, memory=2**20, device="cpu")
    gram = X @ X.T - np.eye(N)
    by_hand = np.stack([gram[labels == c].sum(axis=0) for c in range(2)])
    np.testing.assert_allclose(sums, by_hand, atol=1e-4)


def test_rows_of_a_part_of_a_store_that_are_sent_to_another_process(tmp_path):
    inside = pixels(200, 999)
    for kind in ("int8", "2bits"):
        with stored(kind, tmp_path) as whole:
            rows = RowsWithout(Subset(whole, np.array([0, 2, 3, 7, 8])), inside)
            assert rows.folder == whole.folder
            sent = pickle.dumps(rows.on_disk(np.array([1, 3])))
            X = expected(whole, inside)
        assert len(sent) < 4000
        with pickle.loads(sent) as got:
            assert isinstance(got, FingerprintStore)
            np.testing.assert_allclose(got.read(), X[[2, 7]], atol=3e-6)
    assert RowsWithout(stored("words", tmp_path), inside).on_disk(np.array([0])) is None


def test_a_row_that_is_damaged_where_it_is_left_out_is_told(tmp_path):
    with stored("int8", tmp_path) as whole:
        rows = RowsWithout(whole, pixels(999))
    (shard,) = (tmp_path / "int8").glob("shards/*/*")
    data = bytearray(shard.read_bytes())
    data[-1] ^= 255
    shard.write_bytes(data)
    scales, numbers = np.empty(N, dtype=np.float32), np.arange(N)
    with pytest.raises(SamecamError, match="damaged"):
        rows.read_stored(numbers, np.empty((N, rows.n_pixels), dtype=np.int8), scales)
    with pytest.raises(SamecamError, match="damaged"):
        correlate.gram(rows)


def test_something_has_to_be_left():
    with pytest.raises(ValueError, match="leave out fewer"):
        RowsWithout(BitRows(pack(vectors()), D), np.ones(D, dtype=bool))
