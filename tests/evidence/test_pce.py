import numpy as np
import pytest

from samecam.evidence import _pce, comparisons_from_rows, pce, square_chance
from samecam.simulate import fingerprints
from samecam.store import MemoryStore


def slow(a, b):
    """Correlate at every shift by rolling, leave out 11×11, divide."""
    h, w = a.shape
    peak, rest = (a * b).sum(), []
    for y in range(h):
        for x in range(w):
            near = min(y, h - y) <= 5 and min(x, w - x) <= 5
            if not near:
                rest.append((a * np.roll(b, (y, x), axis=(0, 1))).sum() ** 2)
    return np.sign(peak) * peak**2 / np.mean(rest)


@pytest.mark.parametrize("sign", [1, -1])
def test_pce_is_the_obvious_ratio(sign):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((24, 30))
    b = sign * 0.3 * a + rng.standard_normal((24, 30))
    assert pce(a, b) == pytest.approx(slow(a, b), rel=1e-4)
    assert pce(a.ravel(), 7 * b.ravel(), (24, 30)) == pytest.approx(slow(a, b), rel=1e-4)
    assert np.sign(pce(a, b)) == sign


def test_white_noise_gives_pixels_times_the_squared_correlation():
    rng = np.random.default_rng(1)
    a = rng.standard_normal(256 * 256)
    b = 0.05 * a + rng.standard_normal(256 * 256)
    rho = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert pce(a, b) == pytest.approx(256**2 * rho**2, rel=0.02)


def test_a_shifted_pattern_is_no_match():
    a = np.random.default_rng(2).standard_normal((64, 64))
    assert pce(a, a) > 3000
    assert abs(pce(a, np.roll(a, 20, axis=1))) < 20


def test_each_photo_against_the_others_of_its_group():
    X, truth = fingerprints([5, 4, 1, 1], 0.3, n_pixels=1024, seed=0)
    labels = np.where(truth < 3, truth, -1)
    expected = np.full(len(X), np.nan)
    for i in range(len(X)):
        others = (labels == labels[i]) & (np.arange(len(X)) != i)
        if labels[i] >= 0 and others.any():
            expected[i] = pce(X[i], X[others].sum(axis=0))
    store = MemoryStore(1024)
    for i, row in enumerate(X):
        store.add(f"{i:02}", row)
    store.commit()
    for source in (X, store):
        for memory in (1, 20_000, 2**30):
            chance = square_chance(source, labels, labels, memory=memory)
            given = comparisons_from_rows(source, np.where(truth < 2, truth, -1))
            got = chance.peaks(given.own)
            assert np.allclose(got, expected, rtol=1e-3, equal_nan=True)
    assert np.isnan(expected[truth >= 2]).all()
    assert np.nanmedian(expected) > 60


def test_nothing_correlates_with_nothing():
    assert pce(np.zeros((16, 16)), np.ones((16, 16))) == 0


@pytest.mark.parametrize(
    ("a", "b", "shape", "words"),
    [(10, 10, None, "no square"), (16, 25, None, "16 and 25"), (16, 16, (3, 5), r"\(3, 5\)")],
)
def test_wrong_sizes_are_named(a, b, shape, words):
    with pytest.raises(ValueError, match=words):
        pce(np.ones(a), np.ones(b), shape)
    with pytest.raises(ValueError, match="one for each"):
        square_chance(np.ones((3, 16)), [0, 0], [0, 0, 0])


def test_chance_of_squares_is_what_shifts_by_eight_do():
    X, truth = fingerprints([5, 4], 0.3, n_pixels=64 * 64, seed=0)
    wanted = 1 - truth  # each with the other camera
    for groups in (truth, wanted):
        chance = square_chance(X, truth, groups)
        assert chance.shifts == 39
        for i in (0, 6):
            rest = []
            others = X[(truth == groups[i]) & (np.arange(9) != i)].sum(axis=0).reshape(64, 64)
            norm = np.linalg.norm(others) * np.linalg.norm(X[i])
            for y in range(0, 64, 8):
                for x in range(0, 64, 8):
                    if min(y, 64 - y) > 16 or min(x, 64 - x) > 16:
                        moved = np.roll(others, (y, x), axis=(0, 1))
                        rest.append((X[i].reshape(64, 64) * moved).sum() / norm)
            assert chance.mean[i] == pytest.approx(np.mean(rest), abs=1e-5)
            assert chance.spread[i] == pytest.approx(np.std(rest, ddof=1), rel=1e-3)


@pytest.mark.parametrize("threads", [1, 4])
def test_chance_does_not_depend_on_how_many_are_worked_on_together(monkeypatch, threads):
    X, truth = fingerprints([5, 4, 1, 1], 0.3, n_pixels=64 * 64, seed=0)
    wanted = np.where(np.arange(11) % 3, truth, (truth + 1) % 4)
    wanted[truth > 1] = truth[truth > 1]  # alone there
    wanted[np.flatnonzero(truth == 0)[0]] = 2
    together = square_chance(X, truth, wanted)
    monkeypatch.setattr(_pce, "_STACK", 1)
    monkeypatch.setattr("samecam.compute._threads.thread_count", lambda: threads)
    alone = square_chance(X, truth, wanted)
    np.testing.assert_array_equal(np.isnan(together.mean), truth > 1)
    for name in ("mean", "spread", "energy"):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))
