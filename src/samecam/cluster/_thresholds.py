"""Error rates to thresholds: how unlikely chance must be for a photo or a group to count.

All are in units of the standard deviation of chance. A sum of m correlations of
different cameras has the standard deviation σ₀√m.
"""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles


def quantile(log_rate: npt.ArrayLike) -> Doubles:
    """The z with Q(z) = exp(log_rate), for rates far below what a float can hold; at least 0."""
    from scipy.special import ndtri_exp

    z: Doubles = -np.asarray(ndtri_exp(np.asarray(log_rate, dtype=np.float64)))
    return np.maximum(z, 0.0)


def founding(n_images: int, rate: float) -> Doubles:
    """Threshold for the sum over all pairs of a group of k photos, for k = 0 … n_images.

    There are C(n, k) groups of k photos among n. Each size gets the share 1/2^(k−1) of
    the rate, so the probability that noise holds *any* group that passes, however it was
    looked for, is below `rate`. Sizes 0 and 1 never pass.
    """
    from scipy.special import gammaln

    k = np.arange(n_images + 1)
    subsets = gammaln(n_images + 1) - gammaln(k + 1) - gammaln(n_images - k + 1)
    thresholds = quantile(np.log(rate) - subsets - (k - 1) * np.log(2))
    thresholds[:2] = np.inf
    return thresholds


def joining(n_groups: int, rate: float) -> float:
    """Threshold for one photo against one of `n_groups` groups: `rate` is per photo."""
    return float(quantile(np.log(rate) - np.log(max(n_groups, 1))))


def merging(n_groups: int, rate: float) -> float:
    """Threshold for a pair of groups: `rate` is over all pairs."""
    return float(quantile(np.log(rate) - np.log(max(n_groups * (n_groups - 1) / 2, 1))))
