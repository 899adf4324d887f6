"""Small groups join large ones by likelihood ratio (the refinement of Marra and others 2017)."""

import numpy as np
import numpy.typing as npt

from samecam import correlate
from samecam.arrays import Doubles, Gram, Labels

_MAD = 1.482602218505602
_LEAST = 1e-7


def log_ratios(correlations: Doubles, own: npt.NDArray[np.bool_]) -> Doubles:
    """Ratio log f₁ − log f₀ of each photo for one group, by correlation with its fingerprint.

    f₁ is normal with mean and variance of the group's own photos (each left out of the
    fingerprint it is compared with), f₀ with median and 1.4826·MAD of all others, some of
    which may belong to the group. The deviation of f₁ is at least that of f₀: a photo of
    the camera carries the noise that a stranger carries.
    """
    mine, others = correlations[own], correlations[~own]
    if not len(others):
        return np.zeros(len(correlations))
    centre = float(np.median(others))
    spread = max(_MAD * float(np.median(np.abs(others - centre))), _LEAST)
    width = max(float(mine.std()), spread)
    z1 = (correlations - mine.mean()) / width
    z0 = (correlations - centre) / spread
    return np.asarray((z0**2 - z1**2) / 2 + np.log(spread / width))


def merge_by_likelihood(gram: Gram, labels: Labels) -> Labels:
    """Groups of at most T photos join larger ones, T = 1, 2, …, best pair first.

    Λ_pq = Σ_{i∈q} log f₁(i) − log f₀(i) for the large group p; the pair with the largest Λ
    is merged while that is positive. It ends when no group is larger than T. Labels are
    0 … L−1.
    """
    labels = labels.copy()
    size = np.bincount(labels)
    table = np.full((len(size), len(size)), -np.inf)
    correlations = correlate.centroid_correlations(gram, labels)
    for p in np.flatnonzero(size > 1):
        _judge(table, int(p), correlations[:, p], labels, size)
    limit = 1
    while (size > limit).any():
        large, small = size > limit, (size > 0) & (size <= limit)
        view = np.where(large[:, np.newaxis] & small, table, -np.inf)
        p, q = np.unravel_index(int(np.argmax(view)), view.shape)
        if not view[p, q] > 0:
            limit = int(size[size > limit].min())
            continue
        labels[labels == q] = p
        size[p] += size[q]
        size[q] = 0
        table[:, p] += table[:, q]
        only = np.where(labels == p, 0, -1)
        _judge(table, int(p), correlate.centroid_correlations(gram, only)[:, 0], labels, size)
    return labels


def _judge(table: Doubles, p: int, correlations: Doubles, labels: Labels, size: Labels) -> None:
    """Fill row p of the table with Λ_pq for every other group q."""
    ratios = log_ratios(correlations, labels == p)
    table[p] = np.bincount(labels, weights=ratios, minlength=len(size))
    table[p, size == 0] = -np.inf
    table[p, p] = -np.inf
