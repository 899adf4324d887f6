"""Rows of a store, seen without some pixels of the frame."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Doubles, Floats, Mask, Rows, Words
from samecam.compute import thread_count
from samecam.store._base import FingerprintStore, Record

_WORD = 64
# Bytes that are read at a time, but a row at least.
_BLOCK_BYTES = 2**26
_LEAST = 1e-6  # of a row's squared norm, that is left


class RowsWithout(FingerprintStore):
    """The rows of `store` without some pixels, of unit norm again; nothing can be added.

    Pixels are left out 64 at a time, so that rows of bits stay such.

    Parameters
    ----------
    store : the whole rows
    inside : (d,) pixels that are left out, with all others of their 64

    Attributes
    ----------
    store : as above
    kept : (d,) which pixels are left
    """

    def __init__(self, store: FingerprintStore, inside: Mask) -> None:
        self.store, self.folder = store, store.folder
        self._left: Mask = ~np.logical_or.reduceat(inside, np.arange(0, store.n_pixels, _WORD))
        self.kept: Mask = np.repeat(self._left, _WORD)[: store.n_pixels]
        self.n_pixels = int(np.count_nonzero(self.kept))
        if not self.n_pixels:
            raise ValueError("no pixel is left; leave out fewer")
        self._items = store.planes if store.is_bits else _WORD  # numbers of a row for 64 pixels
        self._factors = self._measured().astype(np.float32)

    def on_disk(self, rows: Rows) -> "RowsWithout | None":
        """See `FingerprintStore.on_disk`."""
        stored = self.store.on_disk(rows)
        if stored is None:
            return None
        result = object.__new__(RowsWithout)
        result.__dict__.update(self.__dict__, store=stored, _factors=self._factors[rows])
        return result

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the rows, sorted."""
        return self.store.keys

    @property
    def hashes(self) -> Sequence[str]:
        """SHA-256 of the rows, in the same order."""
        return self.store.hashes

    def records(self) -> list[Record]:
        """Records of the rows."""
        return self.store.records()

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return self.store.row_bytes

    @property
    def kind(self) -> np.dtype[Any]:
        """Number type that `read_stored` gives."""
        return self.store.kind

    @property
    def planes(self) -> int:
        """Bits a pixel of rows of bits."""
        return self.store.planes

    def close(self) -> None:
        """Let go of the files of the store."""
        self.store.close()

    def columns(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        factors = self._factors[slice(None) if rows is None else rows, np.newaxis]
        at = 0
        for start, part in self.store.columns(width, rows):
            here = self.kept[start : start + part.shape[1]]
            if here.any():
                left = part * factors if here.all() else part[:, here] * factors
                yield at, left
                at += left.shape[1]

    def words(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Words]]:
        """See `FingerprintStore.words`."""
        at = 0
        for start, part in self.store.words(width, rows):
            left = part[:, self._left[np.arange(start, start + part.shape[1]) // self.planes]]
            if left.shape[1]:
                yield at, left
                at += left.shape[1]

    def read_into(self, rows: Rows, out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        whole = np.empty((1, self.store.n_pixels), dtype=np.float32)
        for target, row in enumerate(rows):
            self.store.read_into(np.array([row]), whole)
            np.multiply(whole[0, self.kept], self._factors[row], out=out[target])

    def read_stored(
        self,
        rows: Rows,
        out: npt.NDArray[Any],
        scales: Floats,
        *,
        start: int = 0,
        checks: npt.NDArray[np.uint32] | None = None,
        n_threads: int = 1,
    ) -> None:
        """See `FingerprintStore.read_stored`."""
        first, last = self._place(start), self._place(start + out.shape[1])
        runs = [(max(a, first), min(b, last)) for a, b in self._runs() if a < last and b > first]
        step = max(1, _BLOCK_BYTES // max(1, (last - first) * self.kind.itemsize))
        for k in range(0, len(rows), step):
            some, sums = rows[k : k + step], None if checks is None else checks[k : k + step]
            part = np.empty((len(some), last - first), dtype=self.kind)
            self.store.read_stored(
                some, part, scales[k : k + step], start=first, checks=sums, n_threads=n_threads
            )
            at = 0
            for a, b in runs:
                out[k : k + step, at : at + b - a] = part[:, a - first : b - first]
                at += b - a
        scales *= self._factors[rows]

    def _runs(self, left: bool = True) -> list[tuple[int, int]]:
        """(first, last) numbers of whole rows that are left, or left out."""
        marked = np.concatenate([[0], (self._left == left).astype(np.int8), [0]])
        edges = self._items * np.flatnonzero(np.diff(marked))
        return [(a, b) for a, b in edges.reshape(-1, 2).tolist()]

    def _place(self, number: int) -> int:
        """Where a number of a row lies in the whole row; the first and the end stay such.

        So parts of rows are, one after another, all of the whole rows.
        """
        if not number:
            return 0
        words = np.flatnonzero(self._left)
        if number >= _length(self):
            return _length(self.store)
        return int(words[number // self._items]) * self._items + number % self._items

    def _measured(self) -> Doubles:
        """What brings each row to unit norm again."""
        store, n = self.store, len(self.store)
        if store.planes == 1 and store.is_bits:
            return np.full(n, (store.n_pixels / self.n_pixels) ** 0.5)
        result = np.empty(n)
        gaps, length = self._runs(left=False), _length(store)
        step = max(1, _BLOCK_BYTES // (length * store.kind.itemsize))
        for first in range(0, n, step):
            rows = np.arange(first, min(first + step, n), dtype=np.intp)
            values = np.empty((len(rows), length), dtype=store.kind)
            scales = np.empty(len(rows), dtype=np.float32)
            store.read_stored(rows, values, scales, n_threads=thread_count())
            if store.is_bits:
                small = np.bitwise_count(values[:, 1::2][:, self._left]).sum(axis=1, dtype=np.int64)
                squares = np.square(scales, dtype=np.float64) * (9.0 * self.n_pixels - 8.0 * small)
            else:
                out = np.zeros(len(rows))
                for a, b in gaps:
                    part = values[:, a:b].astype(np.float32) * scales[:, np.newaxis]
                    out += np.einsum("ij,ij->i", part, part, dtype=np.float64)
                squares = 1 - out
            result[rows] = np.maximum(squares, _LEAST) ** -0.5
        return result


def _length(store: FingerprintStore) -> int:
    """Numbers of a row as it is stored: pixels, or words."""
    return store.n_words if store.is_bits else store.n_pixels
