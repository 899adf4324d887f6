"""Correlations of a few rows with all rows of a store, which is read once for several askers."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from samecam.arrays import Doubles, Floats
from samecam.correlate import _bits
from samecam.correlate._strips import (
    DEFAULT_MEMORY,
    Source,
    are_bits,
    pixels,
    strip_width,
    strips,
    word_strips,
)
from samecam.store import BitRows, FingerprintStore

# Pixels whose products are added in float32 before they go into a double.
_STRIP = 1024


def crosses(
    firsts: Sequence[Source], second: Source, *, memory: int = DEFAULT_MEMORY
) -> list[Doubles]:
    """Correlations of the rows of each of `firsts` with each row of `second`, (n, m) each.

    A result does not depend on what it is made beside. Rows of bits are compared as bits if all
    are.

    Parameters
    ----------
    firsts : arrays, or stores in memory
    second : a store, or an array, that is read once
    memory : bytes for what is read at a time
    """
    lengths = {pixels(source) for source in (*firsts, second)}
    if len(lengths) > 1:
        raise ValueError(f"rows have {sorted(lengths)} numbers; give fingerprints of one size")
    if are_bits(second):
        bits = [one for one in firsts if are_bits(one) and one.planes == second.planes]
        if len(bits) == len(firsts):
            return _of_bits(bits, second, memory)
    out = [np.zeros((len(first), len(second))) for first in firsts]
    rows = len(second) + sum(map(len, firsts))
    width = strip_width(rows, max(memory, 2 * 4 * rows * _STRIP)) // _STRIP * _STRIP
    for start, part in strips(second, width):
        for first, result in zip(firsts, out, strict=True):
            own = _part(first, start, part.shape[1])
            for at in range(0, part.shape[1], _STRIP):
                some = slice(at, at + _STRIP)
                result += own[:, some] @ part[:, some].T
    return out


def _of_bits(
    firsts: Sequence[FingerprintStore], second: FingerprintStore, memory: int
) -> list[Doubles]:
    """All of them at once, as one store: counts are whole numbers, so none changes another."""
    words = [part for first in firsts for _, part in word_strips(first, first.n_words)]
    if not words:
        return []
    every = BitRows(np.concatenate(words), second.n_pixels)
    products = np.zeros((len(every), len(second)), dtype=np.float32)
    least = 16 * second.planes * (len(every) + len(second))
    _bits.fill_products(every, second, (None, None), products, max(memory, least))
    edges = np.cumsum([0, *map(len, words)])
    return [products[a:b].astype(np.float64) for a, b in pairwise(edges)]


def _part(source: Source, start: int, width: int) -> Floats:
    """Some pixels of all rows in float32."""
    if isinstance(source, np.ndarray):
        return np.asarray(source[:, start : start + width], dtype=np.float32)
    values = np.empty((len(source), width), dtype=source.kind)
    scales = np.empty(len(source), dtype=np.float32)
    source.read_stored(np.arange(len(source)), values, scales, start=start)
    return np.asarray(values * scales[:, np.newaxis], dtype=np.float32)
