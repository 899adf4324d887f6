"""How smooth a row is, and what that says of its correlations with strangers."""

import hashlib

import numpy as np
import pytest
from PIL import Image

from samecam.fingerprint import _colour, frame_row
from samecam.fingerprint._colour import colour
from tests.fingerprint.test_residual import picture
from tests.smooth import colours_of, enlarged, smooth_rows

KEY = hashlib.sha256(b"a").hexdigest()


def unpacked(row, shape):
    """Values of the pixels."""
    if row.values.dtype == np.int8:
        return row.values.reshape(shape)

    def plane(words):
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        return bits[: shape[0] * shape[1]].reshape(shape).astype(int)

    if len(row.values) == -(-shape[0] * shape[1] // 64):
        return 2 * plane(row.values) - 1
    return (2 * plane(row.values[::2]) - 1) * (3 - 2 * plane(row.values[1::2]))


def by_the_book(values):
    """From the products of all pairs of pixels, by the place of the first."""
    (height, width), total = values.shape, 0.0
    values = values.astype(float)
    energy = (values**2).mean()
    for dy in range(-8, 9):
        for dx in range(-8, 9):
            own = np.s_[max(dy, 0) : height + min(dy, 0), max(dx, 0) : width + min(dx, 0)]
            there = np.s_[max(-dy, 0) : height + min(-dy, 0), max(-dx, 0) : width + min(-dx, 0)]
            products = np.full(values.shape, np.nan)
            products[own] = values[own] * values[there]
            phases = [products[a::4, b::4] for a in range(4) for b in range(4)]
            total += np.mean([np.nanmean(phase) ** 2 for phase in phases]) / energy**2
            if dy or dx:  # what is there by chance
                total -= np.mean([1 / np.isfinite(phase).sum() for phase in phases])
    return total**0.5


@pytest.mark.parametrize("dtype", ["bits", "2bits", "int8"])
@pytest.mark.parametrize("shape", [(64, 64), (70, 77)])
def test_it_is_the_autocorrelation_of_the_row(dtype, shape):
    row = frame_row(picture(1, shape), key=KEY, dtype=dtype)
    assert row.colour == pytest.approx(max(1, by_the_book(unpacked(row, shape))), abs=2e-4)
    assert row.colour == colour(row.values, shape)


@pytest.mark.parametrize("dtype", ["bits", "2bits", "int8"])
@pytest.mark.parametrize("shape", [(500, 401), (97, 1000), (400, 66)])
def test_patches_are_spread_over_the_picture(dtype, shape):
    row = frame_row(picture(2, shape), key=KEY, dtype=dtype)
    whole, patches = unpacked(row, shape), _colour._patches(row.values, shape)
    (tops, height), (lefts, width) = (_colour._places(side) for side in shape)
    places = [(y, x) for y in tops for x in lefts]
    assert len(places) == len(patches)
    assert [len(tops), len(lefts)] == [4 if side >= 320 else 1 for side in shape]
    for (y, x), patch in zip(places, patches, strict=True):
        np.testing.assert_array_equal(patch, whole[y : y + height, x : x + width])
    for places_of, length, side in ((tops, height, shape[0]), (lefts, width, shape[1])):
        gaps = np.diff([-length, *places_of, side]) - length
        assert gaps.min() >= 0
        assert gaps.max() <= max(side / len(places_of), 4)
        assert not (places_of % 4).any()


def test_white_noise_has_1_and_an_enlarged_picture_about_its_scale():
    rng = np.random.default_rng(3)
    for factor, low, high in ((1, 1, 1.01), (2, 1.6, 2.4), (4, 3, 4.6)):
        plane = np.rint(20 * enlarged(rng.standard_normal((600, 600)), factor))
        values = np.clip(plane, -127, 127).astype(np.int8)
        assert low <= colour(values.ravel(), plane.shape) <= high


def test_no_value_at_all_is_white():
    assert colour(np.zeros(64 * 64, dtype=np.int8), (64, 64)) == 1


@pytest.mark.parametrize("factor", [1, 2, 4])
def test_strangers_scatter_by_the_root_of_both(factor):
    rows = smooth_rows(60, factor, seed=factor)
    colours = colours_of(rows)
    correlations = rows @ rows.T / rows.shape[1]
    spread = np.sqrt(np.outer(colours, colours) / rows.shape[1])
    z = (correlations / spread)[np.triu_indices(len(rows), 1)]
    assert 0.9 < z.std() < 1.1


def test_a_zoomed_photo_is_smoother():
    rng = np.random.default_rng(0)
    light = 120 + 6 * rng.standard_normal((480, 480))
    plain = Image.fromarray(np.clip(light, 0, 255).astype(np.uint8))
    zoomed = plain.crop((180, 180, 300, 300)).resize((480, 480), Image.Resampling.BICUBIC)
    rows = [frame_row(np.asarray(p), key=KEY, dtype="bits") for p in (plain, zoomed)]
    assert rows[0].colour < 1.2
    assert rows[1].colour > 1.6
