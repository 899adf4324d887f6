"""Photos whose place in a group chance may have made, where many photos are strangers."""

from collections.abc import Mapping, Sequence

import numpy as np

from samecam.arrays import Labels, Rows
from samecam.evidence import Box, place_scores
from samecam.frames import Frame
from samecam.store import DiskStore, FingerprintStore

# Strangers that the rate of joining lets into groups, on average, if all photos in none are
# strangers, from which they are many; and so many are let in then.
_MANY, _STRANGERS = 0.5, 0.05


def without_strangers(
    store: DiskStore,
    frames: Mapping[Frame, Rows],
    labels: Labels,
    rate: float,
    memory: int,
    *,
    left_out: Mapping[Frame, Sequence[Box]] | None = None,
) -> Labels:
    """Labels without photos that are not clearly above chance, measured by shifts of each.

    Where many photos are in no group, strangers are, and the rate of joining is shared among them:
    a stranger is expected in one of twenty cases. Where few are, nothing is looked at, nor where
    rows are floats, as those of squares are.

    Parameters
    ----------
    store : fingerprints
    frames : which photos are of each frame
    labels : (n,) groups of all photos, −1 for none
    rate : at which a photo of another camera joins any group
    memory : bytes for what is held at a time
    left_out : places of frames that count for nothing
    """
    alone, groups = int(np.count_nonzero(labels < 0)), int(labels.max(initial=-1)) + 1
    if alone * rate <= _MANY or not groups:
        return labels
    shared = _STRANGERS / alone
    kept = labels.copy()
    for frame, at in frames.items():
        if frame.height > 1 and (labels[at] >= 0).any():
            rows = store.rows(frame)
            if rows.is_bits or rows.kind == np.int8:  # floats cannot be shifted
                boxes = (left_out or {}).get(frame, ())
                kept[at] = _clear(rows, labels[at], shared / groups, boxes, memory)
            rows.close()
    return kept


def _clear(
    rows: FingerprintStore, labels: Labels, rate: float, boxes: Sequence[Box], memory: int
) -> Labels:
    """Groups of one frame without those below the score of a rate; not less than two photos."""
    from scipy.special import stdtrit

    kept = labels.copy()
    for group in np.unique(labels[labels >= 0]):
        while True:
            members = np.flatnonzero(kept == group)
            scores, shifts = place_scores(rows, members, boxes=boxes, memory=memory)
            doubtful = scores < -stdtrit(max(shifts - 1, 1), rate)
            if not doubtful.any():
                break
            kept[members[doubtful]] = -1
            if len(members) - np.count_nonzero(doubtful) < 2:
                kept[members] = -1
                break
    return kept
