"""The constrained LASSO in Gram form: value, slope, optimality, all by blocks of rows.

For row i with coefficients c = `coefficients[i]` and residual correlations
r = g_i − c G (r_j: correlation of photograph j with what c leaves of photograph i)::

    objective     ½(g_ii − 2 c·g_i + c G cᵀ) + γ‖c‖₁ = ½(g_ii − c·g_i − c·r) + γ‖c‖₁
    gradient      −r
    optimal       r_j = γ where c_j > 0,  r_j ≤ γ where c_j = 0    (both signs: −γ ≤ r_j ≤ γ,
                  and r_j = −γ where c_j < 0),  j ≠ i

Beside the Gram and the sparse coefficients only blocks of 256 rows are kept. Sums run in
float64 whatever the dtype of the Gram.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samecam.represent._checks import as_gram, as_rows, check_gamma

_ROWS = 256


def objective(gram: ArrayLike, coefficients: Any, gamma: float) -> float:
    """½‖XZ − X‖²_F + γ‖Z‖₁, the sum over all rows.

    Parameters
    ----------
    gram : array_like of shape (n, n)
        Correlations.
    coefficients : sparse or dense, shape (n, n)
        Row i represents image i (Zᵀ in the paper).
    gamma : float
        Weight of the ℓ₁ norm; the quadratic term carries ½ (the paper's Eq. 5, not Eq. 4).
    """
    G, C = _pair(gram, coefficients)
    weight = check_gamma(gamma)
    return float(sum(_judged(G, rows, part, r, weight, False)[1].sum()
                     for rows, part, r in _blocks(G, C)))  # fmt: skip


def gradient(gram: ArrayLike, coefficients: Any) -> NDArray[np.float64]:
    """Gradient of ½‖XZ − X‖²_F, C G − G, dense (n, n) float64; row i belongs to image i.

    This is the one function here whose result is n² numbers.
    """
    G, C = _pair(gram, coefficients)
    out = np.empty(G.shape, np.float64)
    for rows, _, residual in _blocks(G, C):
        np.negative(residual, out=out[rows[0] : rows[-1] + 1])
    return out


def kkt_violation(
    gram: ArrayLike, coefficients: Any, gamma: float, nonnegative: bool = True
) -> NDArray[np.float64]:
    """How far every row is from optimal: distance of 0 from the subdifferential, largest over j.

    Returns
    -------
    ndarray of shape (n,)
        max_j of |r_j − γ| where c_j > 0, max(0, r_j − γ) where c_j = 0 (with both signs also
        |r_j + γ| where c_j < 0 and |r_j| in place of r_j where c_j = 0). Infinite for a row
        that breaks a constraint. ``.max(initial=0)`` is the certificate of the whole.
    """
    G, C = _pair(gram, coefficients)
    weight = check_gamma(gamma)
    out = np.zeros(G.shape[0])
    for rows, part, residual in _blocks(G, C):
        out[rows] = _judged(G, rows, part, residual, weight, nonnegative)[0]
    return out


def duality_gap(
    gram: ArrayLike, coefficients: Any, gamma: float, nonnegative: bool = True
) -> NDArray[np.float64]:
    """Objective minus a lower bound of the optimum, per row: ≥ 0, and 0 at the solution.

    With x = x_i the dual of row i is ::

        maximise  ½‖x‖² − ½‖x − θ‖²   subject to  x_j·θ ≤ γ for all j ≠ i

    (both signs: |x_j·θ| ≤ γ) and θ = x − Σ_j c_j x_j at the solution. The bound used is the
    dual at s·(x − Σ_j c_j x_j) with the best s ≥ 0 that is feasible; with r as above,
    x·θ/s = g_ii − c·g_i and ‖θ/s‖² = g_ii − c·g_i − c·r. Infinite for a row that breaks a
    constraint.

    Returns
    -------
    ndarray of shape (n,)
        The sum is a bound for ``objective`` minus its minimum.
    """
    G, C = _pair(gram, coefficients)
    weight = check_gamma(gamma)
    out = np.zeros(G.shape[0])
    for rows, part, residual in _blocks(G, C):
        worst, primal = _judged(G, rows, part, residual, weight, nonnegative)
        own = G.diagonal()[rows].astype(np.float64)
        fit = np.asarray(part.multiply(G[rows[0] : rows[-1] + 1]).sum(axis=1)).ravel()
        norm = 2 * (primal - weight * np.asarray(abs(part).sum(axis=1)).ravel())
        residual[np.arange(rows.size), rows] = -np.inf if nonnegative else 0.0
        steepest = (residual if nonnegative else np.abs(residual)).max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(norm > 0, np.maximum(own - fit, 0) / norm, 0.0)
            scale = np.where(steepest > 0, np.minimum(scale, weight / steepest), scale)
        gap = np.maximum(primal - scale * (own - fit) + 0.5 * scale**2 * norm, 0.0)
        out[rows] = np.where(np.isinf(worst), np.inf, gap)
    return out


def gamma_max(gram: ArrayLike, nonnegative: bool = True) -> float:
    """Smallest γ at which every coefficient is zero: max g_ij, i ≠ j (both signs: max |g_ij|).

    0 if there are fewer than two images or no positive correlation.
    """
    G = as_gram(gram)
    largest = 0.0
    for i in range(0, G.shape[0], _ROWS):
        block = G[i : i + _ROWS].copy()
        block[np.arange(block.shape[0]), np.arange(i, i + block.shape[0])] = 0
        largest = max(largest, float((block if nonnegative else np.abs(block)).max()))
    return largest


def _pair(gram: ArrayLike, coefficients: Any) -> tuple[NDArray[np.floating], Any]:
    G = as_gram(gram)
    return G, as_rows(coefficients, G.shape[0], np.dtype(np.float64))


def _blocks(G: NDArray[np.floating], C: Any) -> Iterator[tuple[NDArray[np.int64], Any, Any]]:
    """Row numbers, CSR part and residual correlations (rows, n) of one block after another."""
    from samecam.represent import _kernels

    for start in range(0, G.shape[0], _ROWS):
        rows = np.arange(start, min(start + _ROWS, G.shape[0]), dtype=np.int64)
        part = C[start : start + rows.size]
        residual = np.empty((rows.size, G.shape[0]))
        _kernels.residuals(
            G, rows, part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data,
            residual, 0, G.shape[0],
        )  # fmt: skip
        yield rows, part, residual


def _judged(
    G: NDArray[np.floating],
    rows: NDArray[np.int64],
    part: Any,
    residual: NDArray[np.float64],
    gamma: float,
    nonnegative: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """KKT violation and objective of the rows of a block."""
    from samecam.represent import _kernels

    worst, total = np.empty(rows.size), np.empty(rows.size)
    _kernels.judge(
        G, residual, rows, part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data,
        gamma, nonnegative, worst, total,
    )  # fmt: skip
    return worst, total
