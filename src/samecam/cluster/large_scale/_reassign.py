"""Reassignment: every photo once more against every group, itself left out (not in the paper)."""

import numpy as np

from samecam.arrays import Doubles, Labels


def reassign(
    products: Doubles, labels: Labels, squares: Doubles, size: Doubles, least: float
) -> Labels:
    """The group that each photo is most like, −1 if with none it exceeds `least`.

    With s_c without the photo where it is a member of c,

        ρ_uc = x_u·s_c / ‖s_c‖,

    which undoes what order, splitting and the 50-member limit have left behind. All
    photos move at once.

    Parameters
    ----------
    products : (m, L) x_u·s_c, a member's own part included
    labels : (m,) groups of these photos now
    squares, size : (L,) ‖s_c‖² and members of all groups
    """
    if 0 in products.shape:
        return np.full(len(labels), -1, dtype=np.intp)
    own = np.flatnonzero(labels >= 0)
    mine = labels[own]
    numerator = products.astype(np.float64)
    square = np.broadcast_to(squares, products.shape).copy()
    square[own, mine] += 1 - 2 * numerator[own, mine]
    numerator[own, mine] -= 1
    left = np.broadcast_to(size, products.shape).copy()
    left[own, mine] -= 1
    usable = (left > 0) & (square > 0)
    correlation = np.full(products.shape, -np.inf)
    np.divide(numerator, np.sqrt(np.abs(square)), out=correlation, where=usable)
    best = np.argmax(correlation, axis=1)
    enough = correlation[np.arange(len(labels)), best] > least
    return np.where(enough, best, -1).astype(np.intp)
