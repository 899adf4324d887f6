"""Weighted evidence accumulation (Huang, Lai, Wang 2015): one consensus of many partitions."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels


def entropy(counts: npt.NDArray[np.integer]) -> float:
    """−Σ p log p of the shares p = counts/Σcounts."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def normalised_information(first: Labels, second: Labels) -> float:
    """Mutual information of two partitions over the larger of their entropies.

    I(a, b) = H(a) + H(b) − H(a, b); 1 for two partitions into one group.
    """
    a, b = (np.unique(labels, return_inverse=True)[1] for labels in (first, second))
    joint = np.unique(a * (int(b.max()) + 1) + b, return_counts=True)[1]
    h_a, h_b = entropy(np.bincount(a)), entropy(np.bincount(b))
    if max(h_a, h_b) == 0:
        return 1.0
    return max(h_a + h_b - entropy(joint), 0.0) / max(h_a, h_b)


def agreement_weights(partitions: Sequence[Labels], beta: float = 2.0) -> Doubles:
    """(CAI_m / max CAI)^β, CAI_m the mean agreement of partition m with the others."""
    count = len(partitions)
    if count == 1:
        return np.ones(1)
    agreement = np.zeros((count, count))
    for m in range(count):
        for k in range(m):
            agreement[m, k] = normalised_information(partitions[m], partitions[k])
    mean = (agreement + agreement.T).sum(axis=1) / (count - 1)
    if mean.max() == 0:
        return np.ones(count)
    return np.asarray((mean / mean.max()) ** beta)


def coassociation(partitions: Sequence[Labels], beta: float = 2.0) -> Doubles:
    """Weighted share of the partitions that put two photos together, (n, n)."""
    weights = agreement_weights(partitions, beta)
    n = len(partitions[0])
    result = np.zeros((n, n))
    for weight, labels in zip(weights, partitions, strict=True):
        result[labels[:, np.newaxis] == labels] += weight
    return np.asarray(result / weights.sum())
