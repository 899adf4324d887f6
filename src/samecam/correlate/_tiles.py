"""Fingerprints of groups against the sum of all the others', tile by tile: where they are alike.

A frame is cut into tiles of about 128×128 pixels. In each, the product of a group's sum with the
sum of all others' is taken in place and, in some tiles, at all circular shifts by multiples of 8
pixels: what chance does there.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from samecam.arrays import Doubles, Floats, Labels, Mask, Rows
from samecam.compute import thread_count
from samecam.correlate._group_sums import sum_strips
from samecam.correlate._membership import Membership, even_blocks
from samecam.correlate._strips import DEFAULT_MEMORY
from samecam.frames import Frame
from samecam.store import FingerprintStore

SIDE, STEP, NEAR = 128, 8, 16
# Shifts are computed in one tile of so many, and wherever a group is that much like the others.
_EVERY, _LIKE = 4, 4.0
_LEAST = 2**10  # bytes of each row that are read at a time, at least


@dataclass(frozen=True, slots=True)
class Tiles:
    """Groups against all others, tile by tile; T tiles in rows from the top left.

    Attributes
    ----------
    rows, columns : edges of the tiles in pixels
    here : (k, T) products in place
    scale : (k, T) what white patterns of the same norms would scatter by
    mean, spread : (k, T) of products at shifts; NaN where they were not computed
    shifts : (T,) how many there are
    """

    rows: Rows
    columns: Rows
    here: Doubles
    scale: Doubles
    mean: Doubles
    spread: Doubles
    shifts: Rows

    def box(self, tile: int) -> tuple[int, int, int, int]:
        """Top, bottom, left and right of a tile, in pixels."""
        row, column = divmod(tile, len(self.columns) - 1)
        return (
            int(self.rows[row]),
            int(self.rows[row + 1]),
            int(self.columns[column]),
            int(self.columns[column + 1]),
        )


def group_tiles(
    source: FingerprintStore,
    labels: Labels,
    weights: Doubles,
    *,
    memory: int = DEFAULT_MEMORY,
) -> Tiles:
    """The sum of each group's rows against the weighted sum of all other groups'.

    Rows of two bits a pixel count as if they were of one norm.

    Parameters
    ----------
    source : rows of one frame, at least 64 pixels high and wide
    labels : (n,) groups from 0, −1 for none; rows of none are not read
    weights : (k,) of the groups in the sum of the others
    memory : bytes for what is held at a time, but for one row in float32 and some of one group; the
        result does not depend on it
    """
    frame, members = source.frame, Membership(labels, len(weights))
    rows, columns = edges(frame.height, SIDE), edges(frame.width, SIDE)
    band = int(np.diff(rows).max()) * frame.width
    blocks = even_blocks(members.count, max(1, memory // 2 // (4 * band)))
    room = max(memory // 3, _LEAST * (len(members.inside) + members.count))
    shape = members.count, (len(rows) - 1) * (len(columns) - 1)
    here, scale = np.zeros(shape), np.zeros(shape)
    mean, spread = np.full(shape, np.nan), np.full(shape, np.nan)
    shifts = np.zeros(shape[1], dtype=np.intp)
    result = Tiles(rows, columns, here, scale, mean, spread, shifts)

    def sums_of(first: int, last: int) -> Iterator[tuple[int, Floats]]:
        strips = sum_strips(source, members.only(np.arange(first, last)), room, levels=1)
        return enumerate(bands(strips, frame, rows, last - first))

    totals = [np.zeros((h, frame.width), dtype=np.float32) for h in np.diff(rows)]
    for first, last in blocks if len(blocks) > 1 else ():
        for number, sums in sums_of(first, last):
            _add(totals[number], sums, weights[first:last])
    with ThreadPoolExecutor(thread_count()) as pool:
        for first, last in blocks:
            for number, sums in sums_of(first, last):
                total = totals[number]
                if len(blocks) == 1:
                    _add(total, sums, weights)
                some = range(number * (len(columns) - 1), (number + 1) * (len(columns) - 1))
                list(pool.map(partial(_fill, result, first, sums, total, weights), some))
    return result


def _add(total: Floats, sums: Floats, weights: Doubles) -> None:
    """Groups one after another, so that blocks of them do not change the sum."""
    for weight, one in zip(weights, sums, strict=True):
        total += np.float32(weight) * one


def edges(length: int, side: int) -> Rows:
    """Edges of tiles of about `side` pixels, at multiples of 8."""
    many = max(1, round(length / side))
    return STEP * np.linspace(0, length // STEP, many + 1).round().astype(np.intp)


def bands(
    strips: Iterator[tuple[int, Floats]], frame: Frame, rows: Rows, count: int
) -> Iterator[Floats]:
    """(count, height, width) of each row of tiles, from strips of any width."""
    sizes = (np.diff(rows) * frame.width).tolist()
    number, filled, band = 0, 0, np.empty((count, sizes[0]), dtype=np.float32)
    for _, part in strips:
        at = 0
        while at < part.shape[1] and number < len(sizes):
            many = min(part.shape[1] - at, sizes[number] - filled)
            band[:, filled : filled + many] = part[:, at : at + many]
            at, filled = at + many, filled + many
            if filled == sizes[number]:
                yield band[:, :filled].reshape(count, -1, frame.width)
                number, filled = number + 1, 0
                if number < len(sizes) and band.shape[1] < sizes[number]:
                    band = np.empty((count, sizes[number]), dtype=np.float32)


def _fill(
    result: Tiles, first: int, sums: Floats, total: Floats, weights: Doubles, tile: int
) -> None:
    """One tile of some groups, whose sums and total are those of its row of tiles."""
    last, column = first + len(sums), tile % (len(result.columns) - 1)
    own = weights[first:last, np.newaxis, np.newaxis].astype(np.float32)
    place = slice(result.columns[column], result.columns[column + 1])
    some = np.ascontiguousarray(sums[:, :, place])
    others = total[:, place] - own * some
    pixels = some[0].size
    here, *squares = (
        np.array([np.einsum("ij,ij->", x, y) for x, y in zip(a, b, strict=True)], np.float64)
        for a, b in ((some, others), (some, some), (others, others))
    )
    scale = np.sqrt(np.maximum(squares[0] * squares[1] / pixels, 1e-300))
    result.here[first:last, tile] = here
    result.scale[first:last, tile] = scale
    far = _far(some.shape[1], some.shape[2])
    result.shifts[tile] = np.count_nonzero(far)
    looked = np.flatnonzero((tile % _EVERY == 0) | (here > _LIKE * scale))
    if len(looked):
        values = np.ascontiguousarray(_shifted(some[looked], others[looked])[:, far])
        result.mean[first + looked, tile] = values.mean(axis=1)
        result.spread[first + looked, tile] = values.std(axis=1, ddof=1)


def _far(height: int, width: int) -> Mask:
    """Which circular shifts by multiples of 8 are not within 16 pixels of none."""
    near = [
        np.minimum(at, side - at) <= NEAR
        for side in (height, width)
        for at in [np.arange(0, side, STEP)]
    ]
    return ~np.outer(near[0], near[1])


def _shifted(some: Floats, others: Floats) -> Doubles:
    """Products of tiles with others at circular shifts by multiples of 8."""
    from scipy.fft import irfft2, rfft2

    products = irfft2(rfft2(some).conj() * rfft2(others), s=some.shape[1:])
    return np.asarray(products[:, ::STEP, ::STEP], dtype=np.float64)
