"""Every photo against every group by scores and likelihood ratios, to count how they hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Labels
from samecam.evidence._comparisons import Comparisons, comparisons_from_rows
from samecam.evidence._law import STRANGERS
from samecam.evidence._pce import square_chance
from samecam.evidence._ratios import (
    known_members,
    largest_ratio,
    log_ratios,
    model_log_ratios,
    other_members,
    usual_members,
)
from samecam.evidence._scores import Chance, frame_chances
from samecam.frames import Frame
from samecam.store import FingerprintStore


@dataclass(frozen=True, slots=True)
class Every:
    """Every photo against every group, the photo itself left out; NaN: nothing is left then.

    Attributes
    ----------
    score : (n, k) how far correlations are above chance
    p_value : (n, k) rate of such scores among photos of other cameras
    log_ratio : (n, k) log10 of the likelihood ratio against another camera, without a cap
    model_ratio : (n, k) the same against another body of the same model, with its own cap
    cap : largest log_ratio that is supported
    """

    score: Doubles
    p_value: Doubles
    log_ratio: Doubles
    model_ratio: Doubles
    cap: float


def every_comparison(
    rows: FingerprintStore,
    labels: Labels,
    *,
    memory: int = correlate.DEFAULT_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> Every:
    """Scores and likelihood ratios of every photo with every group.

    Parameters
    ----------
    rows : fingerprints of one frame: of whole frames, or of squares
    labels : (n,) groups from 0 without gaps, −1 for none
    memory : bytes for what is held at a time, but for the result
    progress : called with comparisons done and all of them
    """
    given = comparisons_from_rows(rows, labels, memory=memory)
    n, count = len(rows), given.n_groups
    score = np.full((n, count), np.nan)
    for group in range(count):
        chance = group_chance(rows, given, np.full(n, group, dtype=np.intp), memory=memory)
        correlation = given.correlations.read(group, group + 1)[0]
        usual = np.where(correlation == 0, np.nan, correlation * np.sqrt(rows.n_pixels))
        known = chance.scores(correlation)
        score[:, group] = np.where(np.isnan(known), usual, known)
        if progress is not None:
            progress(n * (group + 1), n * count)
    ratio, model = (np.full((n, count), np.nan) for _ in range(2))
    for group in range(count):
        inside = given.labels == group
        members = score[inside, group]
        if len(members) == 1:
            parts = [(~inside, usual_members(rows.n_pixels))]
        else:
            parts = [(~inside, known_members(members)), (inside, other_members(members))]
        for some, law in parts:
            ratio[some, group] = log_ratios(score[some, group], law)
            model[some, group] = model_log_ratios(score[some, group], law)
    return Every(score, STRANGERS.rate(score), ratio, model, largest_ratio(rows.n_pixels))


def group_chance(
    rows: FingerprintStore,
    given: Comparisons,
    groups: Labels,
    *,
    frame: Frame | None = None,
    memory: int = correlate.DEFAULT_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> Chance:
    """What chance does with each photo and one group: see `group_chances`."""
    return group_chances(rows, given, [groups], frame=frame, memory=memory, progress=progress)[0]


def group_chances(
    rows: FingerprintStore,
    given: Comparisons,
    several: Sequence[Labels],
    *,
    frame: Frame | None = None,
    memory: int = correlate.DEFAULT_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> list[Chance]:
    """What chance does with each photo and a group, by the shifts that the rows allow.

    Of rows of bits and int8 see `frame_chances`, of others, which are squares, `square_chance`;
    nothing is known of those whose shape is not.

    Parameters
    ----------
    rows : fingerprints of one frame
    given, several : see `frame_chances`
    frame : of the rows, if they do not know it
    memory, progress : see `frame_chances`
    """
    width, height = frame or rows.frame
    if rows.is_bits or rows.kind == np.int8:
        if height == 1:
            return [Chance.unknown(len(rows)) for _ in several]
        return frame_chances(rows, given, several, frame=frame, memory=memory, progress=progress)
    side = round(rows.n_pixels**0.5)
    if height == 1 and side * side == rows.n_pixels:
        width = height = side  # fingerprints that somebody brought may be squares
    if height == 1:
        return [Chance.unknown(len(rows)) for _ in several]
    shape = height, width
    told = (progress, *(None for _ in several[1:]))
    return [
        square_chance(rows, given.labels, groups, shape, memory=memory, progress=say)
        for groups, say in zip(several, told, strict=True)
    ]
