"""Evidence for each group, and why two groups are two."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Labels, Rows
from samecam.evidence._comparisons import (
    Comparisons,
    fingerprint_correlations,
    fingerprint_quality,
    intra_correlations,
)
from samecam.evidence._law import STRANGERS, Law
from samecam.evidence._null import Null
from samecam.evidence._order import median_size
from samecam.evidence._ratios import expected_scores, largest_ratio, log_ratios
from samecam.evidence._scores import Chance
from samecam.represent import check_range

Apart = Literal["alone", "may be one", "not shown", "different"]

_FAMILY = 0.001
# Beyond chance, two groups may be one camera from this score on, or from this share of what one
# camera would show; they are different only if so many times what chance stays below was to be
# expected, and nothing was seen.
_CLEAR, _SHARE, _EXPECTED, _NOTHING = 8.0, 0.1, 3.0, 2.0
# Pairs of groups from which their own scatter is measured.
_PAIRS = 28
_HELD = 2**16
_MAD = 1.482602218505602


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """What some pairs of a group show: number of pairs, mean correlation, score of their sum.

    score = Σ g_ij / (σ₀√pairs); NaN where there is no pair.
    """

    pairs: int
    correlation: float
    score: float


@dataclass(frozen=True, slots=True)
class GroupEvidence:
    """One group.

    Attributes
    ----------
    group, size : its number and number of photos
    intra_correlation : mean over its pairs
    score : sum over its pairs in units of chance, Σ g_ij / (σ₀√pairs)
    quality : expected correlation of its fingerprint with the true pattern
    weakest : lowest score of its members; NaN: not known
    repeats : what of its members' correlation is there at shifts by multiples of 8 pixels too, and
        so is no sensor's; NaN: not known
    nearest : the other group whose fingerprint is most like its own, −1 if there is none
    nearest_correlation, nearest_score : of the two fingerprints
    nearest_ratio : log10 of the likelihood ratio of the two propositions, one camera and two; at
        most `cap`
    cap : largest ratio that is supported
    expected : correlation that the two would show if one camera had taken both (H₁)
    chance : what two groups of different cameras stay below, but for one collection in 1000
    apart : what that says: "may be one" (beyond chance: one camera in two modes, or shared
        processing), "not shown" to be one camera (within chance), "different" (one camera in this
        mode would have been seen clearly, and nothing was), "alone" (no other group)
    """

    group: int
    size: int
    intra_correlation: float
    score: float
    quality: float
    weakest: float
    repeats: float
    nearest: int
    nearest_correlation: float
    nearest_score: float
    nearest_ratio: float
    cap: float
    expected: float
    chance: float
    apart: Apart


def group_evidence(
    given: Comparisons,
    null: Null,
    scores: Doubles,
    n_pixels: int,
    *,
    own: Chance | None = None,
    law: Law = STRANGERS,
) -> list[GroupEvidence]:
    """Evidence for every group, in the order of their numbers.

    Parameters
    ----------
    given : each photo against each group
    null : what strangers do
    scores : (n,) of photos with their own group
    n_pixels : length of the fingerprints
    own : what chance does with each photo and its group
    law : of strangers, see `law_of_case`
    """
    from scipy.special import ndtri

    count, cap = given.n_groups, largest_ratio(n_pixels)
    size, intra = given.sizes, intra_correlations(given)
    quality = fingerprint_quality(size, intra)
    nearest, likeness, scatter = _nearest(given, null.scale)
    chance = -float(ndtri(_FAMILY / max(count * (count - 1) / 2, 1))) * scatter
    result = []
    for c in range(count):
        pairs = size[c] * (size[c] - 1) / 2
        observed = float(likeness[c])
        expected = float(quality[c] * quality[nearest[c]]) if count > 1 else np.nan
        ratio = log_ratios(observed / scatter, expected_scores(expected / scatter), law)
        members = np.flatnonzero(given.labels == c)
        result.append(
            GroupEvidence(
                group=c,
                size=int(size[c]),
                intra_correlation=float(intra[c]),
                score=float(intra[c] * np.sqrt(pairs) / null.scale),
                quality=float(quality[c]),
                weakest=float(np.min(scores[members])),
                repeats=_repeats(given.own[members], own, members),
                nearest=int(nearest[c]),
                nearest_correlation=observed,
                nearest_score=observed / scatter,
                nearest_ratio=float(np.minimum(ratio, cap)),
                cap=cap,
                expected=expected,
                chance=chance,
                apart=_apart(observed, expected, chance, scatter),
            )
        )
    return result


def _repeats(correlation: Doubles, own: Chance | None, members: Rows) -> float:
    """Share of what a group's members show that they show at shifts too, if that is clear."""
    if own is None or np.isnan(own.mean[members]).any() or not len(members):
        return float("nan")
    mean, total = float(own.mean[members].mean()), float(correlation.mean())
    error = float(own.spread[members].mean()) / np.sqrt(max(own.shifts * len(members), 1))
    return mean / total if total > 0 and mean > _NOTHING * error else 0.0


def _nearest(given: Comparisons, usual: float) -> tuple[Labels, Doubles, float]:
    """The other group whose fingerprint is most like each group's, and their correlation.

    And what such correlations scatter by: at least as much as those of photos, `usual`.
    """
    count = given.n_groups
    nearest, likeness = np.full(count, -1, dtype=np.intp), np.full(count, np.nan)
    if count < 2:
        return nearest, likeness, usual
    for first, like in fingerprint_correlations(given):
        rows = np.arange(len(like))
        like[rows, rows + first] = -np.inf
        best = np.argmax(like, axis=1)
        nearest[first : first + len(like)] = best
        likeness[first : first + len(like)] = like[rows, best]
    return nearest, likeness, max(usual, _scatter(given))


def _scatter(given: Comparisons) -> float:
    """Robust standard deviation of correlations of two groups' fingerprints; 0 of few pairs."""
    count = given.n_groups
    pairs = count * (count - 1) // 2

    def values() -> Iterator[Doubles]:
        for first, like in fingerprint_correlations(given):
            later = np.arange(count) > np.arange(first, first + len(like))[:, np.newaxis]
            yield like[later]

    if pairs < _PAIRS:
        return 0.0
    return _MAD * median_size(values, pairs, max(_HELD, given.memory // 64))


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


def _apart(observed: float, expected: float, chance: float, scatter: float) -> Apart:
    if np.isnan(observed):
        return "alone"
    clear = observed > _CLEAR * scatter or observed > _SHARE * expected
    if observed > chance and clear:
        return "may be one"
    if expected >= _EXPECTED * chance and observed < _NOTHING * scatter:
        return "different"
    return "not shown"
