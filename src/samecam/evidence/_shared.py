"""Patterns that several groups share: no sensor's, but of processing, a logo or a date stamp.

The fingerprint of each group is compared with the sum of those of all other cameras, scaled to
equal norms. What is alike there beyond chance is shared by strangers. It lies in some tiles of the
frame, or all over it.
"""

from collections.abc import Sequence
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

# That chance makes any group of a frame like others.
_FAMILY = 0.001
# Groups that must share it: two may be one camera. And two that show so much of what one camera
# would, surely above chance, are taken for one.
FEWEST_GROUPS, _ONE_CAMERA, _SURE = 3, 0.5, 8.0
_LEAST_SIDE = 64
# Photos of a group that are looked at tile by tile.
_PHOTOS = 16
_MOST_GROUPS, _MOST_PATTERNS = 1000, 4
# Of the largest weight in a mixture of groups, what makes a group one of those that share it.
_SMALLEST_PART = 0.2

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

    Of several groups of one camera the largest is looked at; and of those that look so, for what is
    all over the frame.

    Parameters
    ----------
    source : rows of one frame
    given : each photo against each group
    cameras : (k,) of the groups; default: each is a camera
    memory : bytes for what is held at a time, see `correlate.group_tiles`
    """
    result: list[SharedPattern | None] = [None] * given.n_groups
    if min(source.frame) < _LEAST_SIDE:
        return result
    chosen = _largest(given.sizes, np.arange(given.n_groups) if cameras is None else cameras)
    if len(chosen) < FEWEST_GROUPS:
        return result
    labels, sizes = _sampled(given.labels, chosen)
    weights = (sizes * (1 + (sizes - 1) * np.maximum(intra_correlations(given)[chosen], 0))) ** -0.5
    tiles = correlate.group_tiles(source, labels, weights, memory=memory)
    clear, like = _clear(tiles), _likeness(given, chosen)
    for tile in np.flatnonzero(clear.any(axis=0)).tolist():
        part = _parts(np.where(clear[:, tile], weights * tiles.here[:, tile], 0))
        like -= np.outer(part, part)
    apart = _apart(given, chosen, like, source.n_pixels)
    common, score = _common(_above_chance(like, tiles, clear, weights), apart)
    for k, group in enumerate(chosen.tolist()):
        at = np.flatnonzero(clear[k])
        others = common[k] | clear[:, at].any(axis=1)
        others[k] = False
        if others.any():
            places = _scores(tiles)[k, at]
            result[group] = SharedPattern(
                tuple(chosen[others].tolist()),
                float(max(places.max(initial=-np.inf), score[k])),
                tuple(chosen[common[k]].tolist()),
                tuple(tiles.box(int(tile)) for tile in at),
            )
    return result


def inside_boxes(source: FingerprintStore, boxes: Sequence[Box]) -> Mask:
    """(d,) which pixels of a row lie in some boxes."""
    result = np.zeros(source.frame.shape, dtype=bool)
    for top, bottom, left, right in boxes:
        result[top:bottom, left:right] = True
    return result.ravel()


def _largest(sizes: Labels, cameras: Labels) -> Rows:
    """The largest group of each camera, rising; the first of equals, and not too many."""
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    first = np.sort(np.unique(cameras[order], return_index=True)[1])
    return np.sort(order[first[:_MOST_GROUPS]])


def _likeness(given: Comparisons, chosen: Rows) -> Doubles:
    """(k, k) correlations of fingerprints of some groups; 0 of each with itself."""
    result = np.zeros((len(chosen), len(chosen)))
    place = {group: k for k, group in enumerate(chosen.tolist())}
    for first, rows in fingerprint_correlations(given):
        for group, row in enumerate(rows, first):
            if group in place:
                result[place[group]] = row[chosen]
    np.fill_diagonal(result, 0)
    return result


def _apart(given: Comparisons, chosen: Rows, like: Doubles, n_pixels: int) -> Rows:
    """Places of the groups that are left if those that look like one camera count once."""
    from scipy.sparse.csgraph import connected_components

    quality = fingerprint_quality(given.sizes, intra_correlations(given))[chosen]
    one = (like > _ONE_CAMERA * np.outer(quality, quality)) & (like > _SURE / np.sqrt(n_pixels))
    return _largest(given.sizes[chosen], connected_components(one, directed=False)[1])


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


def _above_chance(like: Doubles, tiles: correlate.Tiles, clear: Mask, weights: Doubles) -> Doubles:
    """(k, k) how far fingerprints of two groups are alike, in units of chance; 0 of one.

    Chance is what it is at shifts in the tiles where that was computed for all groups. What is
    alike at shifts too is taken off. Where something stands out in tiles, only groups count that
    are like the others elsewhere too.

    Parameters
    ----------
    like : (k, k) correlations of the fingerprints
    tiles : of the groups
    clear : (k, tiles) where something stands out
    weights : (k,) that bring the groups' sums in tiles to unit norm
    """
    some = np.logical_not(clear.any(axis=0))
    known = np.logical_not(np.isnan(tiles.spread).any(axis=0))
    looked = some & known if (some & known).any() else known
    rough = np.sqrt(np.square(tiles.spread[:, looked] / tiles.scale[:, looked]).mean(axis=1))
    mean = tiles.mean[:, looked].mean(axis=1)
    part = _parts(weights * mean * len(some))
    pixels = int(tiles.rows[-1] * tiles.columns[-1])
    above = (like - np.outer(part, part)) / np.sqrt(np.outer(rough, rough) / pixels)
    np.fill_diagonal(above, 0)
    if not some.all():
        here = tiles.here[:, some].sum(axis=1) - np.maximum(mean, 0) * np.count_nonzero(some)
        chance = rough * np.sqrt(np.square(tiles.scale[:, some]).sum(axis=1))
        beyond = here > _beyond(len(like)) * chance
        above[~np.outer(beyond, beyond)] = 0
    return np.asarray(above)


def _parts(products: Doubles) -> Doubles:
    """p_k from the products p_k Σ_{j≠k} p_j of each with all others; of one size, if not 0."""
    positive = np.maximum(products, 0)
    total = float(positive.sum())
    many = total**2 / max(float(np.square(positive).sum()), 1e-30)
    if many <= 1:
        return np.zeros_like(positive)
    return np.asarray(positive * np.sqrt(many / (many - 1) / total))


def _beyond(comparisons: int) -> float:
    """What chance stays below in so many comparisons, but for one collection in 1000."""
    from scipy.special import ndtri

    return -float(ndtri(_FAMILY / max(comparisons, 1)))


def _common(above: Doubles, some: Rows) -> tuple[Mask, Doubles]:
    """(k, k) groups that share a pattern, and (k,) how far each does, in units of chance; or −∞.

    If one pattern is in several, an eigenvector of what they have above chance weighs the groups by
    it. Those of all others but one are not chosen by this one: what it has with them, so weighted,
    is a score.

    Parameters
    ----------
    above : (k, k) from `_above_chance`
    some : groups that are looked at
    """
    count, matrix = len(above), above[np.ix_(some, some)]
    least = _beyond(2 * _MOST_PATTERNS * count)
    weighs, score = np.zeros((count, count), dtype=bool), np.full(count, -np.inf)
    if len(some) < FEWEST_GROUPS:
        return weighs, score
    likely = (_mixtures(matrix) @ matrix).max(axis=0) > least
    for k in np.flatnonzero(likely).tolist():
        others = np.delete(np.arange(len(some)), k)
        mixtures = _mixtures(matrix[np.ix_(others, others)])
        scores = mixtures @ matrix[k, others]
        best = int(np.argmax(scores))
        if scores[best] > least:
            score[some[k]] = scores[best]
            clear = mixtures[best] > _SMALLEST_PART * mixtures[best].max()
            weighs[some[k], some[others[clear]]] = True
    weighs |= weighs.T
    while True:  # until each that is left shares with two that are
        weighs &= np.outer(np.isfinite(score), np.isfinite(score))
        alone = np.isfinite(score) & (weighs.sum(axis=1) < FEWEST_GROUPS - 1)
        if not alone.any():
            return weighs, score
        score[alone] = -np.inf


def _mixtures(matrix: Doubles) -> Doubles:
    """Positive and negative parts of the leading eigenvectors, of unit norm; one a row."""
    from scipy.linalg import eigh

    last = len(matrix) - 1
    first = max(0, last + 1 - _MOST_PATTERNS)
    vectors = eigh(matrix, subset_by_index=[first, last])[1].T
    parts = np.maximum(np.concatenate([vectors, -vectors]), 0)
    return np.asarray(parts / np.maximum(np.linalg.norm(parts, axis=1, keepdims=True), 1e-30))
