"""Arguments checked before any work, and the messages about those that are wrong."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samecam.errors import ParameterValueError

_BLOCK = 1024
UNIT = 1e-3  # how far a diagonal entry may be from 1
# How far below 0 an eigenvalue may be: two digits after the point move it by less than that.
_INDEFINITE, _ROUNDED = 0.1, 0.01
_LOOKED_AT = 1024  # rows of a Gram whose eigenvalues are asked for
ASYMMETRY = 1e-5  # how far gram[i, j] may be from gram[j, i], in units of max |gram|


def as_gram(gram: ArrayLike) -> NDArray[np.floating]:
    """`gram` as a square C-ordered float32 or float64 array; no copy unless one is needed.

    A Fortran-ordered Gram is read through its transpose, which is the same matrix.
    """
    array: NDArray[Any] = np.asarray(gram)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(not_square(array.shape))
    if array.dtype.kind not in "fiub":
        raise ValueError(f"gram has dtype {array.dtype}: give real numbers, float32 or float64")
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    if array.flags.f_contiguous:
        array = array.T
    return np.ascontiguousarray(array)


def check_gram(gram: NDArray[np.floating]) -> float:
    """Raise unless `gram` is finite, symmetric and has a diagonal of ones; return max |gram|.

    Walks pairs of blocks; allocates a few blocks of 1024 × 1024 at most.
    """
    n = gram.shape[0]
    largest, asymmetry = 0.0, 0.0
    for top in range(0, n, _BLOCK):
        for left in range(top, n, _BLOCK):
            upper = gram[top : top + _BLOCK, left : left + _BLOCK]
            lower = gram[left : left + _BLOCK, top : top + _BLOCK]
            low = min(float(upper.min()), float(lower.min()))
            high = max(float(upper.max()), float(lower.max()))
            if not (math.isfinite(low) and math.isfinite(high)):
                raise ValueError(_not_finite(gram))
            largest = max(largest, -low, high)
            asymmetry = max(asymmetry, float(np.abs(upper - lower.T).max()))
    diagonal = gram.diagonal()
    if n and float(np.abs(diagonal - 1).max()) > UNIT:
        i = int(np.abs(diagonal - 1).argmax())
        raise ValueError(not_unit(i, diagonal[i]))
    if asymmetry > ASYMMETRY * largest:
        raise ValueError(not_symmetric(asymmetry))
    return largest


def check_range(gram: ArrayLike) -> None:
    """As `check_gram`, and raise if an entry is larger than a correlation can be."""
    largest = check_gram(as_gram(gram))
    if largest > 1 + 2 * UNIT:
        raise ValueError(
            f"gram has an entry of size {largest:.6g}: give correlations, which lie between -1 "
            "and 1"
        )


def check_correlations(gram: NDArray[np.floating]) -> None:
    """As `check_range`, and raise if no fingerprints can have these correlations.

    Those of some have no negative eigenvalue; of large matrices, evenly spread rows are
    looked at.
    """
    check_range(gram)
    rows = np.unique(np.linspace(0, max(len(gram) - 1, 0), _LOOKED_AT).round().astype(np.intp))
    some = gram[np.ix_(rows, rows)].astype(np.float64) if len(gram) else np.zeros((0, 0))
    some[np.diag_indices(len(some))] += _INDEFINITE + _ROUNDED * math.sqrt(len(some))
    try:
        np.linalg.cholesky(some)
    except np.linalg.LinAlgError:
        raise ValueError(
            "gram has eigenvalues far below 0, which no correlations of fingerprints have: "
            "correlate all images with one another, on the same pixels"
        ) from None


def _not_finite(gram: NDArray[np.floating]) -> str:
    """Message about the first entry that is not finite."""
    i = next(k for k, row in enumerate(gram) if not np.isfinite(row).all())
    j = int(np.flatnonzero(~np.isfinite(gram[i]))[0])
    return not_finite(i, j, float(gram[i, j]))


def not_square(shape: tuple[int, ...]) -> str:
    """Message about a Gram of this shape."""
    return (
        f"gram has shape {shape}: give the square matrix of correlations between all images, "
        "shape (n, n)"
    )


def not_finite(i: int, j: int, value: float) -> str:
    """Message about an entry that is not finite."""
    return f"gram[{i}, {j}] is {value}: leave out images whose correlations are not finite"


def not_unit(i: int, value: float) -> str:
    """Message about a diagonal entry that is not 1."""
    return (
        f"gram[{i}, {i}] is {value:.6g}, not 1: scale every fingerprint to unit norm before "
        "correlating"
    )


def not_symmetric(asymmetry: float) -> str:
    """Message about entries that differ by so much from their mirror image."""
    return (
        f"gram is not symmetric, entries differ from their mirror image by up to {asymmetry:.3g}: "
        "give correlations, gram[i, j] = gram[j, i]"
    )


def check_gamma(gamma: float) -> float:
    """`gamma` as a float, if it is a finite positive number."""
    try:
        value = float(gamma)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise ParameterValueError(
            "gamma",
            f"{{name}} is {gamma!r}: give a positive number, for example twice the spread of "
            "correlations between different cameras",
        )
    return value


def check_positive(name: str, value: float, advice: str) -> None:
    """Refuse what is not a finite positive number."""
    if not (math.isfinite(value) and value > 0):
        raise ParameterValueError(name, f"{{name}} is {value!r}: {advice}")


def as_rows(coefficients: Any, n: int, dtype: np.dtype[Any]) -> Any:
    """`coefficients` (dense or sparse, (n, n)) as a canonical CSR array of `dtype`."""
    from scipy.sparse import csr_array

    rows = csr_array(coefficients, dtype=dtype)
    if rows.shape != (n, n):
        raise ValueError(
            f"coefficients have shape {rows.shape} but gram is {n} × {n}: row i must represent "
            "image i by all images"
        )
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
