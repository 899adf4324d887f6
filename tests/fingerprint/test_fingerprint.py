"""The whole fingerprint: agreement with the slow one, and what each step promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.fingerprint import NoResidualError, fingerprint, noise_residual
from tests.fingerprint.test_residual import picture
from tests.reference import residual as reference


@given(h=st.integers(64, 130), w=st.integers(64, 130), grid=st.booleans(), seed=st.integers(0, 99))
@pytest.mark.parametrize(("spins", "weigh"), [(1, False), (2, False), (2, True)])
def test_agrees_with_the_reference(spins, weigh, h, w, grid, seed):
    image = picture(seed, (h, w, 3))
    result = fingerprint(image, preset="default" if grid else "paper", spins=spins, weigh=weigh)
    assert result.dtype == np.float32
    assert result.shape == (h * w,)
    expected = reference.fingerprint(image, grid=grid, spins=spins, weigh=weigh)
    np.testing.assert_allclose(result, expected, atol=1e-6)


def test_unit_norm_zero_mean_and_nothing_left_on_the_grid():
    image = picture(0, (200, 173, 3))
    image[::8] += 3
    image[:, ::8] += 3
    vector = fingerprint(image).astype(np.float64)
    assert abs(np.linalg.norm(vector) - 1) < 1e-6
    assert abs(vector.mean()) < 1e-8
    plane = vector.reshape(200, 173)
    means = [plane[a::16, b::16].mean() for a in range(16) for b in range(16)]
    assert np.abs(means).max() < 1e-8
    paper = fingerprint(image, preset="paper").astype(np.float64).reshape(200, 173)
    assert np.abs(paper.mean(axis=0)).max() < 1e-8
    assert max(abs(paper[a::16, b::16].mean()) for a in range(16) for b in range(16)) > 1e-5


def test_presets_and_the_grid_option():
    image = picture(1, (128, 128, 3))
    np.testing.assert_array_equal(fingerprint(image), fingerprint(image, grid=True))
    np.testing.assert_array_equal(
        fingerprint(image, preset="paper"), fingerprint(image, grid=False)
    )
    assert np.abs(fingerprint(image) - fingerprint(image, preset="paper")).max() > 1e-6
    with pytest.raises(ValueError, match="preset"):
        fingerprint(image, preset="papper")


def test_gray_is_taken_of_the_residuals():
    image = picture(2, (96, 96, 3))
    image[..., 0] //= 3
    gray = noise_residual(image) @ np.array([0.2989, 0.5870, 0.1140])
    gray = gray - gray.mean(axis=1, keepdims=True)
    gray = gray - gray.mean(axis=0, keepdims=True)
    expected = (gray / np.linalg.norm(gray)).ravel()
    np.testing.assert_allclose(fingerprint(image, preset="paper"), expected, atol=1e-6)


def test_gray_pictures_in_all_three_shapes():
    image = picture(3, (80, 80))
    flat = fingerprint(image)
    np.testing.assert_array_equal(fingerprint(image[..., np.newaxis]), flat)
    three = fingerprint(np.repeat(image[..., np.newaxis], 3, axis=2))
    np.testing.assert_allclose(three, flat, atol=1e-6)
    with pytest.raises(ValueError, match="2 channels"):
        fingerprint(np.zeros((64, 64, 2)))


def test_cfa_removes_the_means_of_each_sub_lattice():
    image = picture(4, (128, 130, 3))
    image[::2, ::2] += 4
    plane = fingerprint(image, preset="paper", cfa=True).reshape(128, 130).astype(np.float64)
    for a in (0, 1):
        for b in (0, 1):
            assert np.abs(plane[a::2, b::2].mean(axis=0)).max() < 1e-7


@pytest.mark.parametrize("step", ["wiener", "equalise"])
def test_spectral_steps_cut_a_periodic_pattern(step):
    image = picture(5, (256, 256, 3)).astype(np.float32)
    y, x = np.mgrid[:256, :256]
    image += (2.0 * np.cos(2 * np.pi * (50 * x + 31 * y) / 256))[..., np.newaxis]

    def peak(vector):
        return np.abs(np.fft.fft2(vector.reshape(256, 256))[31, 50])

    assert peak(fingerprint(image, **{step: True})) < 0.2 * peak(fingerprint(image))


def test_weak_pattern_is_found_again():
    rng = np.random.default_rng(0)
    prnu = rng.normal(0, 0.02, (256, 256, 1))
    shots = [
        np.clip(120 * (1 + prnu) + rng.normal(0, 2, (256, 256, 3)), 0, 255).astype(np.uint8)
        for _ in range(2)
    ]
    other = np.clip(120 + rng.normal(0, 2, (256, 256, 3)), 0, 255).astype(np.uint8)
    a, b, c = (fingerprint(s) for s in (*shots, other))
    assert a @ b > 0.2
    assert abs(a @ c) < 5 / 256


@pytest.mark.parametrize("level", [0, 17, 255])
def test_flat_pictures_have_no_residual(level):
    with pytest.raises(NoResidualError, match="flat"):
        fingerprint(np.full((128, 128, 3), level, dtype=np.uint8))


def test_real_photographs_reproduce_the_stored_correlations(golden_dir, photos_dir):
    """The Gram of 12 photographs, paper's steps, against the one computed elsewhere."""
    from PIL import Image

    golden = np.load(golden_dir / "authors_ssc_nc.npz")
    paths, stored = golden["paths"][:12], golden["gram"][:12, :12]
    vectors = [
        fingerprint(np.asarray(Image.open(photos_dir / str(p)))[:512, :512], preset="paper")
        for p in paths
    ]
    X = np.asarray(vectors, dtype=np.float64)
    np.testing.assert_allclose(X @ X.T, stored, atol=2e-6)
