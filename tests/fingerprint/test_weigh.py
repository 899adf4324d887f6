"""What counts more in a residual: light, and frequencies of which there is little."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.fingerprint import noise_residual
from samecam.fingerprint._weigh import brightened, cosines, measured, mixed, one_of, weigh
from tests.fingerprint.test_residual import picture
from tests.reference import residual as reference


@given(
    h=st.integers(8, 150),
    w=st.integers(8, 700),
    bytewise=st.booleans(),
    seed=st.integers(0, 99),
)
def test_agrees_with_the_reference(h, w, bytewise, seed):
    luma = picture(seed, (h, w))
    luma = luma if bytewise else luma.astype(np.float64) * 0.7
    residual = noise_residual(luma)
    expected = reference.weighed(residual, luma)
    weigh(residual, luma)
    np.testing.assert_allclose(residual, expected, atol=2e-5 * np.abs(expected).max())


def test_energies_of_a_large_picture_are_of_some_blocks():
    assert [one_of(shape) for shape in ((64, 64), (1024, 1024), (3000, 4000))] == [1, 4, 11]
    luma = picture(1, (900, 1200))
    assert one_of(luma.shape) == 4
    residual = noise_residual(luma)
    expected = reference.weighed(residual, luma)
    weigh(residual, luma)
    np.testing.assert_allclose(residual, expected, atol=2e-5 * np.abs(expected).max())


@given(rows=st.sampled_from([8, 16, 32, 64]), h=st.integers(20, 140), seed=st.integers(0, 99))
def test_rows_that_come_in_blocks_give_the_same_bits(rows, h, seed):
    luma = picture(seed, (h, 70))
    whole, apart = (noise_residual(luma) for _ in range(2))
    weigh(whole, luma)
    blocks = [(start, apart[start : start + rows]) for start in range(0, h, rows)]
    found = measured(luma.shape, brightened(luma, blocks))
    list(mixed(found, blocks))
    np.testing.assert_array_equal(whole, apart)


def test_bright_pixels_count_more_and_white_noise_stays_white():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(800, 800)).astype(np.float32)
    luma = np.full((800, 800), 127.0)
    luma[:, 400:] = 7.0
    weighed = noise.copy()
    weigh(weighed, luma)
    bright, dark = (np.std(part) for part in (weighed[:, :400], weighed[:, 400:]))
    assert bright / dark == pytest.approx(4, rel=0.05)
    flat = noise.copy()
    weigh(flat, np.full((800, 800), 127.0))
    assert np.corrcoef(flat.ravel(), noise.ravel())[0, 1] > 0.999


def test_a_frequency_that_is_too_strong_is_brought_down_by_half_its_excess():
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(640, 640))
    coefficients = (cosines() @ noise.reshape(80, 8, 640)).copy()
    coefficients[:, 3] *= 10
    strong = (cosines().T @ coefficients).reshape(640, 640).astype(np.float32)
    weigh(strong, np.full((640, 640), 127.0))
    left = np.square(cosines() @ strong.reshape(80, 8, 640)).mean(axis=(0, 2))
    ratio = left[3] / np.delete(left, 3).mean()
    assert ratio == pytest.approx(100**0.75, rel=0.1)


@pytest.mark.parametrize("shape", [(7, 30), (30, 5), (1, 1)])
def test_a_picture_without_a_whole_block_is_weighed_by_its_light(shape):
    luma = picture(3, shape)
    residual = noise_residual(luma)
    level = np.maximum(luma - residual, 0)
    expected = residual * np.sqrt((level + 1) / 128)
    weigh(residual, luma)
    np.testing.assert_allclose(residual, expected, rtol=1e-5, atol=1e-6)


def test_nothing_stays_nothing():
    residual = np.zeros((64, 64), np.float32)
    weigh(residual, np.full((64, 64), 255, np.uint8))
    assert not residual.any()
