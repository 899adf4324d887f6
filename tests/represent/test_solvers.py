"""One door, three solvers: what they share, how they differ, what they refuse."""

import subprocess
import sys

import numpy as np
import pytest

from samecam.errors import as_samecam_error
from samecam.represent import kkt_violation, objective, represent
from tests.represent.grams import NULL, small_gram, weak_gram

SOLVERS = ["exact", "admm", "authors"]


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize(("eta", "relaxation"), [(1.0, 1.0), (1.0, 1.6), (0.5, 1.0), (3.0, 1.2)])
def test_admm_reaches_the_exact_solution(eta, relaxation, nonnegative):
    G = weak_gram(200, dtype=np.float64)
    exact = represent(G, NULL, nonnegative=nonnegative)
    options = {"nonnegative": nonnegative, "eta": eta, "relaxation": relaxation}
    loose = represent(G, NULL, solver="admm", **options)
    tight = represent(G, NULL, solver="admm", tol=1e-9, **options)
    assert loose.report.converged
    assert loose.report.objective == pytest.approx(exact.report.objective, rel=1e-5)
    assert loose.report.objective >= exact.report.objective - 1e-6
    assert tight.report.kkt_violation < 1e-6
    assert abs(tight.coefficients - exact.coefficients).max() < 3e-6


@pytest.mark.parametrize("nonnegative", [True, False])
def test_authors_iteration_is_half_the_exact_solution_at_twice_gamma(nonnegative):
    G = weak_gram(300, mean=0.005, dtype=np.float64)
    theirs = represent(G, NULL, solver="authors", nonnegative=nonnegative, tol=1e-8)
    ours = represent(G, 2 * NULL, nonnegative=nonnegative)
    off = abs(theirs.coefficients - 0.5 * ours.coefficients)
    assert np.sqrt(off.power(2).sum() / theirs.coefficients.power(2).sum()) < 0.03


@pytest.mark.parametrize("eta", [0.7, 1.0, 2.0])
def test_authors_iteration_solves_for_a_part_of_each_image(eta):
    """Row i: (1 − t) × the exact row at γ/(1 − t), t = (1 − c·g_i)/(1 + η); no approximation."""
    G = small_gram(n_pixels=2000, strength=0.7)
    gamma = 0.02
    C = represent(G, gamma, solver="authors", eta=eta, tol=1e-10).coefficients.toarray()
    for i in range(0, len(G), 5):
        t = (1 - C[i] @ G[i]) / (1 + eta)
        exact = represent(G, gamma / (1 - t), tol=1e-12).coefficients.toarray()[i]
        np.testing.assert_allclose(C[i], (1 - t) * exact, atol=1e-7)


def test_golden_coefficients_of_the_released_code(golden_dir):
    with np.load(golden_dir / "authors_ssc_nc.npz") as golden:
        G, theirs, gamma = golden["gram"], golden["coefficients"], float(golden["gamma"])
    C, report = represent(G, gamma, solver="authors")
    assert report.converged
    assert np.linalg.norm(C.toarray() - theirs) < 0.01 * np.linalg.norm(theirs)
    exact = represent(G, 2 * gamma).coefficients.toarray()
    assert np.linalg.norm(0.5 * exact - theirs) < 0.01 * np.linalg.norm(theirs)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_smallest_collections(n, solver):
    G = np.full((n, n), 0.5)
    np.fill_diagonal(G, 1)
    C, report = represent(G, 0.1, solver=solver)
    assert C.shape == (n, n)
    assert report.converged
    assert report.n_images == n
    assert C.nnz == (2 if n == 2 else 0)
    if n == 2 and solver != "authors":
        np.testing.assert_allclose(C.data, 0.4, atol=1e-3)  # g − γ


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_input_is_not_modified_and_may_be_read_only(solver, order):
    G = np.asarray(weak_gram(100), order=order)
    before = G.copy()
    G.flags.writeable = False
    C, report = represent(G, NULL, solver=solver)
    np.testing.assert_array_equal(G, before)
    assert report.solver == solver
    assert report.seconds > 0
    assert report.iterations >= 1
    assert report.kkt_violation == pytest.approx(kkt_violation(G, C, NULL).max(), abs=1e-8)
    assert report.objective == pytest.approx(objective(G, C, NULL), rel=1e-8)
    assert set(report.as_dict()) >= {"gamma", "converged", "nonzeros", "tol"}


def test_memmap_and_views(tmp_path):
    G = weak_gram(120)
    expected = represent(G, NULL).coefficients
    mapped = np.memmap(tmp_path / "gram", np.float32, "w+", shape=G.shape)
    mapped[:] = G
    mapped.flush()
    reopened = np.memmap(tmp_path / "gram", np.float32, "r", shape=G.shape)
    wide = np.zeros((120, 240), np.float32)
    wide[:, ::2] = G
    for same in (reopened, wide[:, ::2], G.tolist()):
        assert abs(represent(same, NULL).coefficients - expected).max() < 1e-6


def _with(i, j, value, mirror=True):
    G = weak_gram(30)
    G[i, j] = value
    if mirror:
        G[j, i] = value
    return G


@pytest.mark.parametrize(
    ("gram", "options", "message"),
    [
        (np.ones((3, 4)), {}, r"gram has shape \(3, 4\): give the square"),
        (np.ones(3), {}, r"gram has shape \(3,\)"),
        (_with(2, 5, np.nan), {}, r"gram\[2, 5\] is nan: leave out"),
        (_with(2, 5, -np.inf), {}, r"gram\[2, 5\] is -inf: leave out"),
        (_with(2, 5, 0.3, mirror=False), {}, "gram is not symmetric, .* by up to 0.289"),
        (_with(4, 4, 2.0), {}, r"gram\[4, 4\] is 2, not 1: scale"),
        (np.array([["a"]]), {}, "gram has dtype <U1: give real numbers"),
        (np.eye(2), {"gamma": 0}, "gamma is 0: give a positive number"),
        (np.eye(2), {"gamma": -1.0}, "gamma is -1.0: "),
        (np.eye(2), {"gamma": np.nan}, "gamma is nan: "),
        (np.eye(2), {"gamma": "much"}, "gamma is 'much': "),
        (np.eye(2), {"solver": "magic"}, "solver is 'magic': choose one of exact, admm, authors"),
        (np.eye(2), {"tol": 0}, "tol is 0: "),
        (np.eye(2), {"max_iter": 0}, "max_iter is 0: "),
        (np.eye(2), {"eta": -1}, "eta is -1: "),
        (np.eye(2), {"relaxation": 2}, "relaxation is 2: give a number between 0 and 2"),
        (np.eye(2), {"n_threads": 0}, "n_threads is 0: "),
    ],
)
def test_bad_input_is_refused_by_name(gram, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        represent(gram, **({"gamma": 0.1} | options))
    if options:
        assert [caught.value.parameter] == list(options)
    told = str(as_samecam_error(caught.value))
    assert told == f"{caught.value}.", "one full stop, added for the user"
    assert not told.endswith("..")


def test_asymmetry_is_found_in_any_block():
    G = weak_gram(1500)
    G[1400, 3] += 0.01
    with pytest.raises(ValueError, match="not symmetric"):
        represent(G, NULL)


def test_import_is_light():
    code = (
        "import sys, samecam.represent, samecam.metrics\n"
        "print(*[m for m in ('numba', 'scipy', 'sklearn') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""
