"""The fused denoiser against the slow obvious one, the golden arrays and its promises."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from samecam.fingerprint import noise_residual
from tests.reference import residual as reference


def picture(seed, shape):
    """Smooth shading, an edge and noise: every branch of the shrinkage is taken."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[0], : shape[1]]
    base = 90 + 60 * np.sin(x / 37) + 40 * np.cos(y / 23) + 70 * (x > shape[1] // 2)
    noise = rng.normal(0, 3, shape)
    base = base[..., np.newaxis] if len(shape) == 3 else base
    return np.clip(base + noise, 0, 255).astype(np.uint8)


@given(
    h=st.integers(16, 90),
    w=st.integers(16, 90),
    channels=st.sampled_from([None, 1, 3]),
    sigma=st.sampled_from([0.7, 2.0, 3.0, 5.0]),
    spins=st.sampled_from([1, 2, 5]),
    seed=st.integers(0, 2**32 - 1),
)
def test_agrees_with_the_reference(h, w, channels, sigma, spins, seed):
    image = picture(seed, (h, w) if channels is None else (h, w, channels))
    expected = reference.noise_residual(image, sigma, spins)
    result = noise_residual(image, sigma=sigma, spins=spins)
    assert result.dtype == np.float32
    assert result.shape == image.shape
    np.testing.assert_allclose(result, expected, atol=1e-5)


@pytest.mark.parametrize("shape", [(512, 512, 3), (300, 517), (1, 1), (3, 7), (64, 8, 3)])
def test_shapes_at_and_far_from_multiples_of_sixteen(shape):
    image = picture(1, shape)
    np.testing.assert_allclose(noise_residual(image), reference.noise_residual(image), atol=1e-5)


def test_golden_residuals(golden_dir, photos_dir):
    golden = np.load(golden_dir / "residual_prnu_python.npz")
    assert len(golden.files) == 2
    for key in golden.files:
        name, sigma = key.split("_sigma")
        image = np.asarray(Image.open(photos_dir / "images" / f"{name}.jpg"))[:512, :512]
        result = noise_residual(image, sigma=float(sigma))
        np.testing.assert_allclose(result, golden[key], atol=1e-5)


def test_every_type_of_pixel_gives_the_same_numbers():
    image = picture(2, (65, 70, 3))
    expected = noise_residual(image)
    for dtype in (np.int32, np.uint16, np.float16, np.float32, np.float64):
        np.testing.assert_array_equal(noise_residual(image.astype(dtype)), expected)
    strided = np.asfortranarray(np.pad(image, ((2, 0), (0, 3), (0, 0))))[2:, :-3]
    np.testing.assert_array_equal(noise_residual(strided), expected)


def test_input_is_not_modified_and_results_are_not_shared():
    image = picture(3, (40, 50, 3)).astype(np.float32)
    before = image.copy()
    first = noise_residual(image)
    kept = first.copy()
    noise_residual(picture(4, (40, 50, 3)))
    np.testing.assert_array_equal(image, before)
    np.testing.assert_array_equal(first, kept)


def test_threads_do_not_disturb_each_other():
    images = [picture(s, (96, 96 + s, 3)) for s in range(8)]
    expected = [noise_residual(i) for i in images]
    results = [None] * len(images)

    def work(k):
        for _ in range(5):
            results[k] = noise_residual(images[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(images))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for result, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize(
    ("image", "sigma", "words"),
    [
        (np.zeros((4, 4, 4, 4)), 3.0, "shape"),
        (np.zeros((0, 4)), 3.0, "shape"),
        (np.zeros((8, 8), dtype=complex), 3.0, "dtype"),
        (np.full((8, 8), np.nan), 3.0, "NaN"),
        (np.zeros((8, 8)), 0.0, "sigma"),
        (np.zeros((8, 8)), float("nan"), "sigma"),
    ],
)
def test_bad_input_is_refused(image, sigma, words):
    with pytest.raises(ValueError, match=words):
        noise_residual(image, sigma=sigma)


@pytest.mark.parametrize("spins", [0, 9, 1.5, None])
def test_a_wrong_number_of_spins_is_refused(spins):
    with pytest.raises(ValueError, match="spins"):
        noise_residual(np.zeros((8, 8)), spins=spins)
