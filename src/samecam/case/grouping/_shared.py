"""What groups share with groups of other cameras, as the case says it."""

import numpy as np

from samecam import evidence
from samecam.arrays import Rows
from samecam.case.folder import Shared
from samecam.case.grouping._evidence import Weighed, figures
from samecam.frames import Frame


def shared_pattern(weighed: Weighed, group: int, members: Rows, frame: Frame) -> Shared | None:
    """What a group shares, with its evidence with and without that; None: nothing.

    Parameters
    ----------
    weighed : evidence of all
    group : its number
    members : numbers of its photos
    frame : of these
    """
    pattern = weighed.shared.get(group)
    if pattern is None:
        return None
    photos = weighed.photos
    score, without = photos.score[members], photos.without[members]
    return Shared(
        groups=list(pattern.groups),
        everywhere=list(pattern.everywhere),
        where=evidence.shared_place(pattern, frame),
        boxes=[list(box) for box in pattern.boxes],
        score=figures(pattern.score),
        median=figures(np.median(score)),
        median_without=figures(np.median(without)),
        weakest_without=figures(np.min(without)),
        log10_lr=figures(np.median(photos.log_ratio[members])),
        log10_lr_without=figures(np.median(photos.without_ratio[members])),
        doubtful=int(np.count_nonzero(without < evidence.DOUBTFUL)),
    )


def shared_warning(shared: Shared, size: int) -> str:
    """The same in a sentence; `size`: photos of the group."""
    scores = (shared.median or 0.0, shared.median_without or 0.0)
    return evidence.shared_sentence(shared.where, shared.groups, scores, shared.doubtful, size)
