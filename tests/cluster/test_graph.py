"""The graph of representations, against the obvious dense computation."""

import numpy as np
import pytest
from scipy import sparse

from samecam.cluster import affinity

SCALINGS = ["max", "l1", "none"]


def obvious(coefficients, scaling):
    weights = np.abs(coefficients).astype(np.float64)
    for row in weights:
        scale = {"max": row.max(), "l1": row.sum(), "none": 1}[scaling]
        if scale > 0:
            row /= scale
    return (weights + weights.T) / 2


def some_coefficients(dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((30, 30)) * (rng.random((30, 30)) < 0.2)
    np.fill_diagonal(C, 0)
    C[[4, 17]] = 0
    C[17, :] = C[:, 17] = 0
    return C.astype(dtype)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equals_the_obvious(scaling, dtype):
    C = some_coefficients(dtype)
    S = affinity(sparse.csr_array(C), scaling)
    assert sparse.issparse(S)
    assert S.format == "csr"
    np.testing.assert_allclose(S.toarray(), obvious(C, scaling), rtol=1e-6)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_symmetric_without_negative_or_diagonal(scaling):
    S = affinity(sparse.csr_array(some_coefficients()), scaling).toarray()
    np.testing.assert_array_equal(S, S.T)
    assert S.min() == 0
    assert not S.diagonal().any()


@pytest.mark.parametrize("scaling", SCALINGS)
def test_zero_rows_stay_but_others_may_use_them(scaling):
    C = some_coefficients()
    S = affinity(sparse.csr_array(C), scaling).toarray()
    assert not S[17].any()
    assert S[4].any() == C[:, 4].any()


def test_every_representation_counts_alike_after_scaling():
    C = sparse.csr_array(np.array([[0, 8.0, 4], [0.1, 0, 0], [0, 0, 0]]))
    assert affinity(C, "max").toarray()[0].tolist() == [0, 1, 0.25]
    assert affinity(C, "l1").toarray()[0] == pytest.approx([0, (2 / 3 + 1) / 2, 1 / 6])
    assert affinity(C, "none").toarray()[0] == pytest.approx([0, 4.05, 2])


@pytest.mark.parametrize("scaling", SCALINGS)
def test_a_stored_zero_is_no_edge(scaling):
    C = sparse.csr_array((np.array([1.0, 0.0]), ([0, 2], [1, 3])), shape=(4, 4))
    assert C.nnz == 2
    assert affinity(C, scaling).nnz == 2  # 0–1 and its mirror image


@pytest.mark.parametrize("scaling", SCALINGS)
def test_nothing_at_all(scaling):
    assert affinity(sparse.csr_array((5, 5)), scaling).nnz == 0


@pytest.mark.parametrize("scaling", SCALINGS)
def test_input_is_not_modified(scaling):
    C = sparse.csr_array(some_coefficients())
    before = C.copy()
    affinity(C, scaling)
    np.testing.assert_array_equal(C.data, before.data)
    np.testing.assert_array_equal(C.indices, before.indices)
    np.testing.assert_array_equal(C.indptr, before.indptr)
