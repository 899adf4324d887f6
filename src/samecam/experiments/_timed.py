"""A store that counts the seconds spent on reading it."""

import time
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from samecam.arrays import Floats, Rows, Words
from samecam.store import FingerprintStore, Subset

Part = TypeVar("Part")


class TimedStore(Subset):
    """All rows of `store`, with the time that reading takes in `seconds`.

    What counts is the time a caller waits: reading ahead while it computes costs nothing.
    """

    def __init__(self, store: FingerprintStore) -> None:
        super().__init__(store, np.arange(len(store), dtype=np.intp))
        self.seconds = 0.0

    def read_stored(self, rows: Rows, out: Any, scales: Floats, **more: Any) -> None:
        """See `FingerprintStore.read_stored`."""
        began = time.perf_counter()
        self.store.read_stored(rows, out, scales, **more)
        self.seconds += time.perf_counter() - began

    def columns(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        return self._timed(self.store.columns(width, rows))

    def words(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Words]]:
        """See `FingerprintStore.words`."""
        return self._timed(self.store.words(width, rows))

    def _timed(self, parts: Iterator[Part]) -> Iterator[Part]:
        while True:
            began = time.perf_counter()
            part = next(parts, None)
            self.seconds += time.perf_counter() - began
            if part is None:
                return
            yield part

    def read_into(self, rows: Rows, out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        began = time.perf_counter()
        self.store.read_into(rows, out)
        self.seconds += time.perf_counter() - began
