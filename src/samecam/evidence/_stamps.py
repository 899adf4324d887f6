"""Places in which photos of a group are far more alike than elsewhere: a logo, a stamp, a date.

A sensor's pattern is all over the frame. What is printed into the pictures is in a few places, and
is the same in photos of other cameras: it joins them.
"""

from collections.abc import Sequence
from dataclasses import replace
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
# Of what a smaller group has in common, how much must be elsewhere, or in units of chance; and how
# many times as alike photos are in a place that is taken out of it.
_ELSEWHERE, _ENOUGH, _MORE = 0.5, 6.0, 2.0
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
    return _all_boxes(found)


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
    few = elsewhere <= _ENOUGH * np.sqrt(area)
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
    marked = _marked(tiles.alike).reshape(shape)
    wide = _wider(marked)
    # As of a watermark that is repeated: the tiles around would be all of the frame.
    much = wide.mean(axis=(1, 2), keepdims=True) > _MOST_LEFT_OUT
    return _Found(np.where(much, marked, wide), tiles)


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
    boxes: Sequence[Box] = (),
    cameras: Labels | None = None,
    memory: int = correlate.DEFAULT_MEMORY,
) -> list[SharedPattern | None]:
    """What groups share, with what stands out in those of which no place is known to be shared.

    Two cameras may have one logo, and so may strangers who have it. Groups of two or three photos
    are too few to show where it is: of these it is where it stands out in others.

    Parameters
    ----------
    patterns : from `shared_patterns`
    source, labels, memory : see `stamps`
    boxes : from `left_out`
    cameras : (k,) of the groups; default: each is a camera
    """
    sizes = _sizes(labels)
    found = _looked_at(source, labels, sizes > 1, memory)
    if found is None:
        return list(patterns)
    marked, known = found.marked, _inside(found.tiles, boxes).reshape(found.marked.shape[1:])
    for group in np.flatnonzero(sizes < _SEVERAL).tolist():
        marked[group] = known & _alike_inside(found.tiles, group, known.ravel())
    flat = marked.reshape(len(marked), -1).astype(np.int64)
    others = flat @ flat.T > 0
    named = np.arange(len(sizes)) if cameras is None else cameras
    others &= named[:, np.newaxis] != named
    return [_with_places(*each) for each in zip(patterns, others, _all_boxes(found), strict=True)]


def _alike_inside(tiles: correlate.HalfTiles, group: int, inside: Mask) -> bool:
    """Whether photos of a group are alike beyond chance in some tiles, and more than elsewhere."""
    pixels = np.outer(np.diff(tiles.rows), np.diff(tiles.columns)).ravel()
    alike = np.nan_to_num(tiles.alike[group]) * pixels
    within, area = alike[inside].sum(), pixels[inside].sum()
    elsewhere, around = alike[~inside].sum(), pixels[~inside].sum()
    clear = within > _ENOUGH * np.sqrt(area)
    return bool(clear and within * around > _MORE * elsewhere * area)


def _with_places(
    pattern: SharedPattern | None, others: Mask, boxes: list[Box]
) -> SharedPattern | None:
    """What a group shares, with places if none are known; `others`: groups that have them too."""
    if not boxes or (pattern is not None and pattern.boxes):
        return pattern
    if pattern is not None:
        return replace(pattern, boxes=tuple(boxes))
    return SharedPattern(tuple(np.flatnonzero(others).tolist()), float("nan"), (), tuple(boxes))


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


def _all_boxes(found: _Found) -> list[list[Box]]:
    return [_boxes(marked, found.tiles) for marked in found.marked]


def _boxes(marked: Mask, tiles: correlate.HalfTiles) -> list[Box]:
    """Runs of tiles, row by row."""
    result = []
    for number, row in enumerate(marked):
        ends = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]])))
        top, bottom = int(tiles.rows[number]), int(tiles.rows[number + 1])
        for first, last in ends.reshape(-1, 2).tolist():
            result.append((top, bottom, int(tiles.columns[first]), int(tiles.columns[last])))
    return result
