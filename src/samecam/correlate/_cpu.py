"""Correlations of all pairs on the processor, within a memory budget."""

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.compute import format_bytes
from samecam.correlate import _bits
from samecam.correlate._progress import PhotoCount, Progress
from samecam.correlate._strips import (
    DEFAULT_MEMORY,
    Source,
    are_bits,
    pixels,
    strip_bytes,
    strip_width,
    strips,
)
from samecam.errors import SamecamError

_LEAST_WIDTH = 64
_NORMALISE = 2**22
# Photos whose correlations BLAS is asked for at once: with several threads, OpenBLAS's ssyrk of
# 32,000 rows writes beyond its memory. Those of more are made in blocks of so many.
_MOST_ROWS, _SIDE = 16_384, 4096


def gram_memory(n: int) -> int:
    """Bytes that the correlations of n photos take at least, with what is read for them."""
    return 4 * n * n + strip_bytes(n, _LEAST_WIDTH) + _block_bytes(n)


def _block_bytes(n: int) -> int:
    """Bytes of one block of products, where those of n photos are made block by block."""
    return 4 * _SIDE**2 if n > _MOST_ROWS else 0


def gram(
    source: Source,
    *,
    rows: npt.NDArray[np.integer] | None = None,
    memory: int = DEFAULT_MEMORY,
    out: Floats | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Correlations of all rows, see `correlate.gram`."""
    chosen = np.arange(len(source)) if rows is None else np.asarray(rows, dtype=np.intp)
    n = len(chosen)
    if out is not None:
        check_out(out, n, n)
    if n == 0:
        return np.zeros((0, 0), dtype=np.float32) if out is None else out
    if out is None:
        need = gram_memory(n)
        if need > memory:
            raise SamecamError(
                f"The correlations of {n} photos take {format_bytes(need)} and the memory budget "
                f"is {format_bytes(memory)}: raise it, or cluster fewer at a time."
            )
        out = np.zeros((n, n), dtype=np.float32)
        count = PhotoCount(n, n * n * pixels(source), progress)
        _accumulate(source, chosen, chosen, out, memory - 4 * n * n, count)
        _mirror(out)
    else:
        _by_tiles(source, chosen, out, memory, progress)
    np.einsum("ii->i", out)[:] = 1
    return out


def cross(
    first: Source, second: Source, *, memory: int = DEFAULT_MEMORY, out: Floats | None = None
) -> Floats:
    """Correlations of each row of `first` with each of `second`, (n, m) float32."""
    if pixels(first) != pixels(second):
        raise ValueError(
            f"rows have {pixels(first)} and {pixels(second)} numbers; give fingerprints of one size"
        )
    n, m = len(first), len(second)
    if out is not None:
        check_out(out, n, m)
    own = out is None
    if out is None:
        out = np.zeros((n, m), dtype=np.float32)
    else:
        out[:] = 0
    room = memory - out.nbytes if own else memory
    if are_bits(first) and are_bits(second) and first.planes == second.planes:
        _bits.fill_products(first, second, (None, None), out, room)
        return out
    width = strip_width(n + m, room)
    for (_, a), (_, b) in zip(strips(first, width), strips(second, width), strict=True):
        out += a @ b.T
    return out


def check_out(out: Floats, n: int, m: int) -> None:
    """Raise an error unless `out` can take an (n, m) result."""
    if out.shape != (n, m) or out.dtype != np.float32:
        raise ValueError(
            f"out has shape {out.shape} and dtype {out.dtype}; give ({n}, {m}) float32"
        )


def normalised(X: npt.ArrayLike) -> Floats:
    """Rows with zero mean and unit norm, as a new float32 array; constant rows become zero.

    Means and norms are taken in float64, some rows at a time.
    """
    given = np.asarray(X)
    out = np.empty(given.shape, dtype=np.float32)
    step = max(1, _NORMALISE // max(given.shape[1], 1))
    for start in range(0, len(given), step):
        rows = given[start : start + step].astype(np.float64)
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
        rows /= np.where(largest > 0, largest, 1)
        rows -= rows.mean(axis=1, keepdims=True)
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        flat = norms <= 1e-12 * np.sqrt(rows.shape[1])
        if given.dtype == np.float32:
            flat = norms <= 1e-6 * np.sqrt(rows.shape[1])
        rows[flat] = 0
        norms[flat] = 1
        out[start : start + step] = rows / norms[:, np.newaxis]
    return out


def _accumulate(
    source: Source,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    out: Floats,
    memory: int,
    count: PhotoCount,
) -> None:
    """Add X[first] X[second]ᵀ to `out`, which is zero; the lower triangle only if both are same."""
    from scipy.linalg.blas import ssyrk

    same = first is second
    if are_bits(source):
        _bits.fill_products(source, source, (first, second), out, memory, count, lower=same)
        return
    if same:
        width = strip_width(len(first), memory - _block_bytes(len(first)))
        for _, part in strips(source, width, first, whole=True):
            if len(first) > _MOST_ROWS:
                _add_blocks(part, out)
            else:
                # Rows of C order are columns of Fortran order: the upper triangle there is the
                # lower one here.
                ssyrk(1.0, part.T, beta=1.0, c=out.T, trans=1, lower=0, overwrite_c=1)
            count.add(out.size * part.shape[1])
        return
    width = strip_width(len(first) + len(second), memory)
    pairs = zip(strips(source, width, first), strips(source, width, second), strict=True)
    for (_, a), (_, b) in pairs:
        out += a @ b.T
        count.add(out.size * a.shape[1])


def _add_blocks(part: Floats, out: Floats) -> None:
    """Add the lower triangle of the products of some pixels, a block of rows and columns a time."""
    for top in range(0, len(part), _SIDE):
        rows = slice(top, top + _SIDE)
        for left in range(0, top + 1, _SIDE):
            columns = slice(left, left + _SIDE)
            out[rows, columns] += part[rows] @ part[columns].T


def _by_tiles(
    source: Source,
    rows: npt.NDArray[np.intp],
    out: Floats,
    memory: int,
    progress: Progress | None,
) -> None:
    """Fill `out` tile by tile, a tile taking half of the memory."""
    side = max(1, min(len(rows), int((memory / 2 / 4) ** 0.5)))
    starts = range(0, len(rows), side)
    lengths = [min(side, len(rows) - top) for top in starts]
    areas = sum(a * b for k, a in enumerate(lengths) for b in lengths[: k + 1])
    count = PhotoCount(len(rows), areas * pixels(source), progress)
    for top in starts:
        for left in starts[: top // side + 1]:
            a, b = rows[top : top + side], rows[left : left + side]
            b = a if top == left else b
            tile = np.zeros((len(a), len(b)), dtype=np.float32)
            _accumulate(source, a, b, tile, memory - tile.nbytes, count)
            if top == left:
                _mirror(tile)
            out[top : top + side, left : left + side] = tile
            out[left : left + side, top : top + side] = tile.T


def _mirror(matrix: Floats) -> None:
    """Copy the lower triangle to the upper one, by blocks."""
    n, step = len(matrix), 1024
    for top in range(0, n, step):
        block = matrix[top : top + step, top : top + step]
        block[:] = np.tril(block) + np.tril(block, -1).T
        for left in range(0, top, step):
            matrix[left : left + step, top : top + step] = matrix[
                top : top + step, left : left + step
            ].T
