"""Rows of shards, for reading: all that another process needs to be told of them."""

import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.errors import SamecamError
from samecam.files import open_own
from samecam.store import _codec
from samecam.store._base import FingerprintStore, Record
from samecam.store._shard import Placement, read_error, record_bytes, shard_path


class StoredRows(FingerprintStore):
    """Rows that lie at known places of a store's shards; nothing can be added.

    It can be sent to another process that sees the folder, and is read there without the
    catalogue. Keys and places go with it; hashes and the records' free data do not.

    Attributes
    ----------
    folder : of the store
    n_pixels : length of a row
    dtype : number type on disk
    """

    def __init__(
        self,
        folder: Path,
        n_pixels: int,
        dtype: _codec.Dtype,
        keys: list[str],
        places: list[Placement],
    ) -> None:
        self.folder, self.n_pixels = folder, n_pixels
        self.dtype: _codec.Dtype = dtype
        self._keys, self._places = keys, places
        self._length = record_bytes(n_pixels, dtype)
        self._files: dict[int, int] = {}

    def part(self, rows: Sequence[int] | npt.NDArray[np.integer]) -> "StoredRows":
        """Some rows (ascending), to be sent to another process and read there."""
        self._sort()
        keys, places = [self._keys[row] for row in rows], [self._places[row] for row in rows]
        return StoredRows(self.folder.absolute(), self.n_pixels, self.dtype, keys, places)

    def __reduce__(self) -> tuple[Any, ...]:
        self._sort()
        columns = [
            np.array([getattr(place, name) for place in self._places], dtype)
            for name, dtype in _COLUMNS.items()
        ]
        return _received, (str(self.folder), self.n_pixels, self.dtype, self._keys, columns)

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the rows, sorted."""
        self._sort()
        return self._keys

    @property
    def hashes(self) -> Sequence[str]:
        """Not known of rows that were sent: empty."""
        return [""] * len(self._keys)

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels + self._length

    def records(self) -> list[Record]:
        """A record of each row, with nothing but its key."""
        return [Record(key, has_row=True) for key in self.keys]

    def verify(self, rows: Iterable[int] | None = None) -> list[str]:
        """Keys of the rows whose bytes are not those that were written."""
        self._sort()
        raw = np.empty(self._length, dtype=np.uint8)
        chosen = range(len(self)) if rows is None else rows
        return [self._keys[row] for row in chosen if not self._sound(row, raw)]

    def close(self) -> None:
        """Let go of files."""
        for fd in self._files.values():
            os.close(fd)
        self._files.clear()

    def _sort(self) -> None:
        """Bring keys and places up to date; here they never change."""

    def _file(self, shard: int) -> int:
        if shard not in self._files:
            path = shard_path(self.folder, shard, self.dtype)
            try:
                self._files[shard] = open_own(path)
            except OSError as error:
                raise self._unreadable(shard, error) from None
        return self._files[shard]

    def _unreadable(self, shard: int, error: OSError) -> SamecamError:
        return read_error(shard_path(self.folder, shard, self.dtype), error)

    def _fetch(self, place: Placement, start: int, raw: npt.NDArray[np.uint8]) -> bool:
        """Read bytes of a row from byte `start` on into `raw`; False if the shard ends before."""
        view, at = raw.data, place.row * self._length + start
        while len(view):
            try:
                got = os.preadv(self._file(place.shard), [view], at)
            except OSError as error:
                raise self._unreadable(place.shard, error) from None
            if not got:
                return False
            view, at = view[got:], at + got
        return True

    def _sound(self, row: int, raw: npt.NDArray[np.uint8]) -> bool:
        """Read the bytes of a row into `raw` and compare their checksum."""
        place = self._places[row]
        return self._fetch(place, 0, raw) and zlib.crc32(raw.data) == place.crc

    def _damaged(self, row: int) -> SamecamError:
        return SamecamError(
            f"The fingerprint of {self._keys[row]!r} in {str(self.folder)!r} is damaged "
            "on disk: restore the store from a copy, or begin a new case."
        )

    def read_into(self, rows: npt.NDArray[np.intp], out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        self._sort()
        raw = np.empty(self._length, dtype=np.uint8)
        values = raw.view(_codec.kind(self.dtype))
        for target, row in enumerate(rows):
            if not self._sound(int(row), raw):
                raise self._damaged(int(row))
            _codec.decode(values, self._places[row].scale, out[target])

    @property
    def kind(self) -> np.dtype[Any]:
        """Number type that `read_stored` gives."""
        return _codec.kind(self.dtype)

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
        """See `FingerprintStore.read_stored`: bytes go from the file to `out` and nowhere else."""
        self._sort()
        places = [self._places[row] for row in rows]
        for shard in {place.shard for place in places}:
            self._file(shard)
        scales[:] = [place.scale for place in places]
        raw = out.view(np.uint8)
        offset = start * self.kind.itemsize
        ends = offset + raw.shape[1] == self._length
        sums = np.zeros(len(rows), dtype=np.uint32) if checks is None else checks

        def read(first: int, last: int) -> None:
            for k in range(first, last):
                sound = self._fetch(places[k], offset, raw[k])
                sums[k] = zlib.crc32(raw[k].data, int(sums[k]))
                if not sound or (ends and sums[k] != places[k].crc):
                    raise self._damaged(int(rows[k]))

        edges = np.linspace(0, len(rows), n_threads + 1).astype(int).tolist()
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(read, edges[:-1], edges[1:]))

    def columns(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`; checksums run along and are compared at the end.

        While one part is used, a thread reads the next.
        """
        self._sort()
        chosen = [int(row) for row in (range(len(self)) if rows is None else rows)]
        sums = [0] * len(chosen)
        starts = range(0, self.n_pixels, width)
        buffers = [np.empty(len(chosen) * width, dtype=np.float32) for _ in range(2)]
        with ThreadPoolExecutor(1) as reader:
            following = reader.submit(self._read_part, chosen, starts[0], width, buffers[0], sums)
            for k, start in enumerate(starts):
                part = following.result()
                if k + 1 < len(starts):
                    following = reader.submit(
                        self._read_part, chosen, starts[k + 1], width, buffers[(k + 1) % 2], sums
                    )
                else:
                    for row, crc in zip(chosen, sums, strict=True):
                        if crc != self._places[row].crc:
                            raise self._damaged(row)
                yield start, part

    def _read_part(
        self, rows: list[int], start: int, width: int, buffer: Floats, sums: list[int]
    ) -> Floats:
        width = min(width, self.n_pixels - start)
        kind = _codec.kind(self.dtype)
        raw = np.empty(width * kind.itemsize, dtype=np.uint8)
        part = buffer[: len(rows) * width].reshape(len(rows), width)
        for target, row in enumerate(rows):
            place = self._places[row]
            if not self._fetch(place, start * kind.itemsize, raw):
                raise self._damaged(row)
            sums[target] = zlib.crc32(raw.data, sums[target])
            _codec.decode(raw.view(kind), place.scale, part[target])
        return part


_COLUMNS = {"shard": np.int32, "row": np.int64, "crc": np.uint32, "scale": np.float64}


def _received(
    folder: str,
    n_pixels: int,
    dtype: _codec.Dtype,
    keys: list[str],
    columns: Sequence[npt.NDArray[Any]],
) -> StoredRows:
    """Rows as they come out of a message."""
    places = [Placement(*values) for values in zip(*(c.tolist() for c in columns), strict=True)]
    return StoredRows(Path(folder), n_pixels, dtype, keys, places)
