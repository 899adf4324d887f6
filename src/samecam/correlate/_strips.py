"""Fingerprints read some pixels at a time: strips of all rows, or of some."""

from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Rows, Words
from samecam.compute import format_bytes
from samecam.errors import SamecamError
from samecam.store import BitRows, FingerprintStore

Source = FingerprintStore | npt.NDArray[Any]

DEFAULT_MEMORY = 2 * 2**30
# BLAS profits from no more pixels at a time.
_BEST_WIDTH = 8192
# Words of 64 pixels that are read at a time, at most: 64 kB of a row.
_BEST_WORDS = 8192


def pixels(source: Source) -> int:
    """Length of a row."""
    return int(source.n_pixels if isinstance(source, FingerprintStore) else source.shape[1])


def are_bits(source: Source) -> TypeGuard[FingerprintStore]:
    """Whether rows have one or two bits a pixel; those of an array never do."""
    return isinstance(source, FingerprintStore) and source.is_bits


def row_scales(source: FingerprintStore, rows: Rows | None = None) -> Floats:
    """What the stored numbers of each row are multiplied with."""
    chosen = np.arange(len(source)) if rows is None else rows
    scales = np.empty(len(chosen), dtype=np.float32)
    source.read_stored(chosen, np.empty((len(chosen), 0), dtype=source.kind), scales)
    return scales


def strip_bytes(rows: int, width: int) -> int:
    """Bytes of two strips of so many pixels: one in use, one being read."""
    return 2 * 4 * rows * width


def strip_width(rows: int, memory: int) -> int:
    """Pixels a strip may have: what fits, but no more than BLAS profits from."""
    return min(_BEST_WIDTH, _what_fits(rows, memory, strip_bytes(max(rows, 1), 1)))


def word_width(rows: int, memory: int, planes: int = 1) -> int:
    """Words that a strip of rows of so many bits a pixel may have."""
    most = _BEST_WORDS // planes
    return planes * min(most, _what_fits(rows, memory, 2 * 8 * planes * max(rows, 1)))


def _what_fits(rows: int, memory: int, one: int) -> int:
    """How often `one` fits into the memory, at least once."""
    if memory < one:
        raise SamecamError(
            f"The memory budget leaves {format_bytes(max(memory, 0))} for the pixels of {rows} "
            "photos, too little for one of each: raise it."
        )
    return memory // one


def strips(
    source: Source, width: int, rows: Rows | None = None, *, whole: bool = False
) -> Iterator[tuple[int, Floats]]:
    """(first pixel, strip of the rows) from the first pixel to the last, each read once.

    A strip may be overwritten by the next but one.

    Parameters
    ----------
    source : a store, or an (n, d) array
    width : pixels of a strip
    rows : row numbers, default all
    whole : whether an array that is float32 already may be given in one piece
    """
    if isinstance(source, FingerprintStore):
        yield from source.columns(width, rows)
        return
    if whole and _all_of(source, rows) and source.dtype == np.float32 and source.flags.c_contiguous:
        yield 0, source
        return
    for start in range(0, source.shape[1], width):
        part = source[:, start : start + width]
        yield start, np.ascontiguousarray(part if rows is None else part[rows], dtype=np.float32)


def word_strips(
    source: FingerprintStore, width: int, rows: Rows | None = None, *, whole: bool = False
) -> Iterator[tuple[int, Words]]:
    """(first word, strip of the rows in C order) of rows of bits, as `strips` gives pixels.

    With `whole`, rows that are in memory already are given in one piece.
    """
    if whole and isinstance(source, BitRows) and _all_of(source, rows):
        yield 0, source.values
        return
    for start, part in source.words(width, rows):
        yield start, np.ascontiguousarray(part)


def bit_strips(
    source: FingerprintStore, width: int, rows: Rows | None = None
) -> Iterator[tuple[int, Words]]:
    """(first, strip) in words of 64 pixels and one bit a pixel.

    Rows of two bits are twice as many, see `split_pairs`.
    """
    if source.planes == 1:
        yield from word_strips(source, width, rows)
        return
    from samecam.correlate._bit_kernels import split_pairs

    buffer = np.empty(0, dtype=np.uint64)
    for start, part in source.words(2 * width, rows):
        if buffer.size < part.size:
            buffer = np.empty(part.size, dtype=np.uint64)
        out = buffer[: part.size].reshape(2 * len(part), part.shape[1] // 2)
        split_pairs(part, out)
        yield start // 2, out


def _all_of(source: Source, rows: Rows | None) -> bool:
    """Whether all rows are meant, in their order."""
    return rows is None or (len(rows) == len(source) and bool((np.diff(rows) == 1).all()))
