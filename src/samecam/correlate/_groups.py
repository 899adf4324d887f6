"""Groups of photos: their sums, their fingerprints, and each photo against each group."""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats
from samecam.correlate._cpu import DEFAULT_MEMORY, Source, _parts, _width
from samecam.store import FingerprintStore

Labels = npt.NDArray[np.integer]


def group_sums(source: Source, labels: Labels, *, memory: int = DEFAULT_MEMORY) -> Floats:
    """Sum of the rows of each group, (n_groups, d) float32; label −1 belongs to none."""
    labels = _checked(labels, len(source))
    count = int(labels.max(initial=-1)) + 1
    d = source.n_pixels if isinstance(source, FingerprintStore) else source.shape[1]
    sums = np.zeros((count, d), dtype=np.float32)
    members = _membership(labels, count)
    for start, part in _parts(source, _width(len(source), memory)):
        sums[:, start : start + part.shape[1]] = members @ part
    return sums


def centroids(source: Source, labels: Labels, *, memory: int = DEFAULT_MEMORY) -> Floats:
    """Unit-norm mean fingerprint of each group, (n_groups, d) float32."""
    sums = group_sums(source, labels, memory=memory)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: Floats = np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)
    return unit


def centroid_correlations(gram: npt.NDArray[np.floating], labels: Labels) -> Doubles:
    """Each photo against each group's fingerprint, leaving the photo itself out.

    With s_ic = Σ_{j∈c} g_ij and t_c = Σ_{i∈c} s_ic (the squared norm of the group's sum),

        r_ic = s_ic / √t_c                              if i is not in c,
        r_ic = (s_ic − g_ii) / √(t_c − 2 s_ic + g_ii)   if it is,

    which is what correlating with the averaged fingerprints gives; 0 where nothing is
    left of a group. Returns (n, n_groups) float64.
    """
    labels = _checked(labels, len(gram))
    count = int(labels.max(initial=-1)) + 1
    members = _membership(labels, count)
    return left_out(np.asarray(gram @ members.T, dtype=np.float64), labels, np.diag(gram))


def centroid_correlations_from_rows(
    source: Source, labels: Labels, *, memory: int = DEFAULT_MEMORY
) -> Doubles:
    """The same numbers from the fingerprints themselves, without the Gram matrix."""
    labels = _checked(labels, len(source))
    count = int(labels.max(initial=-1)) + 1
    members = _membership(labels, count)
    products: Doubles = np.zeros((len(source), count))
    norms: Doubles = np.zeros(len(source))
    for _, part in _parts(source, _width(len(source), memory)):
        products = products + part @ (members @ part).T
        norms = norms + np.einsum("ij,ij->i", part, part)
    return left_out(products, labels, norms)


def left_out(
    products: Doubles,
    labels: Labels,
    own: npt.NDArray[np.floating],
    totals: Doubles | None = None,
) -> Doubles:
    """The correlations r_ic of `centroid_correlations` from sums, (n, n_groups).

    Parameters
    ----------
    products : (n, n_groups) s_ic, the photo itself included where it is a member
    labels : (n,) groups, −1 for none
    own : (n,) g_ii
    totals : (n_groups,) t_c; needed where members of the groups are not among the rows
    """
    inside = np.flatnonzero(labels >= 0)
    mine = labels[inside]
    if totals is None:
        sums = np.bincount(mine, weights=products[inside, mine], minlength=products.shape[1])
        totals = sums.astype(np.float64)
    squares: Doubles = np.zeros_like(products) + totals
    squares[inside, mine] += own[inside] - 2 * products[inside, mine]
    numerators = products.copy()
    numerators[inside, mine] -= own[inside]
    # The square of a norm; what rounding leaves of an emptied group is no group.
    some = squares > 1e-6
    return np.divide(numerators, np.sqrt(np.abs(squares)), out=np.zeros_like(products), where=some)


def _membership(labels: Labels, count: int) -> Floats:
    members = np.zeros((count, len(labels)), dtype=np.float32)
    inside = np.flatnonzero(labels >= 0)
    members[labels[inside], inside] = 1
    return members


def _checked(labels: npt.ArrayLike, n: int) -> Labels:
    values = np.asarray(labels)
    if values.shape != (n,) or values.dtype.kind not in "iu":
        raise ValueError(
            f"labels have shape {values.shape} and dtype {values.dtype}; give {n} whole numbers"
        )
    return values
