"""Some rows of a store, seen as a store of their own."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Words
from samecam.frames import Frame
from samecam.store._base import FingerprintStore, Record


class Subset(FingerprintStore):
    """The rows `rows` (ascending) of `store`, read from there; nothing can be added.

    Attributes
    ----------
    store : the whole store
    rows : row numbers in it
    """

    def __init__(self, store: FingerprintStore, rows: npt.NDArray[np.intp]) -> None:
        self.store, self.rows = store, rows
        self.n_pixels, self.folder = store.n_pixels, store.folder
        keys, hashes = store.keys, store.hashes
        self._keys = [keys[row] for row in rows]
        self._hashes = [hashes[row] for row in rows]

    def on_disk(self, rows: npt.NDArray[np.intp]) -> FingerprintStore | None:
        """See `FingerprintStore.on_disk`."""
        return self.store.on_disk(self.rows[rows])

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the rows, sorted."""
        return self._keys

    @property
    def hashes(self) -> Sequence[str]:
        """SHA-256 of the rows, in the same order."""
        return self._hashes

    @property
    def frame(self) -> Frame:
        """See `FingerprintStore.frame`."""
        return self.store.frame

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

    def read_stored(
        self,
        rows: npt.NDArray[np.intp],
        out: npt.NDArray[Any],
        scales: Floats,
        *,
        start: int = 0,
        checks: npt.NDArray[np.uint32] | None = None,
        n_threads: int = 1,
    ) -> None:
        """See `FingerprintStore.read_stored`."""
        self.store.read_stored(
            self.rows[rows], out, scales, start=start, checks=checks, n_threads=n_threads
        )

    def words(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Words]]:
        """See `FingerprintStore.words`."""
        return self.store.words(width, self.rows if rows is None else self.rows[rows])

    def close(self) -> None:
        """Let go of the files of the store, which are opened again when rows are read."""
        self.store.close()

    def records(self) -> list[Record]:
        """Records of the rows."""
        wanted = set(self._keys)
        return [record for record in self.store.records() if record.key in wanted]

    def columns(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        return self.store.columns(width, self.rows if rows is None else self.rows[rows])

    def read_into(self, rows: npt.NDArray[np.intp], out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        self.store.read_into(self.rows[rows], out)
