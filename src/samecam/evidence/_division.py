"""A group's best division in two: whether its photos may be of two cameras."""

from dataclasses import dataclass

import numpy as np

from samecam.arrays import Doubles, Gram, Mask
from samecam.evidence._comparisons import fingerprint_quality

# Photos of a part, at least, and times that photos go to the part that they are more like.
_FEWEST, _TURNS = 2, 8
# It falls apart if the parts show less than this share of what one camera would, and what lacks is
# beyond chance, which had all divisions to choose from: among n photos noise alone has one in
# which about .8 √n lack, and as much is too much inside.
_SHARE, _LACKING, _CHOICE = 0.5, 4.0, 2.0


@dataclass(frozen=True, slots=True)
class Division:
    """Two parts of a group.

    Attributes
    ----------
    second : (n,) which photos are in the second, smaller part
    correlation : of the fingerprints of the two
    expected : what it would be if one camera had taken both
    score : the correlation in units of chance
    falls_apart : whether the two may well be of two cameras
    """

    second: Mask
    correlation: float
    expected: float
    score: float
    falls_apart: bool

    @property
    def share(self) -> float:
        """What the parts show of what one camera would show."""
        return self.correlation / self.expected if self.expected > 0 else float("nan")


def best_division(gram: Gram, scale: float) -> Division | None:
    """The division of a group in two that have the least in common; None of fewer than four.

    The photos' strengths a_i are taken off, g_ij − a_i a_j, the strongest direction of what is left
    divides them, and then each goes to the part that it is more like.

    Parameters
    ----------
    gram : (n, n) correlations of its photos
    scale : standard deviation of chance of a single pair
    """
    n = len(gram)
    if n < 2 * _FEWEST:
        return None
    pairs = gram.astype(np.float64)
    np.fill_diagonal(pairs, 0.0)
    second = _settled(pairs, _first_cut(pairs))
    if min(second.sum(), n - second.sum()) < _FEWEST:
        return None
    if second.sum() > n - second.sum():
        second = ~second
    correlation, expected = _between(pairs, second)
    lacking = (expected - correlation) / scale
    beyond = lacking > _LACKING + _CHOICE * np.sqrt(n)
    falls = bool(expected > 0 and correlation < _SHARE * expected and beyond)
    return Division(second, correlation, expected, correlation / scale, falls)


def _first_cut(pairs: Doubles) -> Mask:
    from scipy.linalg import eigh

    sums = pairs.sum(axis=1)
    total = max(float(sums.sum()), 1e-30)
    strength = np.maximum(sums, 0) / np.sqrt(total)
    rest = pairs - np.outer(strength, strength)
    np.fill_diagonal(rest, 0.0)
    last = len(rest) - 1
    direction = eigh(rest, subset_by_index=[last, last], overwrite_a=True, check_finite=False)[1][
        :, 0
    ]
    # The sign of an eigenvector is arbitrary: the first photo that tells is in the first part.
    lead = direction[np.argmax(np.abs(direction) > 1e-9)]
    return np.asarray(direction * np.sign(lead) < 0)


def _settled(pairs: Doubles, second: Mask) -> Mask:
    """Photos in the part that they are more like, as long as two are left in each."""
    for _ in range(_TURNS):
        likeness, squares = _sums(pairs, second)
        norms = np.sqrt(np.maximum(squares, 1e-30))
        better = likeness[:, 1] / norms[1] > likeness[:, 0] / norms[0]
        if np.array_equal(better, second) or min(better.sum(), (~better).sum()) < _FEWEST:
            break
        second = better
    return second


def _sums(pairs: Doubles, second: Mask) -> tuple[Doubles, Doubles]:
    """(n, 2) of each photo's pairs with the two parts, squared norms of the parts' sums.

    Products with 0 and 1: threads that divide other groups need not wait for the interpreter.
    """
    parts = np.column_stack([~second, second]).astype(np.float64)
    likeness = pairs @ parts
    return likeness, parts.sum(axis=0) + np.einsum("ij,ij->j", parts, likeness)


def _between(pairs: Doubles, second: Mask) -> tuple[float, float]:
    """Correlation of the fingerprints of two parts, and what one camera would show."""
    likeness, squares = _sums(pairs, second)
    sizes = np.array([(~second).sum(), second.sum()], dtype=np.float64)
    quality = fingerprint_quality(sizes, (squares - sizes) / (sizes * (sizes - 1)))
    common = float(likeness[~second, 1].sum())
    return common / float(np.sqrt(max(squares[0] * squares[1], 1e-30))), float(quality.prod())
