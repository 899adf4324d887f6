"""How much correlations of different cameras scatter: measured, never assumed."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles

_ROWS = 500
_FEWEST = 8
_MAD = 1.482602218505602
_EDGE = 2.3
_ROUNDS = 30
_ROOM = 1.3
# Real residuals are coloured: their correlations scatter 1.4 times as much as white noise.
_COLOUR = 1.4
_PRIOR = 20
# Pairs that what other frames showed counts as much as.
_LEAN = 100.0


def null_scale(gram: Any, n_pixels: int | None = None, usual: float | None = None) -> float:
    """Robust standard deviation of the correlations of different cameras.

    A camera adds to the correlations of its photos a positive matrix of rank one; the
    rest is the null. Such parts are found as eigenvalues above the edge of the noise
    (2σ√m, with some room), taken away, and the spread (1.4826·MAD) of what is left is
    the next σ, until nothing changes. So one camera that took everything is
    no harder than sixty that share the photos, where 1.4826·MAD of all correlations is
    several times too large.

    Parameters
    ----------
    gram : (n, n) correlations, an array or a tensor on a GPU. At most 500 rows are looked at,
        evenly spread over the order of their sums, so the order of photos does not matter.
    n_pixels : length of the fingerprints, if known. The result is then at least 1/√d,
        and under 8 photos, too few to measure anything, it is 1.4/√d, as on real
        photographs (the spread of the correlations, if d is unknown).
    usual : what photos of other frames showed, if any, in units of 1/√d: it takes the place of
        1.4, and counts as much as 100 pairs of these photos
    """
    from threadpoolctl import threadpool_limits

    if len(gram.shape) != 2 or gram.shape[0] != gram.shape[1]:
        shape = tuple(gram.shape)
        raise ValueError(f"gram has shape {shape}; give the (n, n) correlations of all photos")
    n = len(gram)
    least = 0.0 if n_pixels is None else float(1 / np.sqrt(n_pixels))
    if n < _FEWEST and n_pixels is not None:
        return usual_scale(n_pixels, usual)
    if n < 2:
        return 1.0
    part = _square_part(gram, _spread(gram))
    with threadpool_limits(1, "blas"):  # so small a matrix is not worth more
        measured = max(_without_cameras(part), least) or 1.0
    if usual is None or n_pixels is None:
        return measured
    pairs = len(part) * (len(part) - 1) / 2
    return max(least, _leaning(measured, pairs, usual_scale(n_pixels, usual)))


def _leaning(measured: float, pairs: float, usual: float) -> float:
    """A spread measured on some pairs, drawn to what is usual."""
    return float(np.sqrt((_LEAN * usual**2 + pairs * measured**2) / (_LEAN + pairs)))


def usual_scale(n_pixels: int, usual: float | None = None) -> float:
    """Standard deviation of chance where none can be measured: 1.4/√d, as on real photographs.

    `usual` is what other frames showed, in place of 1.4.
    """
    return float((usual or _COLOUR) / np.sqrt(n_pixels))


def _spread(gram: Any) -> npt.NDArray[np.intp]:
    """Up to 500 rows, evenly spread over the order of their sums."""
    n = len(gram)
    if n <= _ROWS:
        return np.arange(n)
    order = np.argsort(_row_sums(gram), kind="stable")
    return np.sort(order[np.linspace(0, n - 1, _ROWS).round().astype(np.intp)])


def _without_cameras(part: Doubles) -> float:
    """Spread of the off-diagonal entries once what cameras add is taken away."""
    m = len(part)
    if m < _FEWEST:
        return _spread_of(part, 0)
    most = m // _FEWEST
    # Begin as if the largest eighth of the spectrum were cameras, with room above that.
    diagonal, sigma = np.zeros(m), 0.0
    for _ in range(_ROUNDS):
        np.fill_diagonal(part, diagonal)
        values, vectors = np.linalg.eigh(part)
        keep = np.flatnonzero(values > _EDGE * sigma * np.sqrt(m))[-most:]
        low_rank = (vectors[:, keep] * values[keep]) @ vectors[:, keep].T
        diagonal = np.diag(low_rank).copy()
        spread = _spread_of(part - low_rank, len(keep))
        if abs(spread - sigma) <= 1e-3 * sigma:
            break
        sigma = spread if sigma else _ROOM * spread
    return sigma


def _spread_of(rest: Doubles, taken: int) -> float:
    """1.4826 · median|entry| off the diagonal: the null is symmetric round zero.

    `taken` dimensions that were removed have taken their share of the noise with them.
    """
    above = np.triu_indices(len(rest), 1)
    return _MAD * float(np.median(np.abs(rest[above]))) / (1 - taken / len(rest))


def photo_scales(
    gram: Any,
    null_scale: float,
    colour: Doubles | None = None,
    n_pixels: int | None = None,
) -> Doubles:
    """Each photo's own scale of chance σ_i: correlations of i and j scatter by σ_i σ_j.

    Residuals differ in colour, so that correlations of one photo scatter more than those
    of another (on real photographs .7 to 1.4 times as much). Measured on the negative
    correlations of a photo, among which those of its own camera hardly are, with 20 of
    scale σ₀ added: r_i² = (20 σ₀² + Σ_{g_ij<0} g_ij²) / (20 + #{g_ij<0}) = σ_i² · mean σ_j²,
    hence σ_i = r_i / (mean r²)^¼.

    A few smooth photos among others, such as enlarged ones among plain ones, show little of that
    there, for they scatter with each other alone. How smooth each is sets a bound that σ_i is
    not below: σ_i² ≥ c_i/√d.

    Parameters
    ----------
    gram : (n, n) correlations, an array or a tensor on a GPU
    null_scale : σ₀
    colour : (n,) c_i as `samecam.fingerprint.colour` measures it; None: unknown
    n_pixels : d, if colour is given

    Returns (n,) float64.
    """
    n = len(gram)
    squares, many = _negative_squares(gram)
    own = (_PRIOR * null_scale**2 + squares) / (_PRIOR + many)
    scales: Doubles = np.sqrt(own / np.sqrt(own.mean())) if n else np.empty(0)
    if colour is None or n_pixels is None:
        return scales
    least: Doubles = np.sqrt(colour / np.sqrt(n_pixels))
    return np.asarray(np.maximum(scales, least))


def _row_sums(gram: Any) -> Doubles:
    """Sum of each row, in float64."""
    if not isinstance(gram, np.ndarray):
        from samecam.correlate import _gpu

        return _gpu.row_sums(gram)
    return np.asarray(gram.sum(axis=1, dtype=np.float64))


def _square_part(gram: Any, rows: npt.NDArray[np.intp]) -> Doubles:
    """Some rows, and the same columns, as float64."""
    if not isinstance(gram, np.ndarray):
        from samecam.correlate import _gpu

        return _gpu.square_part(gram, rows)
    return np.asarray(gram[np.ix_(rows, rows)], dtype=np.float64)


def _negative_squares(gram: Any) -> tuple[Doubles, Doubles]:
    """Sum of the squares of the negative entries of each row, and their number."""
    if not isinstance(gram, np.ndarray):
        from samecam.correlate import _gpu

        return _gpu.negative_squares(gram)
    n = len(gram)
    squares, many = np.empty(n), np.empty(n)
    for start in range(0, n, _ROWS):
        negative = np.minimum(gram[start : start + _ROWS], 0)
        squares[start : start + _ROWS] = np.einsum("ij,ij->i", negative, negative)
        many[start : start + _ROWS] = np.count_nonzero(negative, axis=1)
    return squares, many
