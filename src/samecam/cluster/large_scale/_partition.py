"""Clustering one batch: representation, random walk, nearest neighbours, dense regions.

The paper's procedure PARTITION. Its target are small groups that are pure: whoever is
not surely in one is left over, and comes again in recycling or attraction.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from samecam.arrays import Doubles, Gram, Labels, Mask
from samecam.cluster._thresholds import founding, quantile
from samecam.cluster.large_scale._merge import Threshold
from samecam.cluster.large_scale._purify import purify
from samecam.represent import SolverReport, represent

STEPS = 1000
# Q⁻¹(0.2): a normal law keeps 80 % of its mass above μ − 0.8416 s.
CUT = 0.8416212335729143
# What rounding may leave of the spread of equal scores, in units of their mean.
_ROUNDING = 1e-9
_EQUAL = 1e-6


@dataclass(frozen=True, slots=True)
class Rules:
    """How a batch is clustered.

    Attributes
    ----------
    gamma : weight of the ℓ₁ norm
    n_neighbours : K, coefficients kept of each photo and MinPts of DBSCAN
    fewest : where K finds nothing, K − 1 and so on are tried down to this; K: never
    scale, rate, n_images : a group must exceed what chance of this scale makes, family-wise
        at this rate over all groups there could be among so many photos, and hold together
        by the rule of merging; rate 0: neither is asked
    threshold : rule of merging
    device : that correlates and represents, as `compute.choose_device` gave it
    """

    gamma: float
    n_neighbours: int = 5
    fewest: int = 5
    scale: float = 1.0
    rate: float = 0.0
    n_images: int = 0
    threshold: Threshold = "half"
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class Partition:
    """What one batch gave.

    Attributes
    ----------
    labels : (m,) groups from 0; −1 is left over
    outliers : photos that the random walk marked, those without a representation included
    dissolved : groups that chance could have made
    report : of the solver
    """

    labels: Labels
    outliers: int
    dissolved: int
    report: SolverReport

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.labels.max(initial=-1)) + 1


def partition(gram: Gram, rules: Rules, *, n_threads: int | None = None) -> Partition:
    """Groups of one batch.

    Non-negative LASSO; outliers of the random walk leave with their rows *and* columns; K
    largest coefficients of each photo; DBSCAN with ε the mean of these and MinPts = K (or
    the number of photos where that is smaller); groups that fall apart are cut (`purify`)
    and those that chance could have made dissolve (`significant`).
    """
    represented = represent(
        gram, rules.gamma, nonnegative=True, n_threads=n_threads, device=rules.device
    )
    marked = outliers(walk(represented.coefficients))
    kept = np.flatnonzero(~marked)
    between = represented.coefficients[kept][:, kept]
    labels = np.full(len(gram), -1, dtype=np.intp)
    dissolved = 0
    for count in range(rules.n_neighbours, min(rules.fewest, rules.n_neighbours) - 1, -1):
        points = min(count, len(gram))
        nearest = largest(between, points)
        if not nearest.nnz:
            break
        # Of equal coefficients none may fall below their mean by rounding.
        least = float(nearest.data.mean(dtype=np.float64)) * (1 - _EQUAL)
        labels[kept] = dense_regions(nearest, least, points)
        if rules.rate:
            chance = float(quantile(np.log(rules.rate))) * rules.scale
            labels = purify(gram, labels, chance, rules.threshold)
            before = int(labels.max()) + 1
            labels = significant(gram, labels, rules)
            dissolved += before - int(labels.max()) - 1
        if labels.max() >= 0:
            break
    return Partition(labels, int(np.count_nonzero(marked)), dissolved, represented.report)


def significant(gram: Gram, labels: Labels, rules: Rules) -> Labels:
    """The groups whose sum of correlations is more than chance makes, numbered from 0.

    The sum over the pairs of a group of k has the standard deviation σ₀√(k(k−1)/2); its
    threshold counts all C(n, k) groups of k among n photos (`consolidate` founds by the
    same rule).
    """
    thresholds = founding(max(rules.n_images, len(gram)), rules.rate)
    result = np.full(labels.shape, -1, dtype=np.intp)
    count = 0
    for group in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == group)
        k = len(members)
        part = gram[np.ix_(members, members)]
        total = (part.sum(dtype=np.float64) - np.trace(part, dtype=np.float64)) / 2
        if k > 1 and total > thresholds[k] * rules.scale * np.sqrt(k * (k - 1) / 2):
            result[members] = count
            count += 1
    return result


def walk(coefficients: Any, steps: int = STEPS) -> Doubles:
    """Probability of finding a random walker at each photo, mean over `steps` steps.

    At photo i it goes to j with probability c_ij / Σ_j c_ij; it starts anywhere. Photos
    with a zero row, which could not be left again, are taken away first, and those whose
    row is zero without them; they get NaN.
    """
    matrix = coefficients.tocsr().astype(np.float64)
    n = matrix.shape[0]
    alive = np.arange(n)
    while matrix.shape[0]:
        sums = np.asarray(matrix.sum(axis=1)).ravel()
        some = np.flatnonzero(sums > 0)
        if len(some) == matrix.shape[0]:
            break
        alive, matrix = alive[some], matrix[some][:, some]
    scores = np.full(n, np.nan)
    if not len(alive):
        return scores
    matrix.data /= np.repeat(sums, np.diff(matrix.indptr))
    forward = matrix.T.tocsr()
    state = np.full(len(alive), 1 / len(alive))
    total = np.zeros(len(alive))
    for _ in range(steps):
        state = forward @ state
        total += state
    scores[alive] = total / steps
    return scores


def outliers(scores: Doubles, cut: float = CUT) -> Mask:
    """Photos where a walker rarely is: under μ − 0.8416 s of a normal law, or NaN.

    μ and s are taken over the photos that a walker can leave again. Only the low side is
    an outlier; a photo that it often comes to is well connected.
    """
    marked = np.isnan(scores)
    if marked.all():
        return marked
    mean, spread = float(scores[~marked].mean()), float(scores[~marked].std())
    if spread > _ROUNDING * mean:
        marked |= scores < mean - cut * spread
    return marked


def largest(coefficients: Any, count: int) -> Any:
    """The `count` largest entries of each row, CSR; of equal ones those of lower number."""
    from scipy.sparse import csr_array

    matrix = csr_array(coefficients)
    matrix.sort_indices()
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, -matrix.data, row))
    rank = np.arange(len(order)) - matrix.indptr[row[order]]
    keep = order[rank < count]
    kept = csr_array((matrix.data[keep], (row[keep], matrix.indices[keep])), shape=matrix.shape)
    kept.sort_indices()
    return kept


def dense_regions(similarity: Any, least: float, min_points: int) -> Labels:
    """DBSCAN on similarities: neighbours are those at least `least` alike in either direction.

    A photo with `min_points` neighbours, itself counted, is a core; cores that are
    neighbours share a group; other neighbours of cores join that of the core most like
    them (the original: whichever was met first). −1 is in no region.
    """
    from scipy.sparse.csgraph import connected_components

    links = similarity.maximum(similarity.T).tocsr()
    links.setdiag(0)
    links.data[links.data < least] = 0
    links.eliminate_zeros()
    n = links.shape[0]
    core = np.diff(links.indptr) + 1 >= min_points
    labels = np.full(n, -1, dtype=np.intp)
    inside = np.flatnonzero(core)
    if not len(inside):
        return labels
    _, labels[inside] = connected_components(links[inside][:, inside], directed=False)
    for i in np.flatnonzero(~core):
        row = slice(links.indptr[i], links.indptr[i + 1])
        weight = np.where(core[links.indices[row]], links.data[row], 0)
        if weight.any():
            labels[i] = labels[links.indices[row][np.argmax(weight)]]
    return labels
