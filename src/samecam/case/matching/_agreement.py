"""Which photos of a reference agree with one another."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from samecam import correlate, evidence
from samecam.arrays import Gram, Labels, Rows
from samecam.store import FingerprintStore, RowsWithout

# One in a thousand sums of chance is that many standard deviations high.
_AGREE = 3.09


class Agreement(NamedTuple):
    """What photos of one frame have in common.

    Attributes
    ----------
    labels : (n,) their groups, 0 the largest; all 0 if there is none
    boxes : places that count for nothing
    correlation : mean of two photos of the largest group without these; None if there is one photo
    agrees : whether that is more than chance
    """

    labels: Labels
    boxes: list[evidence.Box]
    correlation: float | None
    agrees: bool

    @property
    def used(self) -> Rows:
        """The largest group."""
        return np.flatnonzero(self.labels == 0)


def agreeing(rows: FingerprintStore, colour: Sequence[float] | None, memory: int) -> Agreement:
    """The largest group of a reference's photos; all, if there is none.

    A few photos of a weak camera found none, but the sum over all their pairs may yet be beyond
    chance. What is printed into photos makes no group, and takes no photo into one.

    Parameters
    ----------
    rows : fingerprints of one frame
    colour : how smooth they are, of whole frames
    memory : bytes for what is held at a time
    """
    from samecam.cluster import ConsolidatedSSC, numbered

    every = np.zeros(len(rows), dtype=np.intp)
    if len(rows) == 1:
        return Agreement(every, [], None, agrees=False)

    def grouped(without: list[evidence.Box]) -> tuple[Gram, ConsolidatedSSC, Rows]:
        """Correlations, the method fitted to them, and which of its groups hang on a stamp."""
        some = RowsWithout(rows, evidence.inside_boxes(rows, without)) if without else rows
        gram = correlate.gram(some, memory=memory)
        method = ConsolidatedSSC(metric="precomputed", n_pixels=some.n_pixels)
        method.fit(gram, colour=colour)
        return gram, method, evidence.misled(rows, method.labels_, without, memory=memory)

    gram, method, misled = grouped([])
    boxes = evidence.left_out(rows, method.labels_, memory=memory)
    if not boxes and len(misled) > method.labels_.max():  # no group is left
        boxes = evidence.left_out(rows, every, memory=memory)
    if boxes:
        gram, method, misled = grouped(boxes)
    labels = numbered(np.where(np.isin(method.labels_, misled), -1, method.labels_))
    alone = labels.max() < 0
    labels = every if alone else labels
    used = np.flatnonzero(labels == 0)
    shown = evidence.pair_evidence(gram[np.ix_(used, used)], method.null_scale_)
    agrees = shown.score > _AGREE and not len(misled)
    if alone and agrees:  # by all of them together, which a stamp may make too
        agrees = not len(evidence.misled(rows, every, boxes, memory=memory))
    return Agreement(labels, boxes, round(shown.correlation, 6), not alone or agrees)
