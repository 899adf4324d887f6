"""Groups against all others, tile by tile: the obvious by hand."""

import numpy as np
import pytest

from samecam import correlate
from samecam.frames import Frame
from samecam.store import BitRows, ByteRows, pack

FRAME = Frame(322, 205)  # not all of it is in tiles, which end at multiples of 8
LABELS = np.array([0, 1, 0, -1, 1, 0, 2, 1, 0])
WEIGHTS = np.array([0.5, 0.7, 1.0])


class BitFrames(BitRows):
    frame = FRAME


def rows_of(kind):
    X = np.random.default_rng(2).normal(size=(len(LABELS), FRAME.n_pixels))
    X[:, :6000] += 0.8 * X[3, :6000]  # something that all have at the top
    if kind == "int8":
        values = np.rint(16 * X).clip(-127, 127).astype(np.int8)
        return ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1), FRAME)
    return BitFrames(pack(X, np.abs(X) <= 1 if kind == "2bits" else None), FRAME.n_pixels)


def obvious(rows):
    """Of each group and tile: product, what white ones scatter by, mean and spread at shifts."""
    X = rows.read().astype(float)
    if rows.is_bits:  # rows of two bits count as if they were of one norm
        least = np.abs(X).min(axis=1, keepdims=True)
        X *= least.max() / least
    X = X.reshape(-1, *FRAME.shape)
    sums = np.array([X[k == LABELS].sum(axis=0) for k in range(3)])
    result = np.zeros((3, 6, 4))
    for k in range(3):
        others = sum(WEIGHTS[j] * sums[j] for j in range(3) if j != k)
        boxes = [(t, t + h, x, y) for t, h in ((0, 96), (96, 104)) for x, y in COLUMNS]
        for t, (top, bottom, left, right) in enumerate(boxes):
            a, b = (x[top:bottom, left:right] for x in (sums[k], others))
            height, width = a.shape
            shifted = [
                (a * np.roll(b, (-down, -across), axis=(0, 1))).sum()
                for down in range(0, height, 8)
                for across in range(0, width, 8)
                if min(down, height - down) > 16 or min(across, width - across) > 16
            ]
            white = np.sqrt((a * a).sum() * (b * b).sum() / a.size)
            result[k, t] = (a * b).sum(), white, np.mean(shifted), np.std(shifted, ddof=1)
    return result


COLUMNS = ((0, 104), (104, 216), (216, 320))


@pytest.mark.parametrize("kind", ["bits", "2bits", "int8"])
def test_tiles_are_what_products_and_shifts_of_sums_are(kind):
    rows = rows_of(kind)
    got = correlate.group_tiles(rows, LABELS, WEIGHTS)
    assert got.columns.tolist() == [0, 104, 216, 320]
    assert got.rows.tolist() == [0, 96, 200]
    assert got.box(4) == (96, 200, 104, 216)
    wanted = obvious(rows)
    near = {"rtol": 2e-3, "atol": 1e-4 * wanted[..., 1].max()}
    np.testing.assert_allclose(got.here, wanted[..., 0], **near)
    np.testing.assert_allclose(got.scale, wanted[..., 1], **near)
    known = ~np.isnan(got.spread)
    assert known[:, [0, 4]].all()  # every fourth, and what is alike
    assert not known[:, [3, 5]].any()
    np.testing.assert_allclose(got.mean[known], wanted[..., 2][known], **near)
    np.testing.assert_allclose(got.spread[known], wanted[..., 3][known], **near)


@pytest.mark.parametrize("kind", ["bits", "2bits", "int8"])
def test_memory_does_not_change_them(kind):
    rows = rows_of(kind)
    whole = correlate.group_tiles(rows, LABELS, WEIGHTS)
    for memory in (1, 4 * 104 * 322 * 4):  # one group at a time, and two
        some = correlate.group_tiles(rows, LABELS, WEIGHTS, memory=memory)
        for name in ("here", "scale", "mean", "spread"):
            np.testing.assert_array_equal(getattr(some, name), getattr(whole, name))


@pytest.mark.parametrize("kind", ["bits", "2bits", "int8"])
def test_strips_of_sums_are_the_sums(kind):
    rows = rows_of(kind)
    sums = correlate.group_sums(rows, LABELS)
    X = rows.read().astype(float)
    wanted = [X[k == LABELS].sum(axis=0) for k in range(3)]
    np.testing.assert_allclose(sums, wanted, rtol=2e-3, atol=2e-5)
    at = 0
    for start, part in correlate.sum_strips(rows, correlate.Membership(LABELS), 2**14):
        assert start == at
        np.testing.assert_array_equal(part, sums[:, start : start + part.shape[1]])
        at += part.shape[1]
    assert at == FRAME.n_pixels
