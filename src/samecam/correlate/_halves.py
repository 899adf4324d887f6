"""How much two fingerprints, or two halves of each group, have in common, tile by tile."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from samecam.arrays import Doubles, Floats, Labels, Mask, Rows
from samecam.correlate._group_sums import sum_strips
from samecam.correlate._membership import Membership, even_blocks
from samecam.correlate._strips import DEFAULT_MEMORY
from samecam.correlate._tiles import bands, edges
from samecam.frames import Frame
from samecam.store import FingerprintStore

SIDE = 64
# Photos of a group that are looked at, and how many standard deviations of a sum a pixel counts at
# most: single hot pixels say nothing of a tile.
_PHOTOS, _LARGEST = 16, 3.0
_LEAST = 2**10  # bytes of each row that are read at a time, at least


@dataclass(frozen=True, slots=True)
class HalfTiles:
    """Mean correlations of two photos of a group, tile by tile; T tiles in rows from the top left.

    Attributes
    ----------
    rows, columns : edges of the tiles in pixels
    alike : (k, T) NaN of groups of one photo, and of those that are not looked at
    """

    rows: Rows
    columns: Rows
    alike: Doubles


def half_tiles(
    source: FingerprintStore,
    labels: Labels,
    *,
    groups: Mask | None = None,
    memory: int = DEFAULT_MEMORY,
) -> HalfTiles:
    """Up to 16 photos of each group, every other one against the rest, in tiles of 64 pixels.

    Parameters
    ----------
    source : rows of one frame
    labels : (n,) groups from 0, −1 for none; rows of none are not read
    groups : (k,) which are looked at; default: all
    memory : bytes for what is held at a time; the result does not depend on it
    """
    frame = source.frame
    rows, columns = edges(frame.height, SIDE), edges(frame.width, SIDE)
    halves, sizes = _halves(labels, groups)
    count, across = len(sizes), len(columns) - 1
    alike = np.full((count, (len(rows) - 1) * across), np.nan)
    some = np.flatnonzero(sizes)  # photos in a half
    band = int(np.diff(rows).max()) * frame.width
    members = Membership(halves, 2 * count)
    room = max(memory // 3, _LEAST * (len(members.inside) + members.count))
    for first, last in even_blocks(len(some), max(1, memory // 2 // (4 * 4 * band))):
        part = some[first:last]
        each = np.stack([2 * part, 2 * part + 1], axis=1).ravel()
        strips = sum_strips(source, members.only(each), room, levels=1)
        limit = _LARGEST * np.sqrt(sizes[part] / source.n_pixels).astype(np.float32)
        limit = np.repeat(limit, 2)[:, np.newaxis, np.newaxis]
        for number, sums in enumerate(bands(strips, frame, rows, len(each))):
            np.clip(sums, -limit, limit, out=sums)
            r = _alike(sums[::2], sums[1::2], columns)
            n = sizes[part, np.newaxis]
            # Of sums of n photos r = nρ / (1 + (n − 1)ρ).
            alike[part, number * across : (number + 1) * across] = r / (n - (n - 1) * r)
    return HalfTiles(rows, columns, alike)


def picture_tiles(one: Floats, other: Floats) -> HalfTiles:
    """As `half_tiles`, of two fingerprints.

    Parameters
    ----------
    one, other : (height, width); their scales do not matter
    """
    frame = Frame(one.shape[1], one.shape[0])
    rows, columns = edges(frame.height, SIDE), edges(frame.width, SIDE)
    limits = [_LARGEST * float(np.linalg.norm(each)) / frame.n_pixels**0.5 for each in (one, other)]
    alike = []
    for top, bottom in pairwise(rows.tolist()):
        first, second = (
            np.clip(each[np.newaxis, top:bottom], -limit, limit)
            for each, limit in zip((one, other), limits, strict=True)
        )
        alike.append(_alike(first, second, columns))
    return HalfTiles(rows, columns, np.concatenate(alike, axis=1))


def _alike(one: Floats, other: Floats, columns: Rows) -> Doubles:
    """(k, tiles) correlations of (k, h, w) parts, each tile between two edges of columns."""
    products, *squares = (
        np.add.reduceat(np.einsum("kij,kij->kj", a, b), columns[:-1], axis=1)
        for a, b in ((one, other), (one, one), (other, other))
    )
    norms = np.sqrt(np.maximum(squares[0] * squares[1], 1e-30))
    return np.asarray(np.minimum(products / norms, 0.999), dtype=np.float64)


def _halves(labels: Labels, groups: Mask | None) -> tuple[Labels, Rows]:
    """2c or 2c + 1 of the photos of group c that are looked at, and how many are in a half."""
    count = int(labels.max(initial=-1)) + 1
    halves, sizes = np.full(len(labels), -1, dtype=np.intp), np.zeros(count, dtype=np.intp)
    for group in range(count) if groups is None else np.flatnonzero(groups).tolist():
        members = np.flatnonzero(labels == group)
        sizes[group] = min(len(members), _PHOTOS) // 2
        every = np.linspace(0, len(members) - 1, 2 * int(sizes[group])).round().astype(np.intp)
        halves[members[every]] = 2 * group + np.arange(len(every)) % 2
    return halves, sizes
