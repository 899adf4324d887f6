"""Halves of groups against each other, tile by tile."""

import numpy as np
import pytest

from samecam.correlate import half_tiles, picture_tiles
from samecam.frames import Frame
from samecam.store import BitRows, ByteRows, pack

FRAME = Frame(200, 136)


class BitFrames(BitRows):
    frame = FRAME


def drawn(sizes, kind, seed=0, strength=0.3):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    patterns = strength * rng.standard_normal((len(sizes), FRAME.n_pixels))
    X = rng.standard_normal((len(labels), FRAME.n_pixels)) + patterns[labels]
    if kind == "2bits":
        return BitFrames(pack(X, np.abs(X) <= 1), FRAME.n_pixels), labels
    values = np.rint(32 * X).clip(-127, 127).astype(np.int8)
    return ByteRows(values, 1 / np.linalg.norm(values.astype(float), axis=1), FRAME), labels


def obvious(rows, members, tiles):
    """Of all photos of a group of an even number, with loops."""
    X = rows.read().astype(float)[members].reshape(-1, *FRAME.shape)
    limit = 3 * np.sqrt(len(X) / 2 / FRAME.n_pixels)
    one, other = (np.clip(X[k::2].sum(axis=0), -limit, limit) for k in (0, 1))
    result, n = [], len(X) / 2
    for top, bottom in zip(tiles.rows[:-1], tiles.rows[1:], strict=True):
        for left, right in zip(tiles.columns[:-1], tiles.columns[1:], strict=True):
            a, b = (half[top:bottom, left:right].ravel() for half in (one, other))
            r = a @ b / np.sqrt(a @ a * (b @ b))
            result.append(r / (n - (n - 1) * r))
    return result


@pytest.mark.parametrize(("kind", "bound"), [("int8", 1e-5), ("2bits", 0.02)])
def test_as_with_loops(kind, bound):
    rows, labels = drawn([6, 4, 12], kind)
    tiles = half_tiles(rows, labels)
    assert tiles.rows.tolist() == [0, 64, 136]
    assert tiles.columns.tolist() == [0, 64, 136, 200]
    for group in range(3):
        slow = obvious(rows, np.flatnonzero(labels == group), tiles)
        np.testing.assert_allclose(tiles.alike[group], slow, atol=bound)


def test_it_is_what_two_photos_have_in_common():
    rows, labels = drawn([16, 40], "int8", strength=0.2)
    alike = half_tiles(rows, labels).alike
    assert alike.mean() == pytest.approx(0.04 / 1.04, rel=0.1)


@pytest.mark.parametrize("kind", ["int8", "2bits"])
def test_memory_changes_nothing(kind):
    rows, labels = drawn([5, 4, 7], kind)
    labels[::5] = -1
    ample, scarce = half_tiles(rows, labels), half_tiles(rows, labels, memory=1)
    np.testing.assert_array_equal(ample.alike, scarce.alike)


def test_of_one_photo_and_of_groups_that_nobody_asks_of_nothing_is_said():
    rows, labels = drawn([1, 2, 3, 4], "int8")
    tiles = half_tiles(rows, labels)
    assert [bool(np.isnan(each).all()) for each in tiles.alike] == [True, False, False, False]
    some = half_tiles(rows, labels, groups=np.array([True, False, True, False]))
    assert np.isnan(some.alike[[0, 1, 3]]).all()
    np.testing.assert_array_equal(some.alike[2], tiles.alike[2])


def test_two_photos_are_as_a_group_of_two():
    rows, labels = drawn([2], "int8")
    one, other = rows.read().reshape(2, *FRAME.shape)
    tiles = picture_tiles(one, 7 * other)
    assert tiles.columns.tolist() == [0, 64, 136, 200]
    np.testing.assert_allclose(tiles.alike, half_tiles(rows, labels).alike, atol=1e-5)
