"""How groups are numbered: one way, everywhere."""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Labels


def numbered(labels: npt.ArrayLike) -> Labels:
    """The same groups numbered from 0 by size, ties by their first image; −1 stays −1."""
    given = np.asarray(labels, dtype=np.intp)
    result = np.full(given.shape, -1, dtype=np.intp)
    inside = np.flatnonzero(given >= 0)
    if not inside.size:
        return result
    _, first, group, size = np.unique(
        given[inside], return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(size), dtype=np.intp)
    rank[np.lexsort((first, -size))] = np.arange(len(size))
    result[inside] = rank[group]
    return result
