"""The exact solver: certificate, second opinions, invariances."""

import itertools

import numpy as np
import pytest
from scipy.optimize import nnls

from samecam.represent import _cpu, duality_gap, kkt_violation, objective, represent
from tests.represent.grams import NULL, fingerprints, small_gram, weak_gram


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_brute_force_over_supports(seed, nonnegative):
    """All supports and signs of 6 images: the best stationary point is the solution."""
    G, gamma = small_gram(n_cameras=2, per_camera=3, n_pixels=30, seed=seed), 0.03
    result = represent(G, gamma, nonnegative=nonnegative, tol=1e-12).coefficients.toarray()
    signs = (0, 1) if nonnegative else (-1, 0, 1)
    for i in range(6):
        others = [j for j in range(6) if j != i]
        best, chosen = 0.5, np.zeros(6)
        for pattern in itertools.product(signs, repeat=5):
            s = np.zeros(6)
            s[others] = pattern
            held = np.flatnonzero(s)
            if not held.size:
                continue
            c = np.zeros(6)
            c[held] = np.linalg.solve(G[np.ix_(held, held)], G[i, held] - gamma * s[held])
            if (c * s < 0).any():
                continue
            value = 0.5 * (1 - 2 * c @ G[i] + c @ G @ c) + gamma * np.abs(c).sum()
            if value < best:
                best, chosen = value, c
        np.testing.assert_allclose(result[i], chosen, atol=1e-9)


@pytest.mark.parametrize("gamma", [0.005, 0.02, 0.1])
def test_scipy_nnls(gamma):
    """½‖x − Bc‖² + γ Σc = ½‖y − Ac‖² + const with AᵀA = BᵀB and Aᵀy = Bᵀx − γ."""
    G = small_gram()
    result = represent(G, gamma, tol=1e-12).coefficients.toarray()
    for i in range(len(G)):
        others = np.delete(np.arange(len(G)), i)
        root = np.linalg.cholesky(G[np.ix_(others, others)])
        target = np.linalg.solve(root, G[i, others] - gamma)
        np.testing.assert_allclose(result[i, others], nnls(root.T, target)[0], atol=1e-9)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_scikit_learn_lasso(nonnegative):
    """Its objective is ours divided by the number of samples: alpha = γ / n_pixels."""
    from sklearn.linear_model import Lasso

    X, gamma = fingerprints(), 0.03
    result = represent(X @ X.T, gamma, nonnegative=nonnegative, tol=1e-12).coefficients.toarray()
    model = Lasso(
        alpha=gamma / X.shape[1], positive=nonnegative, fit_intercept=False, tol=1e-14,
        max_iter=100_000,
    )  # fmt: skip
    for i in range(0, len(X), 7):
        others = np.delete(np.arange(len(X)), i)
        model.fit(X[others].T, X[i])
        np.testing.assert_allclose(result[i, others], model.coef_, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize(
    ("n", "multiple"), [(2, 1), (17, 1), (300, 0.2), (300, 1), (700, 2), (1500, 2), (300, 5)]
)
def test_certificate(n, multiple, nonnegative, dtype):
    G = weak_gram(n, dtype=dtype)
    gamma = multiple * NULL
    C, report = represent(G, gamma, nonnegative=nonnegative)
    violation = kkt_violation(G, C, gamma, nonnegative)
    assert violation.max() <= 1e-6
    assert report.converged
    assert report.kkt_violation == pytest.approx(violation.max(), abs=2e-8)
    assert report.objective == pytest.approx(objective(G, C, gamma), rel=1e-7)
    assert duality_gap(G, C, gamma, nonnegative).max() < 1e-4 * 0.5
    assert C.dtype == dtype
    assert C.has_sorted_indices
    assert not C.diagonal().any()
    assert (C.data != 0).all()
    assert report.nonzeros == C.nnz
    assert not nonnegative or (C.data > 0).all()


def test_float32_and_float64_agree():
    G = weak_gram(500)
    single = represent(G, 2 * NULL).coefficients
    double = represent(G.astype(np.float64), 2 * NULL, tol=1e-12).coefficients
    assert abs(single - double).max() < 2e-6


def test_tighter_than_the_default():
    G = weak_gram(300, dtype=np.float64)
    _, report = represent(G, NULL, tol=1e-13)
    assert report.converged
    assert report.kkt_violation < 1e-13


@pytest.mark.parametrize("seed", range(2))
def test_permuting_images_permutes_coefficients(seed):
    G = weak_gram(300, seed=seed, dtype=np.float64)
    order = np.random.default_rng(seed).permutation(300)
    straight = represent(G, NULL, tol=1e-12).coefficients.toarray()
    shuffled = represent(G[np.ix_(order, order)], NULL, tol=1e-12).coefficients.toarray()
    np.testing.assert_allclose(shuffled, straight[np.ix_(order, order)], atol=1e-9)


@pytest.mark.parametrize("copies", [2, 3, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicated_photos(copies, dtype):
    """Copies correlate at 1: each is represented by the others, with weights of sum 1 − γ."""
    X = fingerprints(n_pixels=20_000, strength=0.05)
    X = np.vstack([X, np.repeat(X[:1], copies - 1, axis=0)])
    G = (X @ X.T).astype(dtype)
    gamma = 0.05
    C, report = represent(G, gamma)
    assert report.converged
    assert kkt_violation(G, C, gamma).max() <= 1e-6
    same = np.r_[0, len(X) - copies + 1 : len(X)]
    own = C.toarray()[np.ix_(same, same)]
    np.testing.assert_allclose(own.sum(axis=1), 1 - gamma, atol=1e-5)
    assert not own.diagonal().any()


def test_nearly_white_frames():
    """Forty photos that correlate at .99 and more: badly conditioned, still certified."""
    rng = np.random.default_rng(0)
    X = 1 + 0.1 * rng.standard_normal((40, 500))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    report = represent((X @ X.T).astype(np.float32), 0.002).report
    assert report.converged


def test_unrelated_image_gets_a_zero_row():
    G = weak_gram(200)
    G[7] = G[:, 7] = 0
    G[7, 7] = 1
    C, report = represent(G, NULL)
    assert C.indptr[8] == C.indptr[7]
    assert C[:, [7]].nnz == 0
    assert report.zero_rows >= 1


@pytest.mark.parametrize("n_threads", [2, 5])
@pytest.mark.parametrize("gamma", [0.2 * NULL, NULL, 2 * NULL])  # some sets gathered, some not
def test_threads_do_not_show(n_threads, gamma):
    G = weak_gram(1100, mean=0.03)
    one = represent(G, gamma, n_threads=1).coefficients
    many = represent(G, gamma, n_threads=n_threads).coefficients
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(many, part))


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_a_set_too_large_to_gather_runs_alone_on_any_number_of_threads(n_threads):
    sizes = np.array([3, 3, 11, 3, 3, 3, 12, 10, 0, 3])
    with _cpu.Workers(n_threads, 500, np.dtype(np.float32)) as workers:
        runs = list(_cpu._portions(sizes, 100, workers))
    assert [a for a, _ in runs] == [0, *[z for _, z in runs[:-1]]]
    assert runs[-1][1] == sizes.size
    for a, z in runs:
        assert z - a == 1 or (sizes[a:z] <= 10).all()
        assert (sizes[a:z] ** 2).sum() <= 500


@pytest.mark.parametrize("change", ["block", "scratch", "direct"])
def test_block_sizes_do_not_show(change, monkeypatch):
    """Fewer rows a block, less room for gathered Grams, no room at all: one answer."""
    G = weak_gram(300, dtype=np.float64)
    usual = represent(G, NULL).coefficients.toarray()
    name, value = {
        "block": ("block_rows", 37),
        "scratch": ("scratch_size", 30_000),
        "direct": ("gather_limit", 0),
    }[change]
    monkeypatch.setattr(_cpu, name, lambda *_: value)
    if change == "direct":
        monkeypatch.setattr(_cpu, "scratch_size", lambda *_: 0)
    C, report = represent(G, NULL)
    assert report.converged
    np.testing.assert_allclose(C.toarray(), usual, atol=2e-6 if change == "direct" else 0)


def test_memory_beside_the_gram_stays_below_it():
    """Python-side allocations at n = 3000: blocks and the answer, no second n × n array."""
    import tracemalloc

    G = weak_gram(3000)
    represent(G[:300, :300].copy(), 2 * NULL)
    tracemalloc.start()
    represent(G, 2 * NULL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.7 * G.nbytes


def test_gives_up_honestly():
    _, report = represent(weak_gram(300, mean=0.2), NULL, max_iter=1, tol=1e-14)
    assert not report.converged
    assert report.kkt_violation > 1e-14


def test_indefinite_matrix_ends_unconverged():
    rng = np.random.default_rng(0)
    G = rng.uniform(-1, 1, (60, 60))
    G = (G + G.T) / 2
    np.fill_diagonal(G, 1)
    with np.errstate(all="ignore"):
        _, report = represent(G, 0.01, max_iter=20)
    assert not report.converged


@pytest.mark.parametrize("nonnegative", [True, False])
def test_singular_grams_are_solved_too(nonnegative):
    rows = np.random.default_rng(0).standard_normal((120, 25))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    report = represent(rows @ rows.T, 1e-3, nonnegative=nonnegative).report
    assert report.converged
    assert report.kkt_violation <= 1e-6
