"""The scale of chance is measured right, however few cameras took the photos."""

import numpy as np
import pytest

from samecam.correlate import null_scale, photo_scales
from samecam.simulate import gram

SIGMA = 1 / 512


@pytest.mark.parametrize("mean", [0.003, 0.01, 0.05, 0.3])
@pytest.mark.parametrize(
    "sizes", [[300], [150] * 2, [60] * 5, [25] * 60, [6] * 100, [1] * 300, [700] + [1] * 20]
)
def test_right_for_one_two_five_sixty_and_many_cameras(sizes, mean):
    estimates = [null_scale(gram(sizes, mean, seed=seed).gram) for seed in range(2)]
    assert estimates == pytest.approx([SIGMA] * 2, rel=0.05)


def test_what_the_obvious_estimate_would_say():
    """The reason for all this: with one camera 1.4826·MAD is far too large."""
    G = gram([300], 0.01, seed=1).gram
    off = G[~np.eye(300, dtype=bool)]
    assert 1.4826 * np.median(np.abs(off - np.median(off))) > 2 * SIGMA


@pytest.mark.parametrize("mean", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("sizes", [[8], [10], [12], [14], [20], [10] * 2, [6] * 5, [1] * 10])
def test_few_photos_are_a_matter_of_chance_but_not_far_off(sizes, mean):
    estimates = [null_scale(gram(sizes, mean, seed=s).gram) / SIGMA for s in range(8)]
    assert 0.7 < np.median(estimates) < 1.3
    assert max(estimates) < 2


def test_another_scale_is_followed():
    G = gram([40] * 6, 0.01, null_scale=0.0027).gram
    assert null_scale(G) == pytest.approx(0.0027, rel=0.05)
    assert null_scale(G, n_pixels=512**2) == pytest.approx(0.0027, rel=0.05)


def test_never_below_white_noise_when_d_is_known():
    G = gram([40] * 6, 0.01, null_scale=1e-4).gram
    assert null_scale(G, n_pixels=512**2) == SIGMA
    assert null_scale(G) == pytest.approx(1e-4, rel=0.05)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_too_few_to_measure(n):
    G = gram([5], 0.3).gram[:n, :n]
    assert null_scale(G, n_pixels=512**2) == pytest.approx(1.4 * SIGMA)
    assert null_scale(G) > 0


def test_the_order_of_photos_does_not_matter():
    G = gram([300, 200, 250], 0.01).gram
    order = np.random.default_rng(0).permutation(750)
    assert null_scale(G[np.ix_(order, order)]) == pytest.approx(null_scale(G), rel=1e-6)


def test_input_is_not_modified():
    G = gram([20], 0.05).gram
    before = G.copy()
    null_scale(G)
    np.testing.assert_array_equal(G, before)


def test_real_photographs_scatter_more_than_white_noise(golden_dir):
    G = np.load(golden_dir / "authors_ssc_nc.npz")["gram"]
    cameras = np.load(golden_dir / "authors_ssc_nc.npz")["cameras"]
    different = cameras[:, None] != cameras[None]
    spread = 1.4826 * np.median(np.abs(G[different]))
    assert null_scale(G) == pytest.approx(spread, rel=0.12)
    assert null_scale(G) > 1.2 * SIGMA


def test_each_photo_has_its_own_scale():
    rng = np.random.default_rng(0)
    scales = rng.uniform(0.05, 0.1, 800)
    noise = np.triu(rng.normal(size=(800, 800)), 1)
    G = (noise + noise.T) * np.outer(scales, scales) + np.eye(800)
    G[:200, :200] += 0.05 * (1 - np.eye(200))  # a camera does not widen its photos' chance
    found = photo_scales(G, float(np.mean(scales) ** 2))
    np.testing.assert_allclose(found, scales, rtol=0.2)
    assert np.corrcoef(found, scales)[0, 1] > 0.9


def test_too_few_photos_keep_the_common_scale():
    np.testing.assert_allclose(photo_scales(np.eye(3), 0.01), 0.1)
    assert photo_scales(np.zeros((0, 0)), 0.01).shape == (0,)


def test_a_smooth_photo_has_a_scale_of_at_least_its_colour():
    G, colour = gram([6] * 8, 0.05).gram, np.ones(48)
    before = photo_scales(G, SIGMA)
    colour[[3, 17]] = 3.6
    after = photo_scales(G, SIGMA, colour, 512**2)
    np.testing.assert_allclose(after[[3, 17]] ** 2, 3.6 * SIGMA)
    rest = np.delete(np.arange(48), [3, 17])
    np.testing.assert_array_equal(after[rest], np.maximum(before[rest], SIGMA**0.5))


def test_what_scatters_more_than_its_colour_says_keeps_its_scale():
    G = gram([6] * 8, 0.05, null_scale=5 * SIGMA).gram
    before = photo_scales(G, 5 * SIGMA)
    np.testing.assert_array_equal(photo_scales(G, 5 * SIGMA, np.full(48, 2.0), 512**2), before)
