"""The middle of patterns at many scales and shifts, two bits a pixel: all pairs are products."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from samecam.arrays import Doubles, Words
from samecam.compute import thread_count
from samecam.register._resample import Pattern, middle, reduced, turned
from samecam.store import BitRows

_HALVED = 2.6  # scale from which the pattern is halved first: that costs less


class Turning(NamedTuple):
    """A turn in degrees clockwise, after mirroring."""

    turn: int
    mirrored: bool


class Place(NamedTuple):
    """Where the middle of a camera's pattern is looked at."""

    turning: Turning
    x: int
    y: int


def scaled_rows(pattern: Pattern, scales: Doubles, side: int) -> BitRows:
    """The middle of a pattern, side × side, reduced by each scale."""
    words = np.empty((len(scales), side * side // 32), dtype=np.uint64)
    smaller: dict[int, Pattern] = {1: pattern}
    if scales.max() > _HALVED:
        smaller[2] = reduced(pattern, 2.0, (pattern.shape[0] // 2, pattern.shape[1] // 2))

    def fill(k: int) -> None:
        by = 2 if scales[k] > _HALVED else 1
        _pack(reduced(smaller[by], float(scales[k]) / by, (side, side)), words[k], 0)

    _each(fill, len(scales))
    return BitRows(words, side * side)


def placed_rows(pattern: Pattern, places: Sequence[Place], side: int) -> Words:
    """The middle of a pattern, side × side, at each place."""
    words = np.empty((len(places), side * side // 32), dtype=np.uint64)

    def fill(k: int) -> None:
        place = places[k]
        part = middle(pattern, (side, side), place.x, place.y)
        part = turned(part, place.turning.turn, place.turning.mirrored)
        _pack(part.astype(np.float32), words[k], 1)

    _each(fill, len(places))
    return words


def places(turnings: Sequence[Turning], reach: int) -> list[Place]:
    """All shifts up to `reach` pixels each way, for every turning."""
    line = range(-reach, reach + 1)
    return [Place(turning, x, y) for turning in turnings for y in line for x in line]


def _pack(values: Pattern, out: Words, kind: int) -> None:
    from samecam.register._kernels import pack_pairs

    flat = np.ascontiguousarray(values.T).reshape(-1)  # column by column, as `reduced` makes it
    pack_pairs(flat, _signs(flat.size // 64, kind), out)


@lru_cache(maxsize=8)
def _signs(n: int, kind: int) -> Words:
    """Random signs for what lies outside of a pattern; others for each side of a product."""
    return np.random.default_rng((n, kind)).integers(0, 2**64, n, dtype=np.uint64)


def _each(work: Callable[[int], None], n: int) -> None:
    with ThreadPoolExecutor(thread_count()) as pool:
        for _ in pool.map(work, range(n)):
            pass
