"""How much correlations of different cameras scatter: measured, never assumed."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Doubles = npt.NDArray[np.float64]

_ROWS = 500
_FEWEST = 8
_MAD = 1.482602218505602
_EDGE = 2.3
_ROUNDS = 30
_ROOM = 1.3
# Real residuals are coloured: their correlations scatter 1.4 times as much as white noise.
_COLOUR = 1.4


def null_scale(gram: Floats, n_pixels: int | None = None) -> float:
    """Robust standard deviation of the correlations of different cameras.

    A camera adds to the correlations of its photos a positive matrix of rank one; the
    rest is the null. Such parts are found as eigenvalues above the edge of the noise
    (2σ√m, with some room), taken away, and the spread (1.4826·MAD) of what is left is
    the next σ, until nothing changes. So one camera that took everything is
    no harder than sixty that share the photos, where 1.4826·MAD of all correlations is
    several times too large.

    Parameters
    ----------
    gram : (n, n) correlations. At most 500 rows are looked at, evenly spread over the
        order of their sums, so the order of photos does not matter.
    n_pixels : length of the fingerprints, if known. The result is then at least 1/√d,
        and under 8 photos, too few to measure anything, it is 1.4/√d, as on real
        photographs (the spread of the correlations, if d is unknown).
    """
    n = len(gram)
    least = 0.0 if n_pixels is None else float(1 / np.sqrt(n_pixels))
    if n < _FEWEST and n_pixels is not None:
        return _COLOUR * least
    if n < 2:
        return 1.0
    rows = _spread(gram)
    part = np.asarray(gram[np.ix_(rows, rows)], dtype=np.float64)
    return max(_without_cameras(part), least) or 1.0


def _spread(gram: Floats) -> npt.NDArray[np.intp]:
    """Up to 500 rows, evenly spread over the order of their sums."""
    n = len(gram)
    if n <= _ROWS:
        return np.arange(n)
    order = np.argsort(np.asarray(gram).sum(axis=1, dtype=np.float64), kind="stable")
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
