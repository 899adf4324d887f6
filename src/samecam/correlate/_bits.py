"""Correlations of rows of bits on the processor, within a memory budget.

With c the number of pixels in which two rows of d pixels differ, their inner product is
(d − 2c)/d; of two bits a pixel it is 9d − 2c times the scales of both, see `_bit_kernels`. Counts
are whole numbers: neither threads, strips nor budgets change a result.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Rows, Words
from samecam.compute import thread_count
from samecam.correlate._membership import even_blocks
from samecam.correlate._progress import PhotoCount
from samecam.correlate._strips import row_scales, word_strips, word_width
from samecam.store import FingerprintStore

Counts = npt.NDArray[np.int32]
Tile = tuple[int, int, int, int]

# Rows of both sides that a thread works on at a time.
_BLOCK = 96
# Words of a row that are worked on before progress is told, and the fewest for a thread.
_RUN, _FEWEST = 2**15, 2**9
_TASKS_PER_THREAD = 4
_CONVERTED = 2**20


def fill_products(
    first: FingerprintStore,
    second: FingerprintStore,
    rows: tuple[Rows | None, Rows | None],
    out: Floats,
    memory: int,
    count: PhotoCount | None = None,
    *,
    lower: bool = False,
) -> None:
    """Inner products of rows of `first` with rows of `second` into `out`, which is zero before.

    Parameters
    ----------
    first, second : rows of bits, as many a pixel in both
    rows : numbers of those that are meant in each, default all
    out : (n, m) float32
    memory : bytes for the words of all these rows
    count : told of n·m·pixels
    lower : both sides are the same rows, and what is above the diagonal is left undefined
    """
    (n, m), planes = out.shape, first.planes
    width, d = word_width(n if lower else n + m, memory, planes), first.n_pixels
    counts = out.view(np.int32)

    def take(tile: Tile, part: Counts) -> None:
        counts[tile[0] : tile[1], tile[2] : tile[3]] += part

    with Differences((n, m), take, lower=lower, planes=planes) as differences:
        for at, a, b in _pairs(first, second, rows, width, same=lower):
            for start in range(0, a.shape[1], _RUN):
                stop = min(start + _RUN, a.shape[1])
                differences.add(a, b, start, stop)
                if count is not None:
                    begin, end = 64 * (at + start) // planes, 64 * (at + stop) // planes
                    count.add(out.size * (min(end, d) - begin))
    if planes == 1:
        _convert(counts, out, lambda part, _: (d - 2 * part) / d)
        return
    left, right = (
        row_scales(s, r).astype(np.float64) for s, r in zip((first, second), rows, strict=True)
    )
    _convert(counts, out, lambda part, at: (9 * d - 2 * part) * left[at, np.newaxis] * right)


class Differences:
    """Counts pixels in which rows differ, by threads, some rows of both sides at a time.

    Parameters
    ----------
    shape : rows of one side and of the other
    take : is given each tile (first and last row, first and last row of the other side) with its
        counts, a part of all words; one at a time, in any order
    lower : whether both sides are the same rows; tiles above the diagonal are left out, and what
        is above it in others is undefined
    planes : bits a pixel
    threads : default as many as BLAS takes
    """

    def __init__(
        self,
        shape: tuple[int, int],
        take: Callable[[Tile, Counts], None],
        *,
        lower: bool = False,
        planes: int = 1,
        threads: int | None = None,
    ) -> None:
        self._take, self._lower, self._planes = take, lower, planes
        self._threads = thread_count() if threads is None else threads
        columns = even_blocks(shape[1], _BLOCK)
        self._tiles: list[Tile] = [
            (top, bottom, left, right)
            for top, bottom in even_blocks(shape[0], _BLOCK)
            for left, right in columns
            if not lower or left < bottom
        ]
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None

    def __enter__(self) -> "Differences":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def add(self, a: Words, b: Words, start: int, stop: int) -> None:
        """Count in words start … stop − 1 of the rows a (n, ·) and b (m, ·)."""
        pieces = self._pieces(start, stop, len(self._tiles))
        tasks = [(a, b, tile, piece) for piece in pieces for tile in self._tiles]
        self._each(self._tile, tasks)

    def share(self, work: Callable[[int, int], None], start: int, stop: int) -> None:
        """Have the threads call `work` for parts of the words start … stop − 1."""
        self._each(work, self._pieces(start, stop, 1))

    def _pieces(self, start: int, stop: int, tiles: int) -> list[tuple[int, int]]:
        """Parts of some words, such that with so many tiles each there is work for all threads."""
        wanted = 1 if self._pool is None else _TASKS_PER_THREAD * self._threads
        most = max(1, (stop - start) // _FEWEST)
        pieces = min(most, -(-wanted // max(tiles, 1)))
        words = (stop - start) // self._planes
        edges = [start + self._planes * (words * k // pieces) for k in range(pieces + 1)]
        return list(pairwise(edges))

    def _each(self, work: Callable[..., None], tasks: Sequence[tuple[Any, ...]]) -> None:
        if self._pool is None or len(tasks) == 1:
            for task in tasks:
                work(*task)
            return
        for _ in self._pool.map(lambda task: work(*task), tasks):
            pass

    def _tile(self, a: Words, b: Words, tile: Tile, words: tuple[int, int]) -> None:
        from samecam.correlate._bit_kernels import count_differences

        top, bottom, left, right = tile
        counts = np.zeros((bottom - top, right - left), dtype=np.int32)
        lower = self._lower and top == left
        count_differences(a[top:bottom], b[left:right], *words, lower, self._planes, counts)
        with self._lock:
            self._take(tile, counts)


def _pairs(
    first: FingerprintStore,
    second: FingerprintStore,
    rows: tuple[Rows | None, Rows | None],
    width: int,
    *,
    same: bool,
) -> Iterator[tuple[int, Words, Words]]:
    """(first word, words of one side, of the other) strip after strip."""
    if same:
        yield from ((at, part, part) for at, part in word_strips(first, width, rows[0], whole=True))
        return
    strips = (word_strips(s, width, r) for s, r in zip((first, second), rows, strict=True))
    yield from ((at, a, b) for (at, a), (_, b) in zip(*strips, strict=True))


def _convert(counts: Counts, out: Floats, product: Callable[[Doubles, slice], Doubles]) -> None:
    """Inner products in place of the counts, whose memory they take; some rows at a time."""
    step = max(1, _CONVERTED // max(counts.shape[1], 1))
    for start in range(0, len(counts), step):
        some = slice(start, start + step)
        out[some] = product(counts[some].astype(np.float64), some)
