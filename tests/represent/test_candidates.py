"""Representation by few candidates: the exact solution of a smaller problem."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.errors import ParameterError
from samecam.represent import represent
from tests.represent.grams import NULL, small_gram, weak_gram


def slowly(G, gamma, most, nonnegative=True):
    """Row by row, on the Gram of the image and its candidates; coefficients and objective."""
    C, total = np.zeros(G.shape), 0.0
    for i, row in enumerate(G):
        size = row.astype(np.float64) if nonnegative else np.abs(row.astype(np.float64))
        order = np.argsort(-size, kind="stable")
        chosen = [j for j in order if j != i and size[j] > gamma][:most]
        few = np.array([i, *sorted(chosen)])
        part = np.ascontiguousarray(G[np.ix_(few, few)])
        row_of_it = represent(part, gamma, nonnegative=nonnegative).coefficients.toarray()[0]
        C[i, few] = row_of_it
        c = row_of_it.astype(np.float64)
        total += 0.5 * (part[0, 0] - 2 * c @ part[0] + c @ part @ c) + gamma * np.abs(c).sum()
    return C, total


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("most", [1, 4, 32, 500])
def test_row_by_row(most, nonnegative):
    G = weak_gram(120, mean=0.03, seed=most)
    C, report = represent(G, 2 * NULL, candidates=most, nonnegative=nonnegative)
    expected, total = slowly(G, 2 * NULL, most, nonnegative)
    np.testing.assert_allclose(C.toarray(), expected, atol=1e-5)
    assert report.objective == pytest.approx(total, rel=1e-6)
    assert report.converged
    assert report.candidates == most
    assert np.diff(C.indptr).max() <= most
    assert C.has_sorted_indices
    assert C.dtype == G.dtype
    for threads in (1, 3):
        again = represent(G, 2 * NULL, candidates=most, nonnegative=nonnegative, n_threads=threads)
        np.testing.assert_array_equal(again.coefficients.toarray(), C.toarray())


def test_of_equal_correlations_the_first_are_candidates():
    G = np.full((9, 9), 0.5)
    np.fill_diagonal(G, 1)
    C = represent(G, 0.1, candidates=3).coefficients
    assert C[0].nonzero()[-1].tolist() == [1, 2, 3]
    assert C[8].nonzero()[-1].tolist() == [0, 1, 2]
    G[0, 8] = G[8, 0] = 0.6  # a stronger one puts out the last of them
    assert represent(G, 0.1, candidates=3).coefficients[0].nonzero()[-1].tolist() == [1, 2, 8]


def test_with_enough_candidates_it_is_the_exact_solution():
    G = small_gram(n_cameras=3, per_camera=6)
    gamma = 0.2  # above all correlations of different cameras
    np.testing.assert_allclose(
        represent(G, gamma, candidates=17).coefficients.toarray(),
        represent(G, gamma).coefficients.toarray(),
        atol=1e-6,
    )


def test_a_missed_certificate_is_said():
    G = small_gram(n_cameras=3, per_camera=6)
    report = represent(G, 0.01, candidates=10, max_iter=1).report
    assert not report.converged
    assert report.kkt_violation > 1e-6


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_images(n):
    G = np.eye(n)
    assert represent(G, 0.1, candidates=5).coefficients.shape == (n, n)


def test_what_cannot_be_asked():
    for options in ({"candidates": 0}, {"candidates": 5, "solver": "admm"}):
        with pytest.raises((ParameterError, ValueError), match="candidates"):
            represent(np.eye(4), 0.1, **options)


@st.composite
def grams(draw):
    """Weak correlations, copies of photos, and all equal."""
    n, seed = draw(st.integers(1, 60)), draw(st.integers(0, 2**20))
    kind = draw(st.sampled_from(["weak", "copies", "equal"]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    if kind == "weak":
        return weak_gram(n, mean=0.05, seed=seed, dtype=dtype)
    G = np.full((n, n), 0.25, dtype) if kind == "equal" else np.eye(n, dtype=dtype)
    if kind == "copies":
        G = np.kron(small_gram(dtype, n_cameras=2, per_camera=3, seed=seed), np.ones((3, 3), dtype))
    np.fill_diagonal(G, 1)
    return G


@pytest.mark.torch
@given(grams(), st.integers(1, 40), st.booleans(), st.floats(0.02, 1.1), st.sampled_from([None, 0]))
def test_on_a_device(G, most, nonnegative, share, memory):
    pytest.importorskip("torch")
    from tests.devices import DEVICE

    off = G - np.eye(len(G))
    gamma = max(share * float(np.abs(off).max()), 1e-3)
    room = None if memory is None else 1000 * len(G) + 2 * 48 * 40**2
    options = {"candidates": most, "nonnegative": nonnegative}
    host = represent(G, gamma, **options)
    device = represent(G, gamma, device=DEVICE, memory=room, **options)
    assert device.report.converged
    assert device.report.kkt_violation <= 1e-6 * np.abs(G).max() * (1 + 1e-6)
    assert device.report.objective == pytest.approx(host.report.objective, rel=1e-6)
    assert device.coefficients.dtype == G.dtype
    assert device.coefficients.has_sorted_indices
    if np.linalg.eigvalsh(G).min() > 1e-3:  # else several solutions are equally good
        np.testing.assert_allclose(
            device.coefficients.toarray(), host.coefficients.toarray(), atol=2e-4
        )
