"""What every store of fingerprints promises."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Words
from samecam.compute import rows_per_block
from samecam.frames import Frame


@dataclass(frozen=True, slots=True)
class Record:
    """One entry: a key, the hash of what it was made from, free data, and maybe a row.

    `frame` is that of its fingerprint; a record without one remembers that, and why, nothing
    could be made.
    """

    key: str
    sha256: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    frame: Frame | None = None

    @property
    def has_row(self) -> bool:
        """Whether a fingerprint belongs to it."""
        return self.frame is not None

    @property
    def is_aside(self) -> bool:
        """Whether its row is kept and not read with the others: its data say why, `aside`."""
        return bool(self.meta.get("aside"))


class FingerprintStore(ABC):
    """Rows of one frame, one per key, in the order of their keys.

    The order in which rows arrived, and from how many writers, leaves no trace: row i
    belongs to the i-th key in sorted order. A row counts once it is committed. A store that is
    for reading refuses what would change it.
    """

    n_pixels: int
    folder: Path | None = None  # where the rows lie; None: in memory

    @property
    def frame(self) -> Frame:
        """Width and height of what the rows are fingerprints of; of height 1 if unknown."""
        return Frame(self.n_pixels, 1)

    def on_disk(self, rows: npt.NDArray[np.intp]) -> "FingerprintStore | None":
        """Some rows (ascending), to be read in another process; None if they are in memory."""
        del rows
        return None

    @property
    @abstractmethod
    def keys(self) -> Sequence[str]:
        """Keys of the rows, sorted."""

    @property
    @abstractmethod
    def hashes(self) -> Sequence[str]:
        """SHA-256 of the rows, in the same order."""

    @abstractmethod
    def records(self) -> list[Record]:
        """Every committed record, with and without a row, sorted by key."""

    def add(
        self,
        key: str,
        vector: npt.ArrayLike | None,
        *,
        sha256: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Put a record, replacing that key's; it counts after `commit`."""
        del key, vector, sha256, meta
        raise TypeError("rows of a store are for reading; add to the store itself")

    def discard(self, keys: Iterable[str]) -> None:
        """Forget records at once; keys that are not there are no matter."""
        del keys
        raise TypeError("rows of a store are for reading; discard from the store itself")

    def commit(self) -> None:  # noqa: B027 - where nothing can be added, nothing is to be done
        """Make everything added count."""

    @abstractmethod
    def columns(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """(first pixel, (n, ≤width) part) from the first pixel to the last, each read once.

        Rows of bits may come 64 pixels at a time where fewer are asked for.
        The array is used again for the next part but one: take what you need before.
        """

    @abstractmethod
    def read_into(self, rows: npt.NDArray[np.intp], out: Floats) -> None:
        """Rows into `out`, (k, n_pixels) float32."""

    @property
    def kind(self) -> np.dtype[Any]:
        """Number type that `read_stored` gives; uint64 for rows of bits."""
        return np.dtype(np.float32)

    @property
    def is_bits(self) -> bool:
        """Whether rows have one or two bits a pixel, and can be read as words of 64.

        Of one: bit k of word j is pixel 64j + k of the row, 1 for +1/√d and 0 for −1/√d. The inner
        product of two rows is 1 − 2·popcount(a XOR b)/d. Of two: word 2j has the signs of pixels
        64j … 64j + 63, and bits of word 2j + 1 are 1 for pixels of ±1 and 0 for pixels of ±3, all
        times a scale that makes the norm 1. Bits beyond the last pixel are 0.
        """
        return self.kind == np.uint64

    @property
    def planes(self) -> int:
        """Bits a pixel of rows of bits."""
        return 1

    @property
    def n_words(self) -> int:
        """Words of a row of bits."""
        return self.planes * -(-self.n_pixels // 64)

    def whole_words(self, width: int) -> int:
        """So many words of a row, or fewer, that all bits of their pixels are among them."""
        return max(self.planes, width - width % self.planes)

    def words(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Words]]:
        """(first word, (n, ≤width) part) of rows of bits, as `columns` gives pixels.

        Words that belong to the same pixels are never in two parts.
        """
        del width, rows
        raise TypeError("these rows are no bits; read them as columns")

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
        """Rows as they are kept: row k is scales[k] · out[k], from pixel `start` on.

        Of rows of bits, `start` and width count words.

        Parameters
        ----------
        rows : (k,) row numbers
        out : (k, width) of `kind`, C order, filled with pixels start … start + width − 1
        scales : (k,) filled
        checks : (k,) checksums so far, zero at first, where a row is read in strips of pixels
            from the first to the last; whole rows need none
        n_threads : threads that read
        """
        del checks, n_threads  # for stores that lie on a disk
        row = np.empty((1, self.n_pixels), dtype=np.float32)
        for k in range(len(rows)):
            self.read_into(rows[k : k + 1], row)
            out[k] = row[0, start : start + out.shape[1]]
        scales[:] = 1

    @property
    @abstractmethod
    def row_bytes(self) -> int:
        """Bytes that reading one row takes in memory: the float32 row and its raw form."""

    def __len__(self) -> int:
        return len(self.keys)

    def index(self, key: str) -> int:
        """Row number of a key; KeyError if it has no row."""
        from bisect import bisect_left

        at = bisect_left(self.keys, key)
        if at == len(self.keys) or self.keys[at] != key:
            raise KeyError(key)
        return at

    def find(self, sha256: str) -> int:
        """Row number of the first row with that hash; KeyError if there is none."""
        try:
            return list(self.hashes).index(sha256)
        except ValueError:
            raise KeyError(sha256) from None

    def read(self, rows: slice | Sequence[int] | npt.NDArray[np.integer] | None = None) -> Floats:
        """Rows as float32 (k, n_pixels): all, a slice, or any sequence of row numbers."""
        everything = np.arange(len(self), dtype=np.intp)
        chosen = everything if rows is None else everything[rows]
        out = np.empty((len(chosen), self.n_pixels), dtype=np.float32)
        self.read_into(chosen, out)
        return out

    def blocks(self, memory: int) -> Iterator[tuple[int, Floats]]:
        """(first row, rows) one block after another, each within `memory` bytes."""
        step = rows_per_block(memory, self.row_bytes)
        for start in range(0, len(self), step):
            yield start, self.read(slice(start, start + step))

    def __enter__(self) -> "FingerprintStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027 - some stores have nothing to let go of
        """Let go of files; uncommitted records are dropped."""
