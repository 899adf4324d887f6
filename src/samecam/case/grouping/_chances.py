"""Photos of one frame against its groups: their scores, and what chance does with them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from samecam import correlate, evidence
from samecam.arrays import Doubles, Labels, Mask, Rows
from samecam.store import FingerprintStore

# Photos in a group whose nearest other one is looked at closely: every one that is so many times
# as like it as usual, and so many of each frame in any case, for the law of strangers.
_LIKE, _SAMPLE = 3.0, 256


@dataclass(frozen=True, slots=True)
class FrameGroups:
    """The photos of one frame with its groups.

    Attributes
    ----------
    rows : fingerprints
    at : numbers of the photos among all
    labels : their groups, from 0
    numbers : what these are among all
    scale : the scale of chance that was clustered with
    left_out : places of the frame that were left out when it was grouped
    gram : correlations of the photos, if they are kept
    """

    rows: FingerprintStore
    at: Rows
    labels: Labels
    numbers: Labels
    scale: float
    left_out: list[evidence.Box]
    gram: correlate.KeptGram | None


@dataclass(frozen=True, slots=True)
class Chances:
    """What chance does with the photos of a frame.

    Attributes
    ----------
    own : with their own groups
    scores : with their own groups, and the nearest other ones
    sample : photos whose score with the nearest other group is one of any stranger
    patterns : what groups share with those of other cameras
    without : scores with their own groups without that
    """

    own: evidence.Chance
    scores: tuple[Doubles, Doubles]
    sample: Rows
    patterns: list[evidence.SharedPattern | None]
    without: Doubles


def chances_of(
    frame: FrameGroups,
    given: evidence.Comparisons,
    null: evidence.Null,
    memory: int,
    progress: Callable[[int, int], None],
    cameras: Labels | None,
) -> Chances:
    """Scores of a frame's photos, with and without what groups of several cameras share."""
    strangers = np.flatnonzero((given.labels >= 0) & (given.other >= 0) & ~_related(given, null))
    every = np.linspace(0, len(strangers) - 1, min(_SAMPLE, len(strangers))).round()
    sample = strangers[np.unique(every.astype(np.intp))]
    close = np.zeros(len(given.labels), dtype=bool)
    some = np.flatnonzero(given.other >= 0)
    usual = null.group_scale[given.other[some]]
    close[some] = given.other_correlation[some] > _LIKE * usual
    close[sample] = True
    close |= given.labels < 0
    nearest = np.where(close, given.other, -1)
    own, other = evidence.group_chances(
        frame.rows, given, (given.labels, nearest), memory=memory, progress=progress
    )
    known = None if cameras is None else cameras[frame.at[_first_members(given.labels)]]
    patterns = evidence.shared_patterns(frame.rows, given, cameras=known, memory=memory)
    if boxes := frame.left_out:
        patterns = evidence.with_stamps(
            patterns, frame.rows, given.labels, boxes=boxes, cameras=known, memory=memory
        )
    without = evidence.scores_without(frame.rows, given, patterns, null, own, memory=memory)
    scores, nearest_score = evidence.photo_scores(given, null, own, other)
    if boxes:
        # What is printed into strangers' photos too is no sensor's.
        printed = [
            None if p is None or not p.boxes else replace(p, everywhere=()) for p in patterns
        ]
        less = evidence.scores_without(
            frame.rows, given, printed, null, other, groups=given.other, memory=memory
        )
        nearest_score = np.where(np.isnan(less), nearest_score, less)
    frame.rows.close()  # of thousands of frames, not all can be open
    return Chances(own, (scores, nearest_score), sample, patterns, without)


def _first_members(labels: Labels) -> Rows:
    """Number of one photo of each group."""
    inside = np.flatnonzero(labels >= 0)
    return inside[np.unique(labels[inside], return_index=True)[1]]


def _related(given: evidence.Comparisons, null: evidence.Null) -> Mask:
    """Photos whose nearest other group looks like a part of their own camera."""
    pairs = {tuple(sorted(pair)) for pair in null.left_out.tolist()}
    both = zip(given.labels.tolist(), given.other.tolist(), strict=True)
    return np.array([tuple(sorted(pair)) in pairs for pair in both], dtype=bool)
