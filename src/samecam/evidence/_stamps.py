"""Places in which photos of a group are far more alike than elsewhere: a logo, a stamp, a date.

A sensor's pattern is all over the frame. What is printed into the pictures is in a few places, and
is the same in photos of other cameras: it joins them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Floats, Labels, Mask, Rows
from samecam.evidence._shared import Box, SharedPattern
from samecam.store import FingerprintStore

# How far a tile is above the median of all, in their spread and as a multiple of it; beyond the
# largest share of tiles it is no stamp, but a scene that does not move.
_ABOVE, _TIMES, _MOST = 10.0, 4.0, 0.15
# Tiles that a frame has at least, and photos of a group in which places are left out of the frame.
_FEWEST, _SEVERAL = 16, 4
# Of what a smaller group has in common, how much must be elsewhere, or in units of chance.
_ELSEWHERE, _ENOUGH = 0.5, 6.0
# Most of the frame that is left out, whatever stands out: patterns of sensors are in the rest.
_MOST_LEFT_OUT = 1 / 3


def stamps(
    source: FingerprintStore, labels: Labels, *, memory: int = correlate.DEFAULT_MEMORY
) -> list[list[Box]]:
    """Places that stand out in each group of four photos or more, and a tile around, from the top.

    Parameters
    ----------
    source : rows of one frame
    labels : (n,) groups from 0 without gaps, −1 for none
    memory : bytes for what is held at a time; the result does not depend on it
    """
    found = _looked_at(source, labels, _sizes(labels) >= _SEVERAL, memory)
    if found is None:
        return [[] for _ in range(int(labels.max(initial=-1)) + 1)]
    return [_boxes(marked, found.tiles) for marked in found.marked]


def left_out(
    source: FingerprintStore, labels: Labels, *, memory: int = correlate.DEFAULT_MEMORY
) -> list[Box]:
    """Places that stand out in any such group, a third of the frame at most, from the top.

    Where that is not enough, those in groups of most photos are left out.

    Parameters
    ----------
    source, labels, memory : see `stamps`
    """
    photos = _sizes(labels)
    found = _looked_at(source, labels, photos >= _SEVERAL, memory)
    if found is None:
        return []
    count, *shape = found.marked.shape
    seen = photos @ found.marked.reshape(count, -1)
    order = np.argsort(-seen, kind="stable")[: int(_MOST_LEFT_OUT * len(seen))]
    chosen = np.zeros(len(seen), dtype=bool)
    chosen[order] = seen[order] > 0
    return _boxes(chosen.reshape(shape), found.tiles)


def misled(
    source: FingerprintStore,
    labels: Labels,
    boxes: Sequence[Box] = (),
    *,
    memory: int = correlate.DEFAULT_MEMORY,
) -> Rows:
    """Groups of two or three photos that have most in common in places that stand out.

    And too little elsewhere to be one camera's by that alone. They are too small to be grouped
    again without: bursts of one scene stand out in places, too.

    Parameters
    ----------
    source, labels, memory : see `stamps`
    boxes : places that are left out in any case
    """
    sizes = _sizes(labels)
    found = _looked_at(source, labels, (sizes > 1) & (sizes < _SEVERAL), memory)
    if found is None:
        return np.zeros(0, dtype=np.intp)
    tiles = found.tiles
    pixels = np.outer(np.diff(tiles.rows), np.diff(tiles.columns)).ravel()
    pixels[_inside(tiles, boxes)] = 0
    alike = np.nan_to_num(tiles.alike) * pixels
    away = ~found.marked.reshape(alike.shape)
    elsewhere, area = (alike * away).sum(axis=1), (pixels * away).sum(axis=1)
    most = elsewhere < _ELSEWHERE * alike.sum(axis=1)
    few = elsewhere < _ENOUGH * np.sqrt(area)
    return np.flatnonzero(found.marked.any(axis=(1, 2)) & most & few)


def standing_out(one: Floats, other: Floats) -> list[Box]:
    """Places in which two fingerprints, (height, width), are far more alike than elsewhere."""
    if not _is_large(*one.shape):
        return []
    tiles = correlate.picture_tiles(one, other)
    return _boxes(_found(tiles).marked[0], tiles)


class _Found(NamedTuple):
    """(groups, rows, columns) tiles that stand out, with those around them."""

    marked: Mask
    tiles: correlate.HalfTiles


def _sizes(labels: Labels) -> Rows:
    """(k,) photos of each group."""
    return np.bincount(labels[labels >= 0], minlength=int(labels.max(initial=-1)) + 1)


def _is_large(height: int, width: int) -> bool:
    return (height // correlate.HALF_TILE) * (width // correlate.HALF_TILE) >= _FEWEST


def _looked_at(
    source: FingerprintStore, labels: Labels, groups: Mask, memory: int
) -> _Found | None:
    """Tiles that stand out in some groups; None without any, or where the frame is too small."""
    if not groups.any() or not _is_large(*source.frame.shape):
        return None
    return _found(correlate.half_tiles(source, labels, groups=groups, memory=memory))


def _found(tiles: correlate.HalfTiles) -> _Found:
    shape = len(tiles.alike), len(tiles.rows) - 1, len(tiles.columns) - 1
    return _Found(_wider(_marked(tiles.alike).reshape(shape)), tiles)


def _inside(tiles: correlate.HalfTiles, boxes: Sequence[Box]) -> Mask:
    """(T,) tiles that lie in boxes."""
    result = np.zeros((len(tiles.rows) - 1, len(tiles.columns) - 1), dtype=bool)
    for top, bottom, left, right in boxes:
        down = (tiles.rows[:-1] >= top) & (tiles.rows[:-1] < bottom)
        across = (tiles.columns[:-1] >= left) & (tiles.columns[:-1] < right)
        result |= np.outer(down, across)
    return result.ravel()


def with_stamps(
    patterns: Sequence[SharedPattern | None],
    source: FingerprintStore,
    labels: Labels,
    *,
    memory: int = correlate.DEFAULT_MEMORY,
) -> list[SharedPattern | None]:
    """What groups share, and what stands out in those of which nothing was found to be shared.

    Two cameras may have one logo, and so may strangers who have it.

    Parameters
    ----------
    patterns : from `shared_patterns`
    source, labels, memory : see `stamps`
    """
    places = stamps(source, labels, memory=memory)
    inside = [set(map(tuple, boxes)) for boxes in places]
    return [
        SharedPattern(
            tuple(k for k, other in enumerate(inside) if k != group and other & inside[group]),
            float("nan"),
            (),
            tuple(boxes),
        )
        if pattern is None and boxes
        else pattern
        for group, (pattern, boxes) in enumerate(zip(patterns, places, strict=True))
    ]


def _marked(alike: Doubles) -> Mask:
    """(k, T) tiles that stand out in their group."""
    known = np.nan_to_num(alike)
    middle = np.median(known, axis=1, keepdims=True)
    spread = 1.4826 * np.median(np.abs(known - middle), axis=1, keepdims=True)
    marked = (known > middle + _ABOVE * spread) & (known > _TIMES * middle) & (spread > 0)
    return np.asarray(marked & (marked.mean(axis=1, keepdims=True) <= _MOST))


def _wider(marked: Mask) -> Mask:
    """With the eight tiles around each: edges of letters are there."""
    padded = np.pad(marked, ((0, 0), (1, 1), (1, 1)))
    _, height, width = marked.shape
    wide = np.zeros_like(marked)
    for y in range(3):
        for x in range(3):
            wide |= padded[:, y : y + height, x : x + width]
    return wide


def _boxes(marked: Mask, tiles: correlate.HalfTiles) -> list[Box]:
    """Runs of tiles, row by row."""
    result = []
    for number, row in enumerate(marked):
        ends = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]])))
        top, bottom = int(tiles.rows[number]), int(tiles.rows[number + 1])
        for first, last in ends.reshape(-1, 2).tolist():
            result.append((top, bottom, int(tiles.columns[first]), int(tiles.columns[last])))
    return result
