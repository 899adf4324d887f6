"""How far a photo's place in its group is above chance, by shifts of this very photo."""

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Rows
from samecam.evidence._frame_pce import shifts
from samecam.store import FingerprintStore

# Score of a white pattern from which no shift is needed to see that a place is clear.
CLEAR = 12.0
# Shifts from which a scatter is measured, at least.
_FEWEST = 8


def place_scores(
    source: FingerprintStore, members: Rows, *, memory: int = correlate.DEFAULT_MEMORY
) -> tuple[Doubles, int]:
    """Z of each member against the sum of the others, and the shifts that it was measured on.

    z = (C₀ − max(0, m)) / s, with mean m and standard deviation s of the inner products C at shifts
    by multiples of 64 pixels: what this photo and this sum have by chance, however smooth both are.
    ∞ where the place is clear without, or the frame has no room for shifts.

    Parameters
    ----------
    source : rows of bits or int8, of whole frames
    members : the rows of a group
    memory : bytes for what is held at a time, but for the sum and some rows
    """
    offsets = shifts(source.frame)
    scores = np.full(len(members), np.inf)
    if len(members) < 2 or len(offsets) < _FEWEST:
        return scores, len(offsets)
    here = correlate.shifted_products(source, members, np.zeros(1, np.intp), memory=memory)[:, 0]
    square = len(members) + here.sum()  # of the norm of the sum of all
    others = np.maximum(square - 1 - 2 * here, 1e-30)
    weak = np.flatnonzero(here * np.sqrt(source.n_pixels / others) < CLEAR)
    if len(weak):
        at = np.append(0, offsets)
        some = correlate.shifted_products(source, members, at, memory=memory, among=weak)
        usual, spread = some[:, 1:].mean(axis=1), some[:, 1:].std(axis=1, ddof=1)
        scores[weak] = (some[:, 0] - np.maximum(usual, 0)) / np.maximum(spread, 1e-30)
    return scores, len(offsets)
