"""Correlations without some pixels of the frame."""

import numpy as np

from samecam.arrays import Doubles, Floats, Mask
from samecam.correlate._cpu import mirror
from samecam.correlate._strips import Source, strips

# Pixels that are taken off at a time, whatever the memory, so that the last digits are the same;
# and rows and columns of a block of products.
_WIDTH, _SIDE = 4096, 4096
_LEAST = 1e-6  # of a row's squared norm, that is left


def leave_out(gram: Floats, source: Source, inside: Mask) -> None:
    """Take pixels out of the correlations of all rows, in their place.

    What is left of each row is brought to unit norm again.

    Parameters
    ----------
    gram : (n, n) correlations of the rows, all of it
    source : rows of unit norm
    inside : (d,) which pixels are left out
    """
    own: Doubles = np.zeros(len(gram))
    for start, part in strips(source, _WIDTH):
        here = inside[start : start + part.shape[1]]
        if here.any():
            some = np.ascontiguousarray(part[:, here])
            own += np.einsum("ij,ij->i", some, some, dtype=np.float64)
            for top in range(0, len(gram), _SIDE):
                rows = slice(top, top + _SIDE)
                for left in range(0, top + 1, _SIDE):
                    columns = slice(left, left + _SIDE)
                    gram[rows, columns] -= some[rows] @ some[columns].T
    scales = (1 / np.sqrt(np.maximum(1 - own, _LEAST))).astype(np.float32)
    gram *= scales[:, np.newaxis]
    gram *= scales
    mirror(gram)
    np.einsum("ii->i", gram)[:] = 1
