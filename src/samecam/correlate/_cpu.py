"""Correlations of all pairs on the processor, within a memory budget."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.compute import format_bytes
from samecam.errors import SamecamError
from samecam.store import FingerprintStore

Source = FingerprintStore | npt.NDArray[Any]

DEFAULT_MEMORY = 2 * 2**30
_LEAST_WIDTH = 64
_BEST_WIDTH = 8192
_NORMALISE = 2**22


def gram(
    source: Source,
    *,
    rows: npt.NDArray[np.integer] | None = None,
    memory: int = DEFAULT_MEMORY,
    out: Floats | None = None,
) -> Floats:
    """Correlations of all rows, see `correlate.gram`."""
    chosen = np.arange(len(source)) if rows is None else np.asarray(rows, dtype=np.intp)
    n = len(chosen)
    if out is not None:
        check_out(out, n, n)
    if n == 0:
        return np.zeros((0, 0), dtype=np.float32) if out is None else out
    if out is None:
        if 4 * n * n + _part_bytes(n, _LEAST_WIDTH) > memory:
            need = 4 * n * n + _part_bytes(n, _LEAST_WIDTH)
            raise SamecamError(
                f"The correlations of {n} photos take {format_bytes(need)} and the memory budget "
                f"is {format_bytes(memory)}: raise it, or cluster fewer at a time."
            )
        out = np.zeros((n, n), dtype=np.float32)
        _accumulate(source, chosen, chosen, out, memory - 4 * n * n)
        _mirror(out)
    else:
        _by_tiles(source, chosen, out, memory)
    np.einsum("ii->i", out)[:] = 1
    return out


def cross(
    first: Source, second: Source, *, memory: int = DEFAULT_MEMORY, out: Floats | None = None
) -> Floats:
    """Correlations of each row of `first` with each of `second`, (n, m) float32."""
    if _pixels(first) != _pixels(second):
        raise ValueError(
            f"rows have {_pixels(first)} and {_pixels(second)} numbers; give fingerprints of one "
            "size"
        )
    n, m = len(first), len(second)
    if out is not None:
        check_out(out, n, m)
    own = out is None
    if out is None:
        out = np.zeros((n, m), dtype=np.float32)
    else:
        out[:] = 0
    width = _width(n + m, memory - out.nbytes if own else memory)
    for (_, a), (_, b) in zip(_parts(first, width), _parts(second, width), strict=True):
        out += a @ b.T
    return out


def check_out(out: Floats, n: int, m: int) -> None:
    """Raise a sentence unless `out` can take an (n, m) result."""
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


def parts(source: Source, memory: int) -> Iterator[Floats]:
    """All rows, some pixels at a time, each pixel once; two parts fit into `memory`."""
    for _, part in _parts(source, _width(len(source), memory)):
        yield part


def _accumulate(
    source: Source,
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    out: Floats,
    memory: int,
) -> None:
    """Add X[first] X[second]ᵀ to `out`; the lower triangle only if both are the same."""
    from scipy.linalg.blas import ssyrk

    same = first is second
    width = _width(len(first) if same else len(first) + len(second), memory)
    if same:
        for _, part in _parts(source, width, first, whole=True):
            # Rows of C order are columns of Fortran order: the upper triangle there is the
            # lower one here.
            ssyrk(1.0, part.T, beta=1.0, c=out.T, trans=1, lower=0, overwrite_c=1)
        return
    pairs = zip(_parts(source, width, first), _parts(source, width, second), strict=True)
    for (_, a), (_, b) in pairs:
        out += a @ b.T


def _by_tiles(source: Source, rows: npt.NDArray[np.intp], out: Floats, memory: int) -> None:
    """Fill `out` tile by tile, a tile taking half of the memory."""
    side = max(1, min(len(rows), int((memory / 2 / 4) ** 0.5)))
    starts = range(0, len(rows), side)
    for top in starts:
        for left in starts[: top // side + 1]:
            a, b = rows[top : top + side], rows[left : left + side]
            b = a if top == left else b
            tile = np.zeros((len(a), len(b)), dtype=np.float32)
            _accumulate(source, a, b, tile, memory - tile.nbytes)
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


def _pixels(source: Source) -> int:
    return source.n_pixels if isinstance(source, FingerprintStore) else source.shape[1]


def _part_bytes(rows: int, width: int) -> int:
    """Bytes of two parts of so many pixels: one in use, one being read."""
    return 2 * 4 * rows * width


def _width(rows: int, memory: int) -> int:
    """Pixels a part may have: what fits, but no more than BLAS profits from."""
    width = memory // _part_bytes(max(rows, 1), 1)
    if width < 1:
        raise SamecamError(
            f"The memory budget leaves {format_bytes(max(memory, 0))} for the pixels of {rows} "
            "photos, too little for one of each: raise it."
        )
    return min(_BEST_WIDTH, width)


def _parts(
    source: Source,
    width: int,
    rows: npt.NDArray[np.intp] | None = None,
    *,
    whole: bool = False,
) -> Iterator[tuple[int, Floats]]:
    """(first pixel, part of the rows); an array that is ready may be given in one, if `whole`."""
    if isinstance(source, FingerprintStore):
        yield from source.columns(width, rows)
        return
    every = rows is None or (len(rows) == len(source) and (np.diff(rows) == 1).all())
    if whole and every and source.dtype == np.float32 and source.flags.c_contiguous:
        yield 0, source
        return
    for start in range(0, source.shape[1], width):
        part = source[:, start : start + width]
        yield start, np.ascontiguousarray(part if rows is None else part[rows], dtype=np.float32)
