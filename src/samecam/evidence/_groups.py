"""Evidence for each group, and why two groups are two."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels
from samecam.evidence._comparisons import (
    Comparisons,
    fingerprint_correlations,
    fingerprint_quality,
    intra_correlations,
)
from samecam.evidence._null import Null
from samecam.represent import check_range

Apart = Literal["alone", "different", "unclear", "near", "too weak"]

_HALF = 0.5
_FAMILY = 0.001


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """What some pairs of a group show: number of pairs, mean correlation, z of their sum.

    z = Σ g_ij / (σ₀√pairs); NaN where there is no pair.
    """

    pairs: int
    correlation: float
    z: float


@dataclass(frozen=True, slots=True)
class GroupEvidence:
    """One group.

    Attributes
    ----------
    group, size : its number and number of photos
    intra_correlation : mean over its pairs
    z : sum over its pairs in units of chance, Σ g_ij / (σ₀√pairs)
    quality : expected correlation of its fingerprint with the true pattern
    nearest : the other group whose fingerprint is most like its own, −1 if there is none
    nearest_correlation : of the two fingerprints
    expected : what the two would show if one camera had taken both (H₁)
    chance : what two groups of different cameras stay below, but for one collection in 1000
    apart : why they were not merged: "different" (far below what one camera would show),
        "unclear" (beyond chance, between a quarter and half of what one camera would show),
        "near" (at least half of it: may well be one camera), "too weak" (half of it lies
        within chance: cannot be told), "alone" (no other group)
    """

    group: int
    size: int
    intra_correlation: float
    z: float
    quality: float
    nearest: int
    nearest_correlation: float
    expected: float
    chance: float
    apart: Apart


def group_evidence(given: Comparisons, null: Null) -> list[GroupEvidence]:
    """Evidence for every group, in the order of their numbers."""
    from scipy.special import ndtri

    count = given.n_groups
    size, intra = given.sizes, intra_correlations(given)
    quality = fingerprint_quality(size, intra)
    chance = -float(ndtri(_FAMILY / max(count * (count - 1) / 2, 1))) * null.scale
    nearest, likeness = _nearest(given)
    result = []
    for c in range(count):
        pairs = size[c] * (size[c] - 1) / 2
        observed = float(likeness[c])
        expected = float(quality[c] * quality[nearest[c]]) if count > 1 else np.nan
        result.append(
            GroupEvidence(
                group=c,
                size=int(size[c]),
                intra_correlation=float(intra[c]),
                z=float(intra[c] * np.sqrt(pairs) / null.scale),
                quality=float(quality[c]),
                nearest=int(nearest[c]),
                nearest_correlation=observed,
                expected=expected,
                chance=chance,
                apart=_apart(observed, expected, chance),
            )
        )
    return result


def _nearest(given: Comparisons) -> tuple[Labels, Doubles]:
    """The other group whose fingerprint is most like each group's, and their correlation."""
    count = given.n_groups
    nearest, likeness = np.full(count, -1, dtype=np.intp), np.full(count, np.nan)
    if count < 2:
        return nearest, likeness
    for first, like in fingerprint_correlations(given):
        rows = np.arange(len(like))
        like[rows, rows + first] = -np.inf
        best = np.argmax(like, axis=1)
        nearest[first : first + len(like)] = best
        likeness[first : first + len(like)] = like[rows, best]
    return nearest, likeness


def pair_evidence(
    gram: npt.NDArray[np.floating], scale: float, leave_out: npt.NDArray[np.bool_] | None = None
) -> PairEvidence:
    """What the pairs of one group show, without the pairs that are `leave_out`.

    With `leave_out` from `still_scenes`, the evidence over pairs of unlike pictures alone.

    Parameters
    ----------
    gram : (m, m) correlations of the group's members
    scale : standard deviation of chance σ₀ of a single pair
    leave_out : (m, m) symmetric, True for pairs not to count
    """
    check_range(gram)
    chosen = np.triu(np.ones(gram.shape, dtype=bool), 1)
    if leave_out is not None:
        if leave_out.shape != gram.shape:
            raise ValueError(
                f"leave_out has shape {leave_out.shape} and gram {gram.shape}; give one entry a "
                "pair"
            )
        chosen &= ~leave_out
    values: Doubles = np.asarray(gram[chosen], dtype=np.float64)
    if len(values) == 0:
        return PairEvidence(0, np.nan, np.nan)
    total = float(values.sum())
    return PairEvidence(
        len(values), total / len(values), total / (scale * float(np.sqrt(len(values))))
    )


def _apart(observed: float, expected: float, chance: float) -> Apart:
    if np.isnan(observed):
        return "alone"
    if observed > chance and observed >= _HALF * expected:
        return "near"
    if expected * _HALF <= chance:
        return "too weak"
    if observed > chance and observed > _HALF / 2 * expected:
        return "unclear"
    return "different"
