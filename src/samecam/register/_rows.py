"""The middle of patterns at many scales and shifts, two bits a pixel: all pairs are products."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from samecam import correlate
from samecam.arrays import Doubles, Floats, Words
from samecam.compute import thread_count
from samecam.register._resample import Pattern, line_buffer, middle, reduce_into, reduced, turned
from samecam.store import BitRows

# Peaks that are told of each pair, and neighbouring scales in which one peak is seen.
PEAKS, WIDE = 2, 4
# Neighbouring scales over which chance is measured.
USUAL = 41
MAD = 1.4826  # standard deviations of a normal law in its median absolute deviation
# Which side of a product a row is, for the signs of what lies outside of a pattern.
PICTURE, CAMERA = 0, 1


class Turning(NamedTuple):
    """A turn in degrees clockwise, after mirroring."""

    turn: int
    mirrored: bool


class Place(NamedTuple):
    """Where the middle of a camera's pattern is looked at."""

    turning: Turning
    x: int
    y: int


class Top(NamedTuple):
    """A peak: its score in units of chance, and the numbers of its scale and of its place."""

    score: float
    scale: int
    place: int


class Middles:
    """The middles of some cameras' patterns at all places, to be compared with pictures.

    Parameters
    ----------
    cameras : give the pattern of each
    spots : places at which each is looked at
    side : of the middle
    """

    def __init__(
        self, cameras: Sequence[Callable[[], Pattern]], spots: Sequence[Place], side: int
    ) -> None:
        words = [placed_rows(pattern(), spots, side) for pattern in cameras]
        self._rows = BitRows(np.concatenate(words), side * side)
        self._spots, self._side = len(spots), side

    def highest(self, picture: Pattern, scales: Doubles, chosen: Sequence[int]) -> list[list[Top]]:
        """The highest peaks of a picture with each of the chosen cameras, by their numbers."""
        rows = scaled_rows(picture, scales, self._side)
        n, part = self._spots, self._rows
        if len(chosen) * n < len(part):
            at = np.concatenate([np.arange(n) + k * n for k in chosen])
            part = BitRows(part.values[at], part.n_pixels)
        products = correlate.cross(rows, part).reshape(len(rows), len(chosen), n)
        return [_tops(products[:, k]) for k in range(len(chosen))]


def _tops(products: Floats) -> list[Top]:
    """The best peaks, at scales that differ, against what is usual about each scale.

    A peak stands out from the other places at its scale, and from 0 as well: the products of smooth
    patterns are alike at neighbouring places, and differ there by less than chance makes.
    """
    left = products - np.median(products, axis=1, keepdims=True)
    scores = np.minimum(_against_usual(left), _against_usual(products))
    tops = []
    for _ in range(PEAKS):
        s, p = map(int, np.unravel_index(int(np.argmax(scores)), scores.shape))
        tops.append(Top(float(scores[s, p]), s, p))
        scores[max(0, s - WIDE) : s + WIDE + 1] = -np.inf
    return tops


def _against_usual(products: Floats) -> Doubles:
    """Products in units of what is usual at neighbouring scales."""
    from scipy.ndimage import uniform_filter1d

    spread = np.median(np.abs(products), axis=1).astype(np.float64)
    spread = MAD * np.sqrt(uniform_filter1d(spread**2, USUAL, mode="nearest"))
    scores: Doubles = products / np.maximum(spread, 1e-30)[:, np.newaxis]
    return scores


def level_of(scale: float) -> float:
    """How much smaller a pattern is made once for many scales: a power of √2, which costs less."""
    return float(2.0 ** (math.floor(2 * math.log2(max(scale, 1.0)) + 1e-9) / 2))


def scaled_rows(pattern: Pattern, scales: Doubles, side: int) -> BitRows:
    """The middle of a pattern, side × side, reduced by each scale."""
    words = np.empty((len(scales), side * side // 32), dtype=np.uint64)
    levels = [level_of(float(scale)) for scale in scales]
    smaller: dict[float, Pattern] = {1.0: pattern}
    for by in set(levels) - {1.0}:
        shape = (int(pattern.shape[0] / by), int(pattern.shape[1] / by))
        smaller[by] = np.ascontiguousarray(reduced(pattern, by, shape))

    def fill(k: int) -> None:
        by = levels[k]
        lines = line_buffer("lines", side, side)
        reduce_into(smaller[by], float(scales[k]) / by, (side, side), lines)
        _pack(lines, side, words[k], PICTURE)

    _each(fill, len(scales))
    return BitRows(words, side * side)


def placed_rows(pattern: Pattern, places: Sequence[Place], side: int) -> Words:
    """The middle of a pattern, side × side, at each place."""
    words = np.empty((len(places), side * side // 32), dtype=np.uint64)

    def fill(k: int) -> None:
        place = places[k]
        part = middle(pattern, (side, side), place.x, place.y)
        part = turned(part, place.turning.turn, place.turning.mirrored)
        _pack(np.ascontiguousarray(part.T, dtype=np.float32), side, words[k], CAMERA)

    _each(fill, len(places))
    return words


def places(turnings: Sequence[Turning], reach: int) -> list[Place]:
    """All shifts up to `reach` pixels each way, for every turning."""
    line = range(-reach, reach + 1)
    return [Place(turning, x, y) for turning in turnings for y in line for x in line]


def _pack(lines: Floats, side: int, out: Words, kind: int) -> None:
    """Pack the columns of a square, as the first numbers of each line."""
    from samecam.register._kernels import pack_pairs

    if side % 64:  # words go on from line to line
        lines = np.ascontiguousarray(lines[:, :side]).reshape(1, side * side)
    pack_pairs(lines, side * side // len(lines), signs(side * side // 64, kind), out)


@lru_cache(maxsize=8)
def signs(n: int, kind: int) -> Words:
    """Random signs for what lies outside of a pattern; others for each side of a product."""
    return np.random.default_rng((n, kind)).integers(0, 2**64, n, dtype=np.uint64)


def _each(work: Callable[[int], None], n: int) -> None:
    with ThreadPoolExecutor(thread_count()) as pool:
        for _ in pool.map(work, range(n)):
            pass
