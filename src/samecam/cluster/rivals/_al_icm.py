"""Correlation clustering by AL-ICM (Bagon and Galun 2011, after Besag's ICM of 1986)."""

import numpy as np

from samecam.arrays import Gram, Labels


def al_icm(gram: Gram, alpha: float, random_state: np.random.RandomState) -> Labels:
    """A local minimum of E(l) = −Σ_{i≠j} (g_ij − α)·[l_i = l_j]; the number of labels is free.

    Every photo begins with a label of its own. In turn each takes the label it gains most
    from, or a new one if it gains from none, until a whole sweep changes nothing or
    100·⌈ln n⌉ sweeps are done. The order is drawn anew for each sweep.
    """
    from samecam.cluster.rivals._kernels import al_icm_sweep

    n = len(gram)
    matrix = np.ascontiguousarray(gram)
    labels = np.arange(n)
    size = np.ones(n, dtype=np.intp)
    free = np.zeros(n + 1, dtype=np.intp)  # an empty stack, its height in the last place
    for _ in range(100 * int(np.ceil(np.log(max(n, 2))))):
        order = random_state.permutation(n)
        if al_icm_sweep(matrix, float(alpha), order, labels, size, free) == 0:
            break
    return labels
