"""The denoiser row by row gives the rows of the whole plane, to the last bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.fingerprint import _rings, noise_residual
from tests.fingerprint.test_residual import picture


def streamed(image, sigma=3.0, rows=None, spins=1):
    """The residual in blocks: kept whole, or in an array of so many rows."""
    height, width = image.shape
    out = np.full((rows or height, width), np.nan, dtype=np.float32)
    whole = np.full((height, width), np.nan, dtype=np.float32)
    following = 0
    for start, block in _rings.residual_rows(image, sigma, out, spins):
        assert start == following
        whole[start : start + len(block)] = block
        following += len(block)
    assert following == height
    if rows is None:
        np.testing.assert_array_equal(out, whole)
    return whole


@given(
    h=st.integers(1, 200),
    w=st.integers(1, 150),
    rows=st.sampled_from([None, 2, 6, 32, 64]),
    sigma=st.sampled_from([0.7, 3.0]),
    kind=st.sampled_from([np.uint8, np.float32]),
    spins=st.integers(1, 8),
)
def test_equal_to_the_whole_plane(h, w, rows, sigma, kind, spins):
    image = picture(h, (h, w)).astype(kind)
    expected = noise_residual(image, sigma=sigma, spins=spins)
    np.testing.assert_array_equal(streamed(image, sigma, rows, spins), expected)


@pytest.mark.parametrize("shape", [(64, 64), (127, 65), (65, 127), (101, 4000), (700, 333)])
def test_equal_at_odd_shapes(shape):
    image = picture(1, shape)
    image[: shape[0] // 3] = 255
    expected = noise_residual(image)
    for rows in (None, 32):
        np.testing.assert_array_equal(streamed(image, rows=rows), expected)


def test_rows_that_do_not_lie_together_in_memory():
    image = picture(1, (90, 160))
    for view in (image[:, ::2], image[::-1], image.T):
        np.testing.assert_array_equal(streamed(view), noise_residual(view))


def test_rings_are_used_again_and_remember_nothing():
    first, second = picture(1, (200, 120)), picture(2, (200, 120))
    rings = _rings.rings_for(200, 120)
    expected = streamed(second)
    streamed(first)
    next(_rings.residual_rows(first, 3.0, np.empty((32, 120), np.float32)))  # left in the midst
    np.testing.assert_array_equal(streamed(second), expected)
    assert _rings.rings_for(200, 120) is rings


def test_threads_do_not_share_rings():
    images = [picture(k, (150 + k % 2, 130)) for k in range(8)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(streamed, images))
    for image, result in zip(images, results, strict=True):
        np.testing.assert_array_equal(result, noise_residual(image))


def test_rings_stay_short_however_tall_the_picture():
    """About 400 rows of floats as wide as the picture, in all."""
    for height in (64, 1000, 12240):
        rings = _rings.rings_for(height, 64)
        assert rings.places[0, 1] <= 82
        assert rings.places[:, 1].sum() <= 141
    wide = _rings.rings_for(12240, 4000)
    used = sum(2 * n * (4000 >> level) for level, n in enumerate(wide.places[:, 1]))
    used += sum(27 * (2000 >> level) + 8 * (4000 >> level) for level in range(4))
    assert used < 400 * 4000
