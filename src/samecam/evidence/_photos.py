"""Evidence for each photo's place."""

from dataclasses import dataclass

import numpy as np

from samecam.arrays import Doubles, Labels
from samecam.evidence._comparisons import Comparisons
from samecam.evidence._null import Null, false_alarm


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


def photo_evidence(given: Comparisons, null: Null) -> PhotoEvidence:
    """Evidence for the place of each photo, clustered or not.

    Parameters
    ----------
    given : each photo against each group
    null : from `measured_null`
    """
    count = given.n_groups
    if len(null.group_scale) != count:
        raise ValueError(
            f"the null was measured with {len(null.group_scale)} groups and there are {count}; "
            "measure it on these groups"
        )
    z = _in_units_of_chance(given.own, given.labels, null)
    other_z = _in_units_of_chance(given.other_correlation, given.other, null)
    p_value = false_alarm(z, null)
    return PhotoEvidence(
        group=given.labels,
        correlation=given.own,
        z=z,
        p_value=p_value,
        comparisons=count,
        adjusted=np.minimum(1.0, p_value * count),
        other=given.other,
        other_correlation=given.other_correlation,
        other_z=other_z,
        other_p_value=false_alarm(other_z, null),
        margin=given.own - given.other_correlation,
    )


def _in_units_of_chance(correlation: Doubles, group: Labels, null: Null) -> Doubles:
    """Correlations with some groups over the scales of these; NaN where there is no group."""
    result = np.full(len(group), np.nan)
    some = np.flatnonzero(group >= 0)
    result[some] = correlation[some] / null.group_scale[group[some]]
    return result
