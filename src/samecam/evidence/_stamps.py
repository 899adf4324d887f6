"""Places in which photos of a group are far more alike than elsewhere: a logo, a stamp, a date.

A sensor's pattern is all over the frame. What is printed into the pictures is in a few places, and
is the same in photos of other cameras: it joins them.
"""

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Labels, Mask
from samecam.evidence._shared import Box
from samecam.store import FingerprintStore

# How far a tile is above the median of all, in their spread and as a multiple of it; beyond the
# largest share of tiles it is no stamp, but a scene that does not move.
_ABOVE, _TIMES, _MOST = 10.0, 4.0, 0.15
# Tiles that a frame has at least.
_FEWEST = 16


def stamps(
    source: FingerprintStore, labels: Labels, *, memory: int = correlate.DEFAULT_MEMORY
) -> list[Box]:
    """Places of the frame to leave out, from the top: those of all groups, and a tile around.

    Parameters
    ----------
    source : rows of one frame
    labels : (n,) groups from 0 without gaps, −1 for none
    memory : bytes for what is held at a time; the result does not depend on it
    """
    if min(source.frame) < correlate.HALF_TILE or labels.max(initial=-1) < 0:
        return []
    tiles = correlate.half_tiles(source, labels, memory=memory)
    if tiles.alike.shape[1] < _FEWEST:
        return []
    shape = len(tiles.rows) - 1, len(tiles.columns) - 1
    marked: Mask = _marked(tiles.alike).any(axis=0).reshape(shape)
    return _boxes(_wider(marked), tiles)


def _marked(alike: Doubles) -> Mask:
    """(k, T) tiles that stand out in their group."""
    known = np.nan_to_num(alike)
    middle = np.median(known, axis=1, keepdims=True)
    spread = 1.4826 * np.median(np.abs(known - middle), axis=1, keepdims=True)
    marked = (known > middle + _ABOVE * spread) & (known > _TIMES * middle) & (spread > 0)
    return np.asarray(marked & (marked.mean(axis=1, keepdims=True) <= _MOST))


def _wider(marked: Mask) -> Mask:
    """With the eight tiles around each: edges of letters are there."""
    padded = np.pad(marked, 1)
    height, width = marked.shape
    around = [padded[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    return np.asarray(np.any(around, axis=0))


def _boxes(marked: Mask, tiles: correlate.HalfTiles) -> list[Box]:
    """Runs of tiles, row by row."""
    result = []
    for number, row in enumerate(marked):
        ends = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]])))
        top, bottom = int(tiles.rows[number]), int(tiles.rows[number + 1])
        for first, last in ends.reshape(-1, 2).tolist():
            result.append((top, bottom, int(tiles.columns[first]), int(tiles.columns[last])))
    return result
