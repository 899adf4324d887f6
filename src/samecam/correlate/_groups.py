"""Groups of photos: their sums, their fingerprints, and each photo against each group."""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats
from samecam.correlate._membership import Membership, RowAdder, checked_labels
from samecam.correlate._strips import DEFAULT_MEMORY, Source, pixels, strip_width, strips

AnyLabels = npt.NDArray[np.integer]


def group_sums(source: Source, labels: AnyLabels, *, memory: int = DEFAULT_MEMORY) -> Floats:
    """Sum of the rows of each group, (n_groups, d) float32; label −1 belongs to none."""
    members = Membership(checked_labels(labels, len(source)))
    width = strip_width(len(source), memory)
    adder = RowAdder(members, 0, members.count, order="C" if members.is_small else None)
    sums = np.zeros((members.count, pixels(source)), dtype=np.float32)
    for start, part in strips(source, width):
        adder.add(part, sums[:, start : start + part.shape[1]])
    return sums


def centroids(source: Source, labels: AnyLabels, *, memory: int = DEFAULT_MEMORY) -> Floats:
    """Unit-norm mean fingerprint of each group, (n_groups, d) float32."""
    sums = group_sums(source, labels, memory=memory)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: Floats = np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)
    return unit


def centroid_correlations(gram: npt.NDArray[np.floating], labels: AnyLabels) -> Doubles:
    """Each photo against each group's fingerprint, leaving the photo itself out.

    With s_ic = Σ_{j∈c} g_ij and t_c = Σ_{i∈c} s_ic (the squared norm of the group's sum),

        r_ic = s_ic / √t_c                              if i is not in c,
        r_ic = (s_ic − g_ii) / √(t_c − 2 s_ic + g_ii)   if it is,

    which is what correlating with the averaged fingerprints gives; 0 where nothing is
    left of a group. Returns (n, n_groups) float64.
    """
    members = Membership(checked_labels(labels, len(gram)))
    products = np.asarray(gram @ members.dense(0, members.count).T, dtype=np.float64)
    return _left_out(products, members, np.diag(gram))


def _left_out(products: Doubles, members: Membership, own: npt.NDArray[np.floating]) -> Doubles:
    """The correlations r_ic from the sums s_ic, the photo itself included where it is a member."""
    inside, mine = members.inside, members.groups
    totals = np.bincount(mine, weights=products[inside, mine], minlength=members.count)
    squares: Doubles = np.zeros_like(products) + totals
    squares[inside, mine] += own[inside] - 2 * products[inside, mine]
    numerators = products.copy()
    numerators[inside, mine] -= own[inside]
    # The square of a norm; what rounding leaves of an emptied group is no group.
    some = squares > 1e-6
    return np.divide(numerators, np.sqrt(np.abs(squares)), out=np.zeros_like(products), where=some)
