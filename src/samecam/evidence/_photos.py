"""Evidence for each photo's place."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from samecam.arrays import Doubles, Labels, Mask, Rows
from samecam.evidence._comparisons import Comparisons
from samecam.evidence._law import STRANGERS, Law
from samecam.evidence._null import Null
from samecam.evidence._ratios import (
    WEAK_CAP,
    known_members,
    largest_ratio,
    log_ratios,
    model_log_ratios,
    other_members,
)
from samecam.evidence._scores import Chance

# Members whose score is below this are doubtful: of groups with such a member three in four were
# pure, of those without all.
DOUBTFUL = 5.0


@dataclass(frozen=True)
class PhotoEvidence:
    """One entry a photo; NaN (−1 for groups) where there is nothing to state.

    Attributes
    ----------
    group : its group, −1 if unclustered
    correlation : with the fingerprint of the other members of its group
    score : how far that is above chance, see `Chance`
    p_value : probability that one photo of another camera has such a score
    comparisons : groups it was compared with; (n,)
    adjusted : min(1, p_value · comparisons): that a photo of another camera has such a score
        with any of the groups
    log_ratio : log10 of the likelihood ratio of the two propositions, this group's camera and
        another one; at most `cap`
    model_ratio : the same where the other camera is another body of the same model
    cap : largest log_ratio that is supported
    other : the other group it correlates with best (of an unclustered photo: the group)
    other_correlation, other_score, other_p_value, other_ratio : the same for that one
    margin : correlation − other_correlation
    without : score with its own group without what that shares with groups of other cameras, see
        `shared_patterns`; NaN where it shares nothing
    without_ratio : the same of log_ratio
    """

    group: Labels
    correlation: Doubles
    score: Doubles
    p_value: Doubles
    comparisons: Labels
    adjusted: Doubles
    log_ratio: Doubles
    model_ratio: Doubles
    cap: Doubles
    other: Labels
    other_correlation: Doubles
    other_score: Doubles
    other_p_value: Doubles
    other_ratio: Doubles
    margin: Doubles
    without: Doubles
    without_ratio: Doubles

    @cached_property  # asked for one photo at a time
    def doubtful(self) -> Mask:
        """(n,) members of groups whose place is weak, or is without what several groups share."""
        weak = ~(self.score >= DOUBTFUL) | (self.without < DOUBTFUL)
        return np.asarray((self.group >= 0) & weak)


def photo_scores(
    given: Comparisons, null: Null, own: Chance, other: Chance
) -> tuple[Doubles, Doubles]:
    """(n,) scores of photos with their own group, and with the other one that is nearest.

    Where chance was not measured by shifts, correlations are divided by what those of strangers
    scatter by for the group.

    Parameters
    ----------
    given : each photo against each group
    null : what strangers do
    own, other : what chance does with each photo and the group
    """
    result = []
    pairs = ((given.own, given.labels, own), (given.other_correlation, given.other, other))
    for correlation, groups, chance in pairs:
        usual, some = np.full(len(groups), np.nan), groups >= 0
        usual[some] = correlation[some] / null.group_scale[groups[some]]
        scores = chance.scores(correlation)
        result.append(np.where(np.isnan(scores), usual, scores))
    return result[0], result[1]


def photo_evidence(
    given: Comparisons,
    scores: tuple[Doubles, Doubles],
    n_pixels: int,
    *,
    law: Law = STRANGERS,
    weak: Mask | None = None,
    without: Doubles | None = None,
) -> PhotoEvidence:
    """Evidence for the place of each photo, clustered or not.

    Parameters
    ----------
    given : each photo against each group
    scores : from `photo_scores`
    n_pixels : length of the fingerprints
    law : of strangers, see `law_of_case`
    weak : (n,) photos that show little of their camera
    without : (n,) from `scores_without`
    """
    n, count = len(given.labels), given.n_groups
    score, other_score = scores
    cap = np.full(n, largest_ratio(n_pixels))
    if weak is not None:
        cap[weak] = np.minimum(cap[weak], WEAK_CAP)
    ratio, model, other_ratio, left = (np.full(n, np.nan) for _ in range(4))
    without = np.full(n, np.nan) if without is None else without
    for group in range(count):
        members = np.flatnonzero(given.labels == group)
        if len(members) > 1:
            others = other_members(score[members])
            ratio[members] = log_ratios(score[members], others, law)
            model[members] = model_log_ratios(score[members], others)
            if not np.isnan(without[members]).any():
                left[members] = log_ratios(without[members], other_members(without[members]), law)
        near = np.flatnonzero(given.other == group)
        if len(members) and len(near):
            known = known_members(score[members])
            other_ratio[near] = log_ratios(other_score[near], known, law)
    p_value = law.rate(score)
    return PhotoEvidence(
        group=given.labels,
        correlation=given.own,
        score=score,
        p_value=p_value,
        comparisons=np.full(n, count, dtype=np.intp),
        adjusted=np.minimum(1.0, p_value * count),
        log_ratio=np.minimum(ratio, cap),
        model_ratio=np.minimum(model, cap),
        cap=cap,
        other=given.other,
        other_correlation=given.other_correlation,
        other_score=other_score,
        other_p_value=law.rate(other_score),
        other_ratio=np.minimum(other_ratio, cap),
        margin=given.own - given.other_correlation,
        without=without,
        without_ratio=np.minimum(left, cap),
    )


def joined_evidence(parts: Sequence[tuple[Rows, Labels, PhotoEvidence]], n: int) -> PhotoEvidence:
    """Evidence for n photos of several frames.

    Parameters
    ----------
    parts : for each frame that has groups: numbers of its photos, numbers that its groups have
        among all, and the evidence; photos of other frames were compared with nothing
    """
    values: dict[str, Any] = {}
    for field in fields(PhotoEvidence):
        if field.name in ("group", "other"):
            values[field.name] = np.full(n, -1, dtype=np.intp)
        elif field.name == "comparisons":
            values[field.name] = np.zeros(n, dtype=np.intp)
        else:
            values[field.name] = np.full(n, np.nan)
    whole = PhotoEvidence(**values)
    for at, numbers, part in parts:
        for field in fields(PhotoEvidence):
            some = getattr(part, field.name)
            if field.name in ("group", "other"):
                some = np.append(numbers, -1)[some]
            getattr(whole, field.name)[at] = some
    return whole
