"""Patterns made smaller, warped, cut and packed: against the plain way to do it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import map_coordinates

from samecam import correlate
from samecam.frames import Frame
from samecam.register import View
from samecam.register._resample import middle, reduced, turned, warped
from samecam.register._rows import Turning, placed_rows, places, scaled_rows
from samecam.store import BitRows, pack
from tests.register.sensors import sensor, shown


def cubic(t):
    """Keys' kernel with a = −1/2."""
    t = abs(t)
    if t < 1:
        return 1.5 * t**3 - 2.5 * t**2 + 1
    return -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2 if t < 2 else 0.0


def dense(size, scale, n):
    """(n, size): how much each pixel of a line counts in each of n smaller ones."""
    reach, weights = max(scale, 1.0), np.zeros((n, size))
    for i in range(n):
        at = (i - (n - 1) / 2) * scale + (size - 1) / 2
        if not -0.5 <= at <= size - 0.5:
            continue
        near = range(int(at - 2 * reach) - 2, int(at + 2 * reach) + 3)
        total = sum(cubic((k - at) / reach) for k in near)
        for k in near:
            if 0 <= k < size:
                weights[i, k] = cubic((k - at) / reach) / total
    return weights


def plainly_reduced(pattern, scale, shape):
    down, across = (dense(pattern.shape[k], scale, shape[k]) for k in range(2))
    return down @ pattern.astype(np.float64) @ across.T


@given(
    st.tuples(st.integers(1, 43), st.integers(1, 43)),
    st.floats(0.5, 6),
    st.tuples(st.integers(1, 24), st.integers(1, 24)),
    st.sampled_from((np.int8, np.float32)),
)
def test_a_smaller_pattern_is_that_of_dense_weights(size, scale, shape, kind):
    pattern = np.random.default_rng(size).integers(-127, 128, size).astype(kind)
    expected = plainly_reduced(pattern, scale, shape)
    assert reduced(pattern, scale, shape) == pytest.approx(expected, abs=1e-3)


def test_a_smaller_pattern_depends_on_no_pattern_before():
    """Arrays of passing use are taken again."""
    large, small = (np.ones((n, n + 9), dtype=np.float32) for n in (90, 31))
    before = reduced(small, 1.3, (20, 24))
    reduced(large, 1.1, (70, 70))
    assert (reduced(small, 1.3, (20, 24)) == before).all()


@pytest.mark.parametrize("scale", [1.0, 1.27, 2.0, 3.9])
def test_what_is_constant_stays_so(scale):
    made = reduced(np.full((160, 190), 7, dtype=np.int8), scale, (21, 24))
    assert made == pytest.approx(7, abs=1e-5)


@pytest.mark.parametrize("scale", [2.0, 2.3, 3.0, 4.5])
def test_nothing_is_aliased(scale):
    y, x = np.mgrid[:200, :210]
    board = np.where((x + y) % 2, 100, -100).astype(np.int8)
    assert np.abs(reduced(board, scale, (20, 20))).max() < 2
    stripes = np.where(x % 2, 100, -100).astype(np.int8)
    assert np.abs(reduced(stripes, scale, (20, 20))).max() < 2


@pytest.mark.parametrize(
    "view",
    [
        View(),
        View(90, True, 1.0, 0.0, (2.0, -1.0)),
        View(180, False, 1.04, 0.02, (0.5, 0.25)),
        View(270, False, 0.97, -0.03, (-1.5, 0.0)),
    ],
    ids=lambda view: f"{view.turn}",
)
def test_a_warped_picture_shows_the_sensor(view):
    """A smooth picture, sampled by the view and by its definition."""
    camera = Frame(90, 71)
    picture = Frame(71, 90) if view.turn % 180 else camera
    y, x = np.mgrid[: picture.height, : picture.width]
    smooth = np.sin(x / 5 + 0.1 * y).astype(np.float32)
    points = np.mgrid[: camera.width, : camera.height].transpose(2, 1, 0).reshape(-1, 2)
    seen = view.seen(points, picture, camera)
    expected = map_coordinates(smooth, seen.T[::-1], order=3).reshape(camera.shape)
    inside = ((seen > 3) & (seen < np.array(picture) - 4)).all(axis=1).reshape(camera.shape)
    assert inside.mean() > 0.7
    assert warped(smooth, view, camera)[inside] == pytest.approx(expected[inside], abs=0.01)


@pytest.mark.parametrize("scale", [1.3, 2.5])
def test_a_zoomed_picture_is_warped_back(scale):
    camera = picture = Frame(120, 90)
    pattern = sensor(3, camera)
    back = warped(shown(pattern, View(scale=scale), picture), View(scale=scale), camera)
    half_x, half_y = int(picture.width / scale / 2) - 6, int(picture.height / scale / 2) - 6
    part = np.s_[45 - half_y : 45 + half_y, 60 - half_x : 60 + half_x]
    assert np.corrcoef(back[part].ravel(), pattern[part].ravel())[0, 1] > 0.85


@given(
    st.tuples(st.integers(1, 20), st.integers(1, 20)),
    st.tuples(st.integers(1, 20), st.integers(1, 20)),
    st.integers(-4, 4),
    st.integers(-4, 4),
)
def test_a_middle_is_cut_out_of_zeros_without_end(size, shape, dx, dy):
    pattern = np.arange(1, 1 + size[0] * size[1]).reshape(size)
    wide = np.pad(pattern, 50)
    top, left = (50 + (size[k] - shape[k]) // 2 for k in range(2))
    expected = wide[top + dy : top + dy + shape[0], left + dx : left + dx + shape[1]]
    assert middle(pattern, shape, dx, dy).tolist() == expected.tolist()


def numbers(values):
    """±1 below the root mean square of what is not 0, ±3 above; column by column."""
    flat = values.T.ravel()
    rms = np.sqrt(np.square(flat, dtype=np.float64).sum() / max(np.count_nonzero(flat), 1))
    return np.sign(flat) * np.where(np.abs(flat) < rms, 1, 3)


def unpacked(words):
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").reshape(-1, 2, 64)
    return np.where(bits[:, 0], 1, -1).ravel() * np.where(bits[:, 1], 1, 3).ravel()


def packed_plainly(values):
    made = numbers(values)
    return pack((made > 0)[np.newaxis], (np.abs(made) == 1)[np.newaxis])[0]


def test_scaled_rows_are_the_pack_of_the_plain_arrays():
    pattern, scales = sensor(1, Frame(61, 53)), np.array([0.97, 1.0, 1.31])
    rows = scaled_rows(pattern, scales, 16)
    for k, scale in enumerate(scales):
        plainly = plainly_reduced(pattern, scale, (16, 16)).astype(np.float32)
        assert rows.values[k].tolist() == packed_plainly(plainly).tolist()


def test_large_scales_go_by_smaller_patterns():
    """Which is not the same to the last bit, but nearly."""
    pattern, scales = sensor(1, Frame(310, 290)), np.array([2.61, 4.0])
    rows = scaled_rows(pattern, scales, 32)
    for k, scale in enumerate(scales):
        plainly = numbers(plainly_reduced(pattern, scale, (32, 32)))
        assert np.corrcoef(plainly, unpacked(rows.values[k]))[0, 1] > 0.85


def test_placed_rows_are_the_pack_of_the_plain_arrays():
    pattern = (20 * sensor(2, Frame(40, 36))).round().astype(np.int8)
    ways = (Turning(0, False), Turning(90, False), Turning(180, True))
    spots = places(ways, 1)
    assert len(set(spots)) == len(spots) == 27
    words = placed_rows(pattern, spots, 24)
    for k, (way, x, y) in enumerate(spots):
        part = pattern[6 + y : 30 + y, 8 + x : 32 + x].astype(np.float32)
        expected = packed_plainly(turned(part, *way))
        nothing = turned(part, *way).T.ravel() == 0
        differ = unpacked(words[k]) != unpacked(expected)
        assert (differ <= nothing).all()


def test_products_are_those_of_the_numbers():
    first, second = sensor(1, Frame(50, 50)), sensor(2, Frame(50, 50))
    spots = places([Turning(0, False)], 1)
    rows = scaled_rows(first, np.array([1.0, 1.1]), 32)
    others = BitRows(placed_rows(second, spots, 32), 32 * 32)
    a, b = (np.stack([unpacked(row) for row in some.values]) for some in (rows, others))
    a, b = (some / np.linalg.norm(some, axis=1, keepdims=True) for some in (a, b))
    assert correlate.cross(rows, others) == pytest.approx(a @ b.T, abs=1e-6)


def test_what_is_outside_of_a_pattern_is_chance():
    """Else strangers of small frames were alike where both have ended."""
    small = (20 * sensor(4, Frame(24, 24))).round().astype(np.int8)
    rows = scaled_rows(small, np.array([1.0]), 64)
    others = placed_rows(small[::-1], places([Turning(0, False)], 0), 64)
    outside = np.ones((64, 64), dtype=bool)
    outside[17:47, 17:47] = False
    a, b = (unpacked(some[0])[outside.T.ravel()] for some in (rows.values, others))
    assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(outside.sum())
    assert abs(a.mean()) < 12 / np.sqrt(outside.sum())
