"""A store that lives in memory: for arrays somebody brings, and for tests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.store._base import FingerprintStore, Record


class MemoryStore(FingerprintStore):
    """Fingerprints in memory, same contract as `DiskStore`.

    Parameters
    ----------
    n_pixels : length of a row
    """

    def __init__(self, n_pixels: int) -> None:
        self.n_pixels = n_pixels
        self._records: dict[str, Record] = {}
        self._vectors: dict[str, Floats] = {}
        self._added: dict[str, tuple[Record, Floats | None]] = {}
        self._keys: list[str] = []

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the rows, sorted."""
        return self._keys

    @property
    def hashes(self) -> Sequence[str]:
        """SHA-256 of the rows, in the same order."""
        return [self._records[key].sha256 for key in self._keys]

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels

    def records(self) -> list[Record]:
        """Every committed record, sorted by key."""
        return [self._records[key] for key in sorted(self._records)]

    def add(
        self,
        key: str,
        vector: npt.ArrayLike | None,
        *,
        sha256: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Put a record, replacing that key's; it counts after `commit`."""
        row = None if vector is None else np.array(vector, dtype=np.float32)
        if row is not None and row.shape != (self.n_pixels,):
            raise ValueError(f"vector has shape {row.shape}; rows have {self.n_pixels} numbers")
        self._added[key] = (
            Record(key, sha256, dict(meta or {}), self.frame if row is not None else None),
            row,
        )

    def discard(self, keys: Iterable[str]) -> None:
        """Forget records at once."""
        for key in keys:
            self._records.pop(key, None)
            self._vectors.pop(key, None)
        self._keys = sorted(self._vectors)

    def commit(self) -> None:
        """Make everything added count."""
        for key, (record, row) in self._added.items():
            self._records[key] = record
            self._vectors.pop(key, None)
            if row is not None:
                self._vectors[key] = row
        self._added.clear()
        self._keys = sorted(self._vectors)

    def columns(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        chosen = range(len(self)) if rows is None else rows
        for start in range(0, self.n_pixels, width):
            parts = [self._vectors[self._keys[row]][start : start + width] for row in chosen]
            empty = np.empty((0, min(width, self.n_pixels - start)), dtype=np.float32)
            yield start, np.stack(parts) if parts else empty

    def read_into(self, rows: npt.NDArray[np.intp], out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        for target, row in enumerate(rows):
            out[target] = self._vectors[self._keys[row]]
