"""Patterns that several groups share: no sensor's, but of processing, a logo or a date stamp.

The fingerprint of each group is compared with the sum of those of all other cameras, scaled to
equal norms. What is alike there beyond chance is shared by strangers. It lies in some tiles of the
frame, or all over it.
"""

from dataclasses import dataclass

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Labels, Mask, Rows
from samecam.evidence._comparisons import (
    Comparisons,
    fingerprint_correlations,
    fingerprint_quality,
    intra_correlations,
)
from samecam.store import FingerprintStore

# That chance makes any group of a frame like all others together; and any two of these alike.
_FAMILY = 0.001
# Groups that must share it: two may be one camera. And two that show so much of what one camera
# would are taken for one.
FEWEST_GROUPS, _ONE_CAMERA = 3, 0.5
_LEAST_SIDE = 64
# Photos of a group that are looked at.
_PHOTOS = 16

Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class SharedPattern:
    """What a group shares with groups of other cameras.

    Attributes
    ----------
    groups : the other groups, rising
    score : how far what they share is above chance, which scatters by 1
    everywhere : those of them that share it all over the frame
    boxes : tiles of the frame (top, bottom, left, right) in which it stands out
    """

    groups: tuple[int, ...]
    score: float
    everywhere: tuple[int, ...]
    boxes: tuple[Box, ...]


def shared_patterns(
    source: FingerprintStore,
    given: Comparisons,
    *,
    cameras: Labels | None = None,
    memory: int = correlate.DEFAULT_MEMORY,
) -> list[SharedPattern | None]:
    """What each group shares with groups of other cameras; None: nothing beyond chance.

    Of several groups of one camera the largest is looked at.

    Parameters
    ----------
    source : rows of one frame
    given : each photo against each group
    cameras : (k,) of the groups; default: each is a camera
    memory : bytes for what is held at a time, see `correlate.group_tiles`
    """
    result: list[SharedPattern | None] = [None] * given.n_groups
    chosen = _largest(given.sizes, np.arange(given.n_groups) if cameras is None else cameras)
    if len(chosen) < FEWEST_GROUPS or min(source.frame) < _LEAST_SIDE:
        return result
    labels, sizes = _sampled(given.labels, chosen)
    spread = sizes * (1 + (sizes - 1) * np.maximum(intra_correlations(given)[chosen], 0))
    tiles = correlate.group_tiles(source, labels, spread**-0.5, memory=memory)
    clear = _clear(tiles)
    score, rough = _elsewhere(tiles, np.logical_not(clear.any(axis=0)))
    likes = _alike(given, chosen, score > _normal(len(chosen)), rough / np.sqrt(source.n_pixels))
    for k, group in enumerate(chosen.tolist()):
        at = np.flatnonzero(clear[k])
        others = likes[k] | clear[:, at].any(axis=1)
        others[k] = False
        if others.any():
            local = float(_scores(tiles)[k, at].max()) if len(at) else -np.inf
            result[group] = SharedPattern(
                tuple(chosen[others].tolist()),
                max(local, float(score[k]) if likes[k].any() else -np.inf),
                tuple(chosen[likes[k]].tolist()),
                tuple(tiles.box(int(tile)) for tile in at),
            )
    return result


def _largest(sizes: Labels, cameras: Labels) -> Rows:
    """The largest group of each camera, rising; the first of equals."""
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    return np.sort(order[np.unique(cameras[order], return_index=True)[1]])


def _sampled(labels: Labels, chosen: Rows) -> tuple[Labels, Doubles]:
    """Some photos of each group that is looked at, and how many."""
    result, sizes = np.full(len(labels), -1, dtype=np.intp), np.zeros(len(chosen))
    for k, group in enumerate(chosen.tolist()):
        members = np.flatnonzero(labels == group)
        every = np.linspace(0, len(members) - 1, min(_PHOTOS, len(members))).round()
        result[members[every.astype(np.intp)]] = k
        sizes[k] = len(every)
    return result, sizes


def _scores(tiles: correlate.Tiles) -> Doubles:
    """(k, tiles) how far each is above chance; NaN where that was not looked at."""
    return np.asarray((tiles.here - np.maximum(tiles.mean, 0)) / np.maximum(tiles.spread, 1e-300))


def _clear(tiles: correlate.Tiles) -> Mask:
    """(k, tiles) where a group is like others beyond chance, in tiles in which three are.

    And beyond twice what it is in the middle of all tiles: what is all over the frame stands out
    nowhere.
    """
    from scipy.special import stdtrit

    usual = np.maximum(np.median(tiles.here / tiles.scale, axis=1), 0)[:, np.newaxis]
    few = -stdtrit(np.maximum(tiles.shifts - 1, 1), _FAMILY / tiles.here.size)
    beyond = _scores(tiles) > few + 2 * usual
    return np.asarray(beyond & (beyond.sum(axis=0) >= FEWEST_GROUPS))


def _elsewhere(tiles: correlate.Tiles, some: Mask) -> tuple[Doubles, Doubles]:
    """(k,) scores over some tiles, and by what chance scatters more than with white patterns.

    Mean and spread at shifts are those of the tiles in which they were computed for all groups.
    """
    if not some.any():
        return np.zeros(len(tiles.here)), np.ones(len(tiles.here))
    known = np.logical_not(np.isnan(tiles.spread).any(axis=0))
    looked = some & known if (some & known).any() else known
    white = np.square(tiles.scale)
    rough = np.sqrt(np.square(tiles.spread[:, looked]).sum(axis=1) / white[:, looked].sum(axis=1))
    mean = tiles.mean[:, looked].sum(axis=1) * (
        tiles.scale[:, some].sum(axis=1) / tiles.scale[:, looked].sum(axis=1)
    )
    above = tiles.here[:, some].sum(axis=1) - np.maximum(mean, 0)
    return above / (rough * np.sqrt(white[:, some].sum(axis=1))), rough


def _normal(comparisons: int) -> float:
    """What chance stays below in so many comparisons, but for one collection in 1000."""
    from scipy.special import ndtri

    return -float(ndtri(_FAMILY / max(comparisons, 1)))


def _alike(given: Comparisons, chosen: Rows, beyond: Mask, scale: Doubles) -> Mask:
    """(k, k) pairs of groups that share what a third one shares with both.

    Parameters
    ----------
    given : each photo against each group
    chosen : (k,) groups that are looked at
    beyond : (k,) those that are like all others together
    scale : (k,) what the correlation of a group's fingerprint with another scatters by
    """
    quality = fingerprint_quality(given.sizes, intra_correlations(given))[chosen]
    like = np.zeros((len(chosen), len(chosen)))
    place = {group: k for k, group in enumerate(chosen.tolist())}
    for first, rows in fingerprint_correlations(given):
        for group, row in enumerate(rows, first):
            if group in place:
                like[place[group]] = row[chosen]
    share = like / np.maximum(np.outer(quality, quality), 1e-12)
    shared = like > _normal(1) * np.sqrt(np.outer(scale, scale))
    shared &= (share < _ONE_CAMERA) & np.outer(beyond, beyond)
    np.fill_diagonal(shared, False)
    return np.asarray(shared & ((shared.astype(np.intp) @ shared.astype(np.intp)) > 0))
