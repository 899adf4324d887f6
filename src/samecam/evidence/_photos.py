"""Evidence for each photo's place."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels
from samecam.evidence._null import Null, false_alarm
from samecam.evidence._sums import GroupSums, leave_one_out


@dataclass(frozen=True, slots=True)
class PhotoEvidence:
    """One entry a photo; NaN (−1 for groups) where there is nothing to state.

    Attributes
    ----------
    group : its group, −1 if unclustered
    correlation : with the fingerprint of the other members of its group
    z : that in units of what chance scatters for this group
    p_value : upper bound of the probability that one photo of another camera reaches z
    comparisons : groups it was compared with
    adjusted : min(1, p_value · comparisons): that a photo of another camera reaches z
        with any of the groups
    other : the other group it correlates with best (of an unclustered photo: the group)
    other_correlation, other_z, other_p_value : the same for that one
    margin : correlation − other_correlation
    """

    group: Labels
    correlation: Doubles
    z: Doubles
    p_value: Doubles
    comparisons: int
    adjusted: Doubles
    other: Labels
    other_correlation: Doubles
    other_z: Doubles
    other_p_value: Doubles
    margin: Doubles


def photo_evidence(given: GroupSums, null: Null) -> PhotoEvidence:
    """Evidence for the place of each photo, clustered or not.

    Parameters
    ----------
    given : from `sums_from_gram` or `sums_from_rows`; of new photos too, with labels −1,
        their sums with the members of each group
    null : from `measured_null`
    """
    n, count = given.sums.shape
    if len(null.group_scale) != count:
        raise ValueError(
            f"the null was measured with {len(null.group_scale)} groups and there are {count}; "
            "measure it on these groups"
        )
    r = leave_one_out(given)
    z = r / null.group_scale if count else r
    clustered = np.flatnonzero(given.labels >= 0)
    mine = given.labels[clustered]
    correlation, own_z = np.full(n, np.nan), np.full(n, np.nan)
    correlation[clustered] = r[clustered, mine]
    own_z[clustered] = z[clustered, mine]
    other = _nearest_other(r, given.labels)
    has = np.flatnonzero(other >= 0)
    other_r, other_z = np.full(n, np.nan), np.full(n, np.nan)
    other_r[has], other_z[has] = r[has, other[has]], z[has, other[has]]
    p_value = false_alarm(own_z, null)
    return PhotoEvidence(
        group=given.labels,
        correlation=correlation,
        z=own_z,
        p_value=p_value,
        comparisons=count,
        adjusted=np.minimum(1.0, p_value * count),
        other=other,
        other_correlation=other_r,
        other_z=other_z,
        other_p_value=false_alarm(other_z, null),
        margin=correlation - other_r,
    )


def _nearest_other(r: Doubles, labels: npt.NDArray[np.intp]) -> Labels:
    """The group each photo correlates with best, its own left out; −1 if there is none."""
    masked = r.copy()
    inside = np.flatnonzero(labels >= 0)
    masked[inside, labels[inside]] = -np.inf
    if masked.shape[1] == 0:
        return np.full(len(labels), -1, dtype=np.intp)
    best = np.argmax(masked, axis=1)
    found = np.isfinite(masked[np.arange(len(labels)), best])
    return np.where(found, best, -1).astype(np.intp)
