"""Gram matrices, fingerprints and residuals without photographs."""

import tracemalloc

import numpy as np
import pytest

from samecam import simulate
from samecam.errors import SamecamError


def _pairs(gram, labels):
    """Same-camera and different-camera entries above the diagonal."""
    above = np.triu_indices(len(labels), 1)
    same = (labels[:, None] == labels[None, :])[above]
    return gram[above][same], gram[above][~same]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_symmetric_unit_diagonal_and_dtype(dtype):
    # 1,100 rows: two whole blocks of rows and a rest
    gram, labels = simulate.gram([11] * 100, seed=3, dtype=dtype)
    assert gram.dtype == dtype
    assert gram.shape == (1100, 1100)
    assert np.array_equal(gram, gram.T)
    assert (np.diag(gram) == 1).all()
    assert np.array_equal(np.bincount(labels), [11] * 100)


def test_null_is_normal_with_the_stated_scale_in_every_block():
    gram, _ = simulate.gram([1] * 1100, n_pixels=10_000)
    n = 1100 * 1099 // 2
    values = gram[np.triu_indices(1100, 1)]
    assert values.std() == pytest.approx(0.01, rel=4 / np.sqrt(2 * n))
    assert abs(values.mean()) < 4 * 0.01 / np.sqrt(n)
    assert np.mean(np.abs(values) < 0.01) == pytest.approx(0.6827, abs=0.003)
    assert len(np.unique(values)) > 0.95 * n
    for rows in (slice(0, 512), slice(512, 1024), slice(1024, 1100)):
        for columns in (slice(0, 512), slice(512, 1024), slice(1024, 1100)):
            part = gram[rows, columns]
            assert part[part != 1].std() == pytest.approx(0.01, rel=0.05)


def test_null_scale_replaces_the_pixel_count():
    gram, labels = simulate.gram([1] * 600, null_scale=0.003)
    assert _pairs(gram, labels)[1].std() == pytest.approx(0.003, rel=0.01)


def test_equal_strengths_give_exactly_the_mean():
    gram, labels = simulate.gram([20] * 40, 0.02, camera_spread=0, photo_cv=0, seed=1)
    same, different = _pairs(gram, labels)
    error = 1 / 512 / np.sqrt(same.size)
    assert same.mean() == pytest.approx(0.02, abs=4 * error)
    assert same.std() == pytest.approx(1 / 512, rel=0.05)
    assert abs(different.mean()) < 4 / 512 / np.sqrt(different.size)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_mean_of_same_camera_correlations_with_default_spreads(seed):
    # the mean over 400 cameras of camera² has a relative s.e. of 5 %, the photos add 2 %
    gram, labels = simulate.gram([5] * 400, 0.01, seed=seed)
    same, _ = _pairs(gram, labels)
    assert same.mean() == pytest.approx(0.01 * np.exp(2 * 0.4**2), rel=0.2)


def test_camera_strength_is_log_normal_with_median_one():
    gram, labels = simulate.gram([2] * 1500, 0.01, null_scale=0, photo_cv=0, dtype=np.float64)
    order = np.argsort(labels, kind="stable").reshape(-1, 2)
    correlation = gram[order[:, 0], order[:, 1]]
    assert np.median(correlation) == pytest.approx(0.01, rel=0.1)
    assert np.log(correlation / 0.01).std() / 2 == pytest.approx(0.4, abs=0.03)
    assert np.log(correlation / 0.01).mean() / 2 == pytest.approx(0, abs=0.04)


def test_photo_strength_is_gamma_and_the_signal_has_rank_one():
    gram, _ = simulate.gram([1500], 0.01, null_scale=0, camera_spread=0, dtype=np.float64)
    a = np.empty(1500)
    a[0] = np.sqrt(gram[0, 1] * gram[0, 2] / gram[1, 2])
    a[1:] = gram[0, 1:] / a[0]
    np.fill_diagonal(gram, a**2)
    np.testing.assert_allclose(gram, np.outer(a, a), rtol=1e-9)
    assert a.mean() == pytest.approx(0.1, rel=0.07)
    assert a.std() / a.mean() == pytest.approx(0.7, abs=0.05)
    skewness = np.mean((a - a.mean()) ** 3) / a.std() ** 3
    assert skewness == pytest.approx(1.4, abs=0.35)


def test_strengths_are_cut_below_one():
    gram, _ = simulate.gram([50] * 4, 0.9, null_scale=0, dtype=np.float64)
    off = gram[~np.eye(200, dtype=bool)]
    assert 0.97 < off.max() < 1


def test_seed_decides_everything_and_rows_are_shuffled():
    first, again, other = (simulate.gram([8, 1, 30], seed=s) for s in (5, 5, 6))
    assert np.array_equal(first.gram, again.gram)
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.gram, other.gram)
    assert not np.array_equal(first.labels, np.sort(first.labels))


def test_sizes_are_not_modified():
    sizes = np.array([3, 1, 4])
    simulate.gram(sizes)
    assert sizes.tolist() == [3, 1, 4]


def test_gram_holds_no_second_matrix():
    n = 4000
    tracemalloc.start()
    simulate.gram([40] * (n // 40))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.3 * 4 * n**2


def test_fingerprints_have_unit_norm_and_the_expected_correlation():
    X, labels = simulate.fingerprints([10] * 6, 0.2, 20_000, camera_spread=0, photo_cv=0)
    assert X.dtype == np.float32
    assert X.shape == (60, 20_000)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, atol=1e-5)
    same, different = _pairs(X @ X.T, labels)
    # one pattern's own norm moves its camera's mean by 0.2 · √(2/d) at most in the s.d.
    assert same.mean() == pytest.approx(0.2, abs=0.005)
    assert different.std() == pytest.approx(20_000**-0.5, rel=0.1)


def test_fingerprints_and_gram_of_one_seed_agree():
    sizes = [30, 1, 12]
    exact, labels = simulate.gram(sizes, 0.1, null_scale=0, seed=9)
    X, same_labels = simulate.fingerprints(sizes, 0.1, 60_000, seed=9)
    assert np.array_equal(labels, same_labels)
    np.testing.assert_allclose(X @ X.T, exact, atol=6 * 60_000**-0.5)


def test_synthetic_residuals_follow_the_paper():
    residuals, labels = simulate.synthetic_residuals(3, 20, 100_000, seed=2)
    assert residuals.shape == (60, 100_000)
    assert residuals.dtype == np.float32
    assert labels.tolist() == sorted(list(range(3)) * 20)
    signal = 0.81e-3
    assert residuals.var() == pytest.approx(signal + 0.1, rel=0.005)
    unit = residuals / np.linalg.norm(residuals, axis=1, keepdims=True)
    same, different = _pairs(unit @ unit.T, labels)
    expected = signal / (signal + 0.1)
    assert expected == pytest.approx(0.0080, abs=5e-5)
    assert same.mean() == pytest.approx(expected, rel=0.06)
    assert abs(different.mean()) < 4e-4
    assert different.std() == pytest.approx(100_000**-0.5, rel=0.1)


def test_synthetic_residuals_scale_with_intensity_and_variances():
    flat, _ = simulate.synthetic_residuals(2, 3, 50_000, intensity=0.5, var_prnu=4.0, var_noise=0)
    assert np.array_equal(flat[0], flat[2])
    assert not np.array_equal(flat[0], flat[3])
    assert flat.var() == pytest.approx(1.0, rel=0.03)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: simulate.gram([]), "sizes"),
        (lambda: simulate.gram([3, 0]), "sizes"),
        (lambda: simulate.gram([3], 1.0), "mean is 1.0"),
        (lambda: simulate.gram([3], -0.1), "mean is -0.1"),
        (lambda: simulate.gram([3], n_pixels=0), "n_pixels is 0"),
        (lambda: simulate.gram([3], null_scale=-1), "null_scale is -1"),
        (lambda: simulate.gram([3], photo_cv=float("nan")), "photo_cv is nan"),
        (lambda: simulate.gram([3], seed=-1), "seed is -1"),
        (lambda: simulate.gram([3], dtype=np.int32), "dtype is int32"),
        (lambda: simulate.fingerprints([3], 0.1, 0), "n_pixels is 0"),
        (lambda: simulate.synthetic_residuals(0, 1, 1), "n_cameras is 0"),
        (lambda: simulate.synthetic_residuals(1, 1, 1, var_noise=-1), "var_noise is -1"),
    ],
)
def test_bad_arguments_are_named(call, words):
    with pytest.raises(SamecamError, match=f"^{words}.*: give .*\\.$"):
        call()
