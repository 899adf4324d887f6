"""Evidence for each photo's place."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from samecam.arrays import Doubles, Labels, Rows
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
    comparisons : groups it was compared with; (n,)
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
    comparisons: Labels
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
        comparisons=np.full(len(given.labels), count, dtype=np.intp),
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


def joined_evidence(parts: Sequence[tuple[Rows, Labels, PhotoEvidence]], n: int) -> PhotoEvidence:
    """Evidence for n photos of several frames.

    Parameters
    ----------
    parts : for each frame that has groups: numbers of its photos, numbers that its groups have
        among all, and the evidence; photos of other frames were compared with nothing
    """
    none, nothing = np.full(n, -1, dtype=np.intp), np.full(n, np.nan)
    whole = PhotoEvidence(
        group=none.copy(),
        correlation=nothing.copy(),
        z=nothing.copy(),
        p_value=nothing.copy(),
        comparisons=np.zeros(n, dtype=np.intp),
        adjusted=nothing.copy(),
        other=none.copy(),
        other_correlation=nothing.copy(),
        other_z=nothing.copy(),
        other_p_value=nothing.copy(),
        margin=nothing.copy(),
    )
    for at, numbers, part in parts:
        for field in fields(PhotoEvidence):
            values = getattr(part, field.name)
            if field.name in ("group", "other"):
                values = np.append(numbers, -1)[values]
            getattr(whole, field.name)[at] = values
    return whole
