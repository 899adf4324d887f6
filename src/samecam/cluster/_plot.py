"""The paper's picture of why sparse beats dense."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from samecam.errors import SamecamError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Share of the off-diagonal correlations that the colours span.
_SHOWN = 0.995


def plot_sparse_vs_dense(
    gram: npt.ArrayLike,
    coefficients: Any,
    labels: npt.ArrayLike | None = None,
    ax: "tuple[Axes, Axes] | None" = None,
) -> "Figure":
    """Correlations on the left, sparse representations on the right, as in the paper.

    The left picture shows |gram| without its diagonal, dark from the 99.5 % point of its
    entries on; the right one |coefficients|, each row divided by its largest.

    Parameters
    ----------
    gram : (n, n) correlations
    coefficients : (n, n) sparse or dense, row i represents image i
    labels : (n,) cameras or groups; images are put in their order, −1 last, and lines
        drawn between them. None leaves the order as it is.
    ax : two axes to draw on; None makes a figure
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SamecamError("Plots need matplotlib: install samecam[plots].") from error
    dense = np.abs(np.asarray(gram, dtype=np.float64))
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
        raise ValueError(f"gram has shape {dense.shape}; give the (n, n) correlations")
    if coefficients.shape != dense.shape:
        raise ValueError(f"coefficients have shape {coefficients.shape} but gram {dense.shape}")
    np.fill_diagonal(dense, 0)
    order, borders = _order(labels, len(dense))
    if ax is None:
        figure = Figure(figsize=(9, 4.3), layout="constrained")
        left, right = figure.subplots(1, 2)
    else:
        left, right = ax
    strongest = np.quantile(dense, _SHOWN) if dense.size else 0.0
    _draw(left, dense[np.ix_(order, order)], strongest, borders, "correlations")
    _draw(right, _row_scaled(coefficients)[np.ix_(order, order)], 1, borders, "representations")
    drawn: Figure = left.figure
    return drawn


def _order(
    labels: npt.ArrayLike | None, n: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Images by label, −1 last, and where the next label begins."""
    if labels is None:
        return np.arange(n), np.zeros(0, dtype=np.intp)
    given = np.asarray(labels)
    if given.shape != (n,):
        raise ValueError(f"labels have shape {given.shape}; give one for each of {n} images")
    _, group = np.unique(given, return_inverse=True)
    if given.dtype.kind in "if":
        group = np.where(given < 0, n, group)
    order = np.argsort(group, kind="stable")
    return order, np.flatnonzero(np.diff(group[order])) + 1


def _row_scaled(coefficients: Any) -> npt.NDArray[np.float64]:
    """|coefficients|, dense, each row divided by its largest; zero rows stay zero."""
    array = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    rows = np.abs(np.asarray(array, dtype=np.float64))
    largest = rows.max(axis=1, keepdims=True, initial=0)
    rows /= np.where(largest > 0, largest, 1)
    return rows


def _draw(
    ax: "Axes",
    matrix: npt.NDArray[np.float64],
    strongest: float,
    borders: npt.NDArray[np.intp],
    title: str,
) -> None:
    image = ax.imshow(matrix, cmap="Greys", vmin=0, vmax=strongest or 1, interpolation="nearest")
    for border in borders - 0.5:
        ax.axhline(border, color="tab:blue", linewidth=0.4)
        ax.axvline(border, color="tab:blue", linewidth=0.4)
    ax.set_title(title)
    ax.set_xlabel("image")
    ax.set_ylabel("image")
    ax.figure.colorbar(image, ax=ax, shrink=0.8)
