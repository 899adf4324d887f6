"""Alternating directions: the paper's Algorithm 1, and the iteration its authors released.

Both work on dense n × n matrices (about five of them) and spend one matrix product an
iteration: (G + ηI)⁻¹ is formed once, and (G + ηI)⁻¹ G = I − η(G + ηI)⁻¹. Rows are images, so
all matrices here are the transposes of the paper's; G is symmetric.
"""

from typing import Any, NamedTuple

import numpy as np

from samecam.arrays import AnyFloats


class Iterated(NamedTuple):
    """The feasible variable V as a CSR array, iterations done, and whether max|Z − V| < tol."""

    coefficients: Any
    iterations: int
    converged: bool


def iterate(
    gram: AnyFloats,
    gamma: float,
    *,
    nonnegative: bool,
    tol: float,
    max_iter: int,
    eta: float,
    relaxation: float,
    zero_diagonal: bool,
) -> Iterated:
    """Run the iteration on Z, V and the multipliers Λ, starting from zeros ::

        Z ← (G − Λ + ηV)(G + ηI)⁻¹;  zero_diagonal: diag Z ← 0
        Ẑ ← αZ + (1 − α)V                                   α = relaxation
        V ← max(0, Ẑ + Λ/η − γ/η), diag V ← 0                (soft threshold for both signs)
        stop if max|Z − V| < tol
        Λ ← Λ + η(Ẑ − V)

    With ``zero_diagonal=False`` this is Algorithm 1 of the paper (α = 1). V is returned, being
    feasible and sparse; Z is dense with small negative entries.

    ``zero_diagonal=True`` is the released code, which also clears the diagonal of Z in every
    iteration. That is another problem: the cleared entry stands for a free self-coefficient
    t = (1 − c·g_i)/(1 + η) which absorbs that share of the image, so row i converges to
    (1 − t) times the exact solution at γ/(1 − t). With η = 1 and the weak correlations of
    photographs t ≈ ½: half the exact solution at 2γ, to about 1 %.
    Two deviations from the release: the positivity step is a true projection
    (the release keeps an older positive value where the new one is not positive; same
    objective to 4 digits) and V is returned for both signs as well (the release of the
    two-sign version returns Z, equal to V within tol).
    """
    from scipy.sparse import csr_array

    n = gram.shape[0]
    inverse = _inverse(gram, eta)
    V, multiplier, product = (np.zeros((n, n), gram.dtype) for _ in range(3))
    threshold = gram.dtype.type(gamma / eta)
    converged, iterations = n == 0, 0
    while not converged and iterations < max_iter:
        iterations += 1
        np.matmul(eta * V - multiplier, inverse, out=product)
        product -= eta * inverse
        product[np.diag_indices(n)] = 0 if zero_diagonal else product.diagonal() + 1
        Z = product if relaxation == 1 else relaxation * product + (1 - relaxation) * V
        multiplier /= eta
        multiplier += Z  # Ẑ + Λ/η, from which both V and the new Λ follow
        V = _shrink(multiplier, threshold, nonnegative, out=V)
        converged = bool(np.abs(np.subtract(product, V, out=product)).max() < tol)
        multiplier -= V
        multiplier *= eta
    return Iterated(csr_array(V), iterations, converged)


def _inverse(gram: AnyFloats, eta: float) -> AnyFloats:
    """(G + ηI)⁻¹, (n, n), in the dtype of gram."""
    from scipy.linalg import LinAlgError
    from scipy.linalg.lapack import get_lapack_funcs

    if gram.shape[0] == 0:
        return gram
    shifted = np.array(gram, order="F")
    shifted[np.diag_indices(gram.shape[0])] += gram.dtype.type(eta)
    potrf, potri = get_lapack_funcs(("potrf", "potri"), (shifted,))
    factor, failed = potrf(shifted, lower=True, overwrite_a=True, clean=True)
    if not failed:
        factor, failed = potri(factor, lower=True, overwrite_c=True)
    if failed:
        raise LinAlgError("gram + eta·I is not positive definite: raise eta or check gram")
    for j in range(gram.shape[0] - 1):  # the other triangle, column by column
        factor[j, j + 1 :] = factor[j + 1 :, j]
    return factor  # type: ignore[no-any-return]


def _shrink(u: AnyFloats, threshold: Any, nonnegative: bool, out: AnyFloats) -> AnyFloats:
    """Soft threshold of `u` (one-sided if nonnegative) with zero diagonal, into `out`."""
    if nonnegative:
        np.subtract(u, threshold, out=out)
        np.maximum(out, 0, out=out)
    else:
        np.clip(u, -threshold, threshold, out=out)
        np.subtract(u, out, out=out)
    np.fill_diagonal(out, 0)
    return out
