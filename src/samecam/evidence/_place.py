"""How clear the place of a photo in its group is, by shifts of both."""

from collections.abc import Sequence

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Rows
from samecam.evidence._scores import FEWEST, Chance, shifts
from samecam.evidence._shared import Box
from samecam.evidence._without import GroupProducts, box_parts
from samecam.store import FingerprintStore

# Score of a white pattern from which no shift is needed to see that a place is clear.
CLEAR = 12.0


def place_scores(
    source: FingerprintStore,
    members: Rows,
    *,
    boxes: Sequence[Box] = (),
    memory: int = correlate.DEFAULT_MEMORY,
) -> tuple[Doubles, int]:
    """Scores of a group's members against the sum of the others, and how many shifts there were.

    ∞ where a place is clear without measuring chance, or the frame has no room for shifts.

    Parameters
    ----------
    source : rows of bits or int8, of whole frames
    members : the rows of a group
    boxes : places that count for nothing
    memory : bytes for what is held at a time, but for the sum and some rows
    """
    offsets = shifts(source.frame, bits=source.is_bits)
    scores = np.full(len(members), np.inf)
    if len(members) < 2 or len(offsets) < FEWEST:
        return scores, len(offsets)
    here = correlate.shifted_products(source, members, np.zeros(1, np.intp), memory=memory)[:, 0]
    square = len(members) + here.sum()  # of the norm of the sum of all
    others = np.maximum(square - 1 - 2 * here, 1e-30)
    products = GroupProducts(
        groups=np.zeros(1, dtype=np.intp),
        labels=np.zeros(len(members), dtype=np.intp),
        with_groups=here[np.newaxis],
        squares=others[np.newaxis],
        photos=np.ones(len(members)),
        between=np.full((1, 1), square),
    )
    labels = np.full(len(source), -1, dtype=np.intp)
    labels[members] = 0
    for parts in box_parts(source, labels, products.groups, boxes, memory=memory):
        products = products.without(parts, (parts.of(source, each) for each in members.tolist()))
    correlation = products.correlations()
    weak = np.flatnonzero(correlation * np.sqrt(source.n_pixels) < CLEAR)
    if len(weak):
        chance = Chance.unknown(len(weak), len(offsets))
        values = correlate.shifted_correlations(
            source, members, members[weak], others[weak], offsets, memory=memory
        )
        chance.put(np.arange(len(weak)), values)
        scores[weak] = chance.scores(correlation[weak])
    return scores, len(offsets)
