"""Rows of shards, for reading: all that another process needs to be told of them."""

import os
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Words
from samecam.errors import SamecamError
from samecam.files import open_own
from samecam.frames import Frame
from samecam.store import _codec
from samecam.store._base import FingerprintStore, Record
from samecam.store._bits import unpack
from samecam.store._shard import Placement, read_error, record_bytes, shard_path


class _Part(NamedTuple):
    """How a part of rows is read: by which method, as what, and how many values an item has."""

    read: Callable[[list[int], int, int, npt.NDArray[Any], list[int]], None]
    kind: type[np.generic]
    values: int = 1


class StoredRows(FingerprintStore):
    """Rows of one frame that lie at known places of a store's shards; nothing can be added.

    It can be sent to another process that sees the folder, and is read there without the
    catalogue. Keys and places go with it; hashes and the records' free data do not.

    Parameters
    ----------
    folder : of the store
    frame : of the rows
    dtype : number type on disk
    keys, places : of the rows, by key
    records : of the rows, if they are known
    """

    def __init__(
        self,
        folder: Path,
        frame: Frame,
        dtype: _codec.Dtype,
        keys: list[str],
        places: list[Placement],
        records: Sequence[Record] | None = None,
    ) -> None:
        self.folder: Path = folder
        self.n_pixels = frame.n_pixels
        self.dtype: _codec.Dtype = dtype
        self._frame, self._keys, self._places, self._records = frame, keys, places, records
        self._length = record_bytes(frame.n_pixels, dtype)
        self._files: dict[int, int] = {}
        self._opening = threading.Lock()

    def on_disk(self, rows: Sequence[int] | npt.NDArray[np.integer]) -> "StoredRows":
        """See `FingerprintStore.on_disk`."""
        keys, places = [self._keys[row] for row in rows], [self._places[row] for row in rows]
        return StoredRows(self.folder.absolute(), self._frame, self.dtype, keys, places)

    def __reduce__(self) -> tuple[Any, ...]:
        columns = [
            np.array([getattr(place, name) for place in self._places], dtype)
            for name, dtype in _COLUMNS.items()
        ]
        return _received, (str(self.folder), self._frame, self.dtype, self._keys, columns)

    @property
    def frame(self) -> Frame:
        """See `FingerprintStore.frame`."""
        return self._frame

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the rows, sorted."""
        return self._keys

    @property
    def hashes(self) -> Sequence[str]:
        """SHA-256 of what rows were made from; empty if they were sent."""
        return [record.sha256 for record in self.records()]

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels + self._length

    def records(self) -> list[Record]:
        """A record of each row; of rows that were sent, with nothing but its key."""
        if self._records is not None:
            return list(self._records)
        return [Record(key, frame=self._frame) for key in self._keys]

    def verify(self, rows: Iterable[int] | None = None) -> list[str]:
        """Keys of the rows whose bytes are not those that were written."""
        raw = np.empty(self._length, dtype=np.uint8)
        chosen = range(len(self)) if rows is None else rows
        return [self._keys[row] for row in chosen if not self._sound(row, raw)]

    def close(self) -> None:
        """Let go of files."""
        for fd in self._files.values():
            os.close(fd)
        self._files.clear()

    def _file(self, shard: int) -> int:
        with self._opening:
            if shard not in self._files:
                path = shard_path(self.folder, self._frame, shard, self.dtype)
                try:
                    self._files[shard] = open_own(path)
                except OSError as error:
                    raise self._unreadable(shard, error) from None
            return self._files[shard]

    def _unreadable(self, shard: int, error: OSError) -> SamecamError:
        return read_error(shard_path(self.folder, self._frame, shard, self.dtype), error)

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
        raw = np.empty(self._length, dtype=np.uint8)
        for target, row in enumerate(rows):
            if not self._sound(int(row), raw):
                raise self._damaged(int(row))
            self._decode(raw, self._places[row].scale, out[target])

    def _decode(self, raw: npt.NDArray[np.uint8], scale: float, out: Floats) -> None:
        """Bytes of a row, or of a part of it, as float32."""
        values = raw.view(self.kind)
        if self.is_bits:
            self._unpack(values[np.newaxis], scale, out[np.newaxis])
        else:
            _codec.decode(values, scale, out)

    def _unpack(self, words: Words, scale: float, out: Floats) -> None:
        pairs = None if self.planes == 1 else np.array([scale], dtype=np.float32)
        unpack(words, self.n_pixels, out, scales=pairs)

    @property
    def kind(self) -> np.dtype[Any]:
        """Number type that `read_stored` gives."""
        return _codec.kind(self.dtype)

    @property
    def planes(self) -> int:
        """Bits a pixel of rows of bits."""
        return max(1, _codec.planes(self.dtype))

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

        While one part is used, a thread reads the next. Of rows of bits, parts are whole words.
        """
        if not self.is_bits:
            return self._parts(width, rows, _Part(self._read_numbers, np.float32))
        many = 64 // self.planes  # pixels for each word
        words = self.n_words if width >= self.n_pixels else self.whole_words(width // many)
        parts = self._parts(words, rows, _Part(self._read_bits, np.float32, many))
        return ((many * start, part) for start, part in parts)

    def words(
        self, width: int, rows: npt.NDArray[np.intp] | None = None
    ) -> Iterator[tuple[int, Words]]:
        """See `FingerprintStore.words`; checked and read ahead as columns are."""
        if not self.is_bits:
            return super().words(width, rows)
        return self._parts(self.whole_words(width), rows, _Part(self._read_words, np.uint64))

    def _parts(
        self, width: int, rows: npt.NDArray[np.intp] | None, part: "_Part"
    ) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """(first, part) of all items of a row, `width` at a time, one read ahead."""
        chosen = [int(row) for row in (range(len(self)) if rows is None else rows)]
        sums = [0] * len(chosen)
        every = _codec.items(self.n_pixels, self.dtype)
        width = min(width, every)
        starts = range(0, every, width)
        # Taken here, not by the reader: a thread's memory does not go back when it is free.
        size = len(chosen) * width * part.values
        buffers = [np.empty(size, dtype=part.kind) for _ in range(2)]

        def read(k: int) -> npt.NDArray[Any]:
            count = min(width, every - starts[k])
            values = count
            if part.values > 1:
                values = min(count * part.values, self.n_pixels - starts[k] * part.values)
            out = buffers[k % 2][: len(chosen) * values].reshape(len(chosen), values)
            part.read(chosen, starts[k], count, out, sums)
            return out

        with ThreadPoolExecutor(1) as reader:
            following = reader.submit(read, 0)
            for k, start in enumerate(starts):
                ready = following.result()
                if k + 1 < len(starts):
                    following = reader.submit(read, k + 1)
                else:
                    for row, crc in zip(chosen, sums, strict=True):
                        if crc != self._places[row].crc:
                            raise self._damaged(row)
                yield start, ready

    def _read_numbers(
        self, rows: list[int], start: int, count: int, out: Floats, sums: list[int]
    ) -> None:
        raw = np.empty(count * self.kind.itemsize, dtype=np.uint8)
        for target, row in enumerate(rows):
            self._read_checked(row, start, raw, target, sums)
            _codec.decode(raw.view(self.kind), self._places[row].scale, out[target])

    def _read_words(
        self, rows: list[int], start: int, count: int, out: Words, sums: list[int]
    ) -> None:
        raw = out.view(np.uint8)
        for target, row in enumerate(rows):
            self._read_checked(row, start, raw[target, : 8 * count], target, sums)

    def _read_bits(
        self, rows: list[int], start: int, count: int, out: Floats, sums: list[int]
    ) -> None:
        words = np.empty((1, count), dtype=np.uint64)
        for target, row in enumerate(rows):
            self._read_checked(row, start, words.view(np.uint8)[0], target, sums)
            self._unpack(words, self._places[row].scale, out[target : target + 1])

    def _read_checked(
        self, row: int, start: int, raw: npt.NDArray[np.uint8], target: int, sums: list[int]
    ) -> None:
        """Bytes of a row from item `start` on, and its checksum so far."""
        if not self._fetch(self._places[row], start * self.kind.itemsize, raw):
            raise self._damaged(row)
        sums[target] = zlib.crc32(raw.data, sums[target])


_COLUMNS = {"shard": np.int32, "row": np.int64, "crc": np.uint32, "scale": np.float64}


def _received(
    folder: str,
    frame: Frame,
    dtype: _codec.Dtype,
    keys: list[str],
    columns: Sequence[npt.NDArray[Any]],
) -> StoredRows:
    """Rows as they come out of a message."""
    values = zip(*(c.tolist() for c in columns), strict=True)
    return StoredRows(
        Path(folder), frame, dtype, keys, [Placement(frame, *each) for each in values]
    )
