"""The picture of sparse against dense."""

import sys

import numpy as np
import pytest
from scipy import sparse

from samecam.cluster import SSCNC
from samecam.cluster._plot import plot_sparse_vs_dense
from samecam.correlate import gram, normalised
from samecam.errors import SamecamError
from samecam.simulate import synthetic_residuals


@pytest.fixture(scope="module")
def fitted():
    drawn = synthetic_residuals(3, 12, 16384)
    matrix = gram(normalised(drawn.residuals))
    return matrix, SSCNC(metric="precomputed").fit(matrix).coefficients_, drawn.labels


def pictures(figure):
    left, right = (ax for ax in figure.axes if ax.get_title())
    return np.asarray(left.images[0].get_array()), np.asarray(right.images[0].get_array())


def test_both_matrices_are_shown(fitted, tmp_path):
    pytest.importorskip("matplotlib")
    matrix, coefficients, labels = fitted
    figure = plot_sparse_vs_dense(matrix, coefficients, labels)
    left, right = pictures(figure)
    np.testing.assert_allclose(left, np.abs(matrix - np.eye(len(matrix))), atol=1e-6)
    dense = coefficients.toarray()
    largest = dense.max(axis=1, keepdims=True)
    np.testing.assert_allclose(right, dense / np.where(largest > 0, largest, 1), rtol=1e-6)
    figure.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_images_are_put_in_the_order_of_labels(kind):
    pytest.importorskip("matplotlib")
    matrix = np.eye(4) + 0.1 * (np.arange(4) + np.arange(4)[:, None])
    coefficients = kind(np.diag([1.0, 2, 3], k=1))
    left, right = pictures(plot_sparse_vs_dense(matrix, coefficients, [1, -1, 0, 1]))
    order = np.ix_([2, 0, 3, 1], [2, 0, 3, 1])
    np.testing.assert_allclose(left, (matrix - np.diag(np.diag(matrix)))[order])
    np.testing.assert_allclose(right, np.diag([1.0, 1, 1], k=1)[order])
    names = pictures(plot_sparse_vs_dense(matrix, coefficients, ["b", "c", "a", "b"]))
    np.testing.assert_allclose(names[0], left)


def test_on_axes_of_ones_own(fitted):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(1, 2)
    assert plot_sparse_vs_dense(*fitted[:2], ax=axes) is figure
    assert [ax.get_title() for ax in axes] == ["correlations", "representations"]


def test_input_is_not_modified(fitted):
    pytest.importorskip("matplotlib")
    matrix, coefficients, _ = fitted
    before = matrix.copy(), coefficients.toarray()
    plot_sparse_vs_dense(matrix, coefficients)
    plot_sparse_vs_dense(matrix.astype(np.float64), coefficients.toarray())
    np.testing.assert_array_equal(matrix, before[0])
    np.testing.assert_array_equal(coefficients.toarray(), before[1])


def test_double_precision_input_is_not_modified():
    pytest.importorskip("matplotlib")
    matrix, coefficients = np.eye(3), np.full((3, 3), -2.0)
    plot_sparse_vs_dense(matrix, coefficients)
    assert matrix.tolist() == np.eye(3).tolist()
    assert (coefficients == -2).all()


def test_nothing_to_see_is_drawn_all_the_same():
    pytest.importorskip("matplotlib")
    figure = plot_sparse_vs_dense(np.eye(3), sparse.csr_array((3, 3)))
    assert not pictures(figure)[1].any()


def test_without_matplotlib(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SamecamError, match=r"install samecam\[plots\]"):
        plot_sparse_vs_dense(*fitted[:2])


def test_shapes_must_agree(fitted):
    pytest.importorskip("matplotlib")
    matrix, coefficients, labels = fitted
    with pytest.raises(ValueError, match="gram has shape"):
        plot_sparse_vs_dense(matrix[:3], coefficients)
    with pytest.raises(ValueError, match="coefficients have shape"):
        plot_sparse_vs_dense(matrix, coefficients[:3])
    with pytest.raises(ValueError, match="labels have shape"):
        plot_sparse_vs_dense(matrix, coefficients, labels[:3])
