"""Copies of one picture: alike at a glance however they were turned, and with the same noise."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Labels, Mask, Rows, Words

# Ways in which a copy may lie: transposed or not, then turned upside down or not, then mirrored.
VIEWS = tuple((bool(k & 4), bool(k & 2), bool(k & 1)) for k in range(8))
# Bits of a hash: signs of the lowest frequencies of a picture of 32 × 32, i + j ≤ 21.
_DIAGONALS = 22
_WORDS, _PARTS = 4, 16
# Bits in which copies may differ, how much alike they look at least, and gray levels of contrast
# without which a part of a picture tells nothing (benchmarks/copies.py).
MOST_BITS, ALIKE, CONTRAST = 96, 0.85, 3.0
_FEWEST_BLOCKS = 4
# Earlier pictures, the most alike, with which one is compared further.
MOST_COMPARED = 8
_QUERIES, _PAIRS = 256, 2**20
# Pixels of a block of noise, a side, and of a smaller picture; the share of blocks that may
# have less noise in common, and how little residual leaves a block out, of the mean.
_BLOCK, _SMALL_BLOCK, _LARGE = 64, 32, 512
_LOWEST, _LEAST = 0.25, 1e-3


@dataclass(frozen=True, slots=True)
class Alike:
    """Two pictures that look alike: `copy`, seen by VIEWS[view], looks like `picture`.

    `look` is how much, see `common_look`.
    """

    picture: int
    copy: int
    view: int
    look: float


def seen(pixels: npt.NDArray[Any], view: int) -> npt.NDArray[Any]:
    """A picture (…, height, width) transposed and mirrored as VIEWS[view] says."""
    transposed, down, across = VIEWS[view]
    turned = np.swapaxes(pixels, -1, -2) if transposed else pixels
    turned = turned[..., ::-1, :] if down else turned
    return turned[..., ::-1] if across else turned


def picture_hashes(pictures: npt.ArrayLike) -> Words:
    """Hash of each small picture as it is seen by each of VIEWS, (n, 8, 4) words.

    Bits are the signs of its lowest frequencies (discrete cosine transform), the lowest first.

    Parameters
    ----------
    pictures : (n, 32, 32) from `photos.low_pass`
    """
    from scipy.fft import dctn

    given = np.asarray(pictures, dtype=np.float32)
    waves = dctn(given, axes=(1, 2), norm="ortho")
    signs = np.where(np.arange(given.shape[1]) % 2, -1, 1).astype(np.float32)
    at = [(i - j, j) for i in range(1, _DIAGONALS) for j in range(i + 1)]
    rows, columns = np.array(at).T
    bits = np.zeros((len(given), len(VIEWS), 64 * _WORDS), dtype=bool)
    for view, (transposed, down, across) in enumerate(VIEWS):
        turned = np.swapaxes(waves, 1, 2) if transposed else waves
        turned = turned * (signs[:, np.newaxis] if down else 1) * (signs if across else 1)
        bits[:, view, : len(at)] = turned[:, rows, columns] > 0
    return np.packbits(bits, axis=2, bitorder="little").view(np.uint64)


def alike_pictures(
    pictures: npt.ArrayLike, moments: Labels | None = None, first: int = 0
) -> Iterator[list[Alike]]:
    """For each picture from `first` on, the earlier ones that it looks like, most alike first.

    Pictures are looked up by any sixteen bits of their hashes that are the same, so that time
    grows little faster than their number, and at most 8 are told of each. What is told of a
    picture rests on those before it alone. Pictures with hardly any contrast are like none.

    Parameters
    ----------
    pictures : (n, 32, 32), numbers or bytes, from `photos.low_pass`
    moments : when each was taken, as numbers; −1 is not known. Pictures of different moments
        are not told
    first : the first picture of which the answer is wanted
    """
    given = np.asarray(pictures)
    if given.ndim != 3 or given.shape[1:] != (32, 32):
        raise ValueError(f"pictures have shape {given.shape}; give (n, 32, 32)")
    moments = np.full(len(given), -1) if moments is None else moments
    table = _Table(given, moments)
    for start in range(first, len(given), _QUERIES):
        yield from table.look_up(start, min(start + _QUERIES, len(given)))


class _Table:
    """Small pictures by parts of their hashes."""

    def __init__(self, pictures: npt.NDArray[Any], moments: Labels) -> None:
        self._pictures, self._moments = pictures, moments
        starts = range(0, len(pictures), _QUERIES)
        hashes = [picture_hashes(pictures[k : k + _QUERIES]) for k in starts]
        shows = [_tells(pictures[k : k + _QUERIES]) for k in starts]
        self._hashes = np.concatenate(hashes or [np.zeros((0, len(VIEWS), _WORDS), np.uint64)])
        self._shows = np.concatenate(shows or [np.zeros(0, dtype=bool)])
        upright = np.ascontiguousarray(self._hashes[:, 0]).view(np.uint16)
        self._orders = [np.argsort(upright[:, part], kind="stable") for part in range(_PARTS)]
        self._sorted = [upright[order, part] for part, order in enumerate(self._orders)]

    def look_up(self, start: int, stop: int) -> list[list[Alike]]:
        """Earlier pictures that pictures start … stop − 1 look like."""
        told: list[list[Alike]] = [[] for _ in range(start, stop)]
        for view in range(len(VIEWS)):
            copies, pictures = self._near(start, stop, view)
            looks = self._looks(copies, pictures, view)
            for k in np.flatnonzero(looks >= ALIKE):
                alike = Alike(int(pictures[k]), int(copies[k]), view, float(looks[k]))
                told[alike.copy - start].append(alike)
        order = [sorted(t, key=lambda a: (-a.look, a.picture, a.view)) for t in told]
        return [alike[:MOST_COMPARED] for alike in order]

    def _near(self, start: int, stop: int, view: int) -> tuple[Rows, Rows]:
        """Pairs (copy, earlier picture) whose hashes differ in few bits."""
        wanted = np.ascontiguousarray(self._hashes[start:stop, view])
        parts, n = wanted.view(np.uint16), len(self._pictures)
        near = [np.zeros(0, dtype=np.int64)]
        for part in range(_PARTS):
            low, high = (np.searchsorted(self._sorted[part], parts[:, part], side)
                         for side in ("left", "right"))  # fmt: skip
            for copies, places in _ranges(low, high):
                pictures = self._orders[part][places]
                kept = pictures < copies + start
                kept &= self._shows[pictures] & self._shows[copies + start]
                copies, pictures = copies[kept], pictures[kept]
                bits = np.bitwise_count(wanted[copies] ^ self._hashes[pictures, 0])
                kept = bits.sum(axis=1, dtype=np.int64) <= MOST_BITS
                near.append((copies[kept] + start) * n + pictures[kept])
        pairs = np.unique(np.concatenate(near))
        copies, pictures = np.divmod(pairs, max(n, 1))
        moments = self._moments[copies], self._moments[pictures]
        kept = (moments[0] == moments[1]) | (np.minimum(*moments) < 0)
        return copies[kept], pictures[kept]

    def _looks(self, copies: Rows, pictures: Rows, view: int) -> Doubles:
        """How much each pair of small pictures looks alike."""
        result = np.empty(len(copies))
        for k in range(0, len(copies), _QUERIES):
            some = slice(k, k + _QUERIES)
            turned = seen(self._pictures[copies[some]], view)
            result[some] = common_look(turned, self._pictures[pictures[some]])
        return result


def _ranges(low: Rows, high: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Every k with each of low[k] … high[k] − 1, a million pairs or so at a time."""
    counts = high - low
    ends = np.cumsum(counts)
    start = 0
    while start < len(low):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _PAIRS, side="right")))
        some = counts[start:stop]
        which = np.repeat(np.arange(start, stop), some)
        steps = np.arange(len(which)) - np.repeat(np.cumsum(some) - some, some)
        yield which, low[which] + steps
        start = stop


def common_look(some: npt.NDArray[Any], others: npt.NDArray[Any]) -> Doubles:
    """How much pairs of small pictures look alike, wherever one looks, (n,).

    It is the correlation that three quarters of their 4 × 4 blocks exceed, of those in which
    either has three gray levels of contrast: a border or a bright sky makes no two pictures
    alike. 0 where these are fewer than four.

    Parameters
    ----------
    some, others : (n, 32, 32) from `photos.low_pass`
    """
    a, b = (_small_blocks(pictures) for pictures in (some, others))
    powers = [np.einsum("nij,nij->ni", x, x) / x.shape[2] for x in (a, b)]
    tells = np.maximum(*powers) >= CONTRAST**2
    products = np.einsum("nij,nij->ni", a, b) / a.shape[2]
    alike = products / np.maximum(np.sqrt(powers[0] * powers[1]), np.finfo(float).tiny)
    result = np.zeros(len(alike))
    for k in np.flatnonzero(tells.sum(axis=1) >= _FEWEST_BLOCKS):
        result[k] = np.quantile(alike[k, tells[k]], _LOWEST)
    return result


def _small_blocks(pictures: npt.NDArray[Any]) -> Doubles:
    """Blocks of small pictures, (n, 16, 64), each of mean 0."""
    cut = pictures.reshape(-1, 4, 8, 4, 8).swapaxes(2, 3).reshape(-1, 16, 64).astype(np.float64)
    return np.asarray(cut - cut.mean(axis=2, keepdims=True))


def _tells(pictures: npt.NDArray[Any]) -> Mask:
    """Which small pictures have enough contrast to be told from others."""
    return common_look(pictures, pictures) > 0


def common_noise(one: Floats, other: Floats) -> float:
    """How much noise residual two pictures have in common, wherever one looks.

    The larger one is brought to the size of the other by means over areas. Then it is the
    correlation that three quarters of all blocks exceed: two photos of an unmoving scene have
    edges in common and hardly any noise, a picture and its copy have noise in common everywhere.
    Blocks without residual are left out; 0 if all are.

    Parameters
    ----------
    one, other : (height, width), residuals of the same view
    """
    from PIL import Image

    if one.size < other.size:
        one, other = other, one
    height, width = other.shape
    if one.shape != other.shape:
        small = Image.fromarray(np.ascontiguousarray(one)).resize(
            (width, height), Image.Resampling.BOX
        )
        one = np.asarray(small)
    side = _BLOCK if min(height, width) >= _LARGE else _SMALL_BLOCK
    a, b = _blocks(one, side), _blocks(other, side)
    powers = [np.einsum("ij,ij->i", x, x) for x in (a, b)]
    carry = np.logical_and(*(power > _LEAST * power.mean() for power in powers))
    if not carry.any():
        return 0.0
    products = np.einsum("ij,ij->i", a, b)[carry]
    return float(np.quantile(products / np.sqrt(powers[0] * powers[1])[carry], _LOWEST))


def _blocks(picture: Floats, side: int) -> Floats:
    """Whole blocks of a picture as rows of mean 0."""
    high, wide = (length // side for length in picture.shape)
    cut = picture[: high * side, : wide * side].reshape(high, side, wide, side)
    rows = cut.swapaxes(1, 2).reshape(high * wide, side * side)
    return np.asarray(rows - rows.mean(axis=1, keepdims=True), dtype=np.float32)
