"""Rows as they are stored, worked on by threads while the next are read."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Rows
from samecam.compute import thread_count
from samecam.store import FingerprintStore

Encoded = npt.NDArray[Any]  # a row as it is stored: words, or int8

# Rows a thread that are read while others are worked on.
_AHEAD = 4


def each_row(
    source: FingerprintStore,
    rows: Rows,
    work: Callable[[int, Encoded, float], Doubles],
    count: int,
    memory: int,
) -> Doubles:
    """(rows, count) numbers that `work` makes of each row; the next are read meanwhile.

    Parameters
    ----------
    source, rows : the rows, and their numbers
    work : is given the place among these, the row as it is stored, and its scale
    count : how many numbers it makes
    memory : bytes for the rows that are held, but two a thread
    """
    threads, size = thread_count(), _row_bytes(source)
    step = max(threads, min(memory // 2 // size, _AHEAD * threads))
    held = [np.empty((min(step, len(rows)), size // source.kind.itemsize), source.kind)] * 2
    if len(rows) > step:
        held[1] = np.empty_like(held[0])
    out, waiting = np.empty((len(rows), count)), deque[tuple[int, Future[Doubles]]]()
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            values, scales = held[first // step % 2][: len(some)], np.empty(len(some), np.float32)
            source.read_stored(some, values, scales)
            while waiting:
                k, line = waiting.popleft()
                out[k] = line.result()
            for k, each in enumerate(zip(values, scales.tolist(), strict=True), first):
                waiting.append((k, pool.submit(work, k, *each)))
        for k, line in waiting:
            out[k] = line.result()
    return out


def _row_bytes(source: FingerprintStore) -> int:
    return (source.n_words if source.is_bits else source.n_pixels) * source.kind.itemsize


def stored_rows(source: FingerprintStore, rows: Rows) -> tuple[Encoded, Encoded]:
    """Rows as they are stored, and their scales."""
    values = np.empty((len(rows), _row_bytes(source) // source.kind.itemsize), dtype=source.kind)
    scales = np.empty(len(rows), dtype=np.float32)
    source.read_stored(rows, values, scales)
    return values, scales
