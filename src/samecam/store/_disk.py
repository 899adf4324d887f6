"""The store on disk: shards of records, a catalogue, and a description."""

import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from samecam._version import __version__
from samecam.errors import SamecamError
from samecam.store import _codec
from samecam.store._base import FingerprintStore, Floats, Record
from samecam.store._catalogue import Catalogue, Entry
from samecam.store._shard import (
    Placement,
    ShardWriter,
    drop_orphans,
    full_error,
    record_bytes,
    shard_path,
)

FORMAT = "samecam-fingerprints"
VERSION = 1


class DiskStore(FingerprintStore):
    """Fingerprints in a folder, made by `create` and opened by `open`.

    Attributes
    ----------
    n_pixels : length of a row
    dtype : number type on disk
    extractor : what the rows were made with
    """

    def __init__(self, folder: Path, description: Mapping[str, Any], *, writable: bool) -> None:
        self.folder = folder
        self.n_pixels: int = description["n_pixels"]
        self.dtype: _codec.Dtype = description["dtype"]
        self.extractor: dict[str, Any] = description["extractor"]
        self._length = record_bytes(self.n_pixels, self.dtype)
        self._catalogue = Catalogue(folder / "catalogue.sqlite", writable=writable)
        self._files: dict[int, int] = {}
        self._writer = ShardWriter(folder, self.n_pixels, self.dtype)
        self._added: list[Entry] = []
        self._keys: list[str] = []
        self._places: list[Placement] = []
        self._stale = True
        self._entries = {entry[0].key: entry for entry in self._catalogue.entries()}
        self._sort()
        if writable:
            self._drop_orphans()

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        *,
        n_pixels: int,
        dtype: _codec.Dtype = "float16",
        extractor: Mapping[str, Any] | None = None,
    ) -> "DiskStore":
        """Begin a store in a folder that holds none, and open it for writing."""
        _codec.check_dtype(dtype)
        if n_pixels < 1:
            raise ValueError(f"n_pixels is {n_pixels}; rows have at least one number")
        target = Path(folder)
        if (target / "store.json").exists():
            raise SamecamError(
                f"{str(target)!r} holds a store already: open it, or choose another."
            )
        description = {
            "format": FORMAT,
            "version": VERSION,
            "samecam": __version__,
            "n_pixels": n_pixels,
            "dtype": dtype,
            "byte_order": "little",
            "normalisation": "zero mean, unit norm",
            "extractor": dict(extractor or {}),
        }
        (target / "shards").mkdir(parents=True, exist_ok=True)
        write_atomically(target / "store.json", json.dumps(description, indent=2) + "\n")
        return cls(target, description, writable=True)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], mode: Literal["r", "a"] = "r") -> "DiskStore":
        """Open an existing store for reading, or ("a") for adding."""
        target = Path(folder)
        try:
            description = json.loads((target / "store.json").read_text(encoding="utf-8"))
            version = int(description["version"])
        except FileNotFoundError:
            raise SamecamError(f"{str(target)!r} holds no fingerprints.") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SamecamError(
                f"{str(target / 'store.json')!r} cannot be read ({error}): restore it from a copy."
            ) from None
        if version > VERSION:
            raise SamecamError(
                f"{str(target)!r} was written by a newer samecam (store format {version}, this "
                f"one reads up to {VERSION}): update samecam."
            )
        return cls(target, description, writable=mode == "a")

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the rows, sorted."""
        self._sort()
        return self._keys

    @property
    def hashes(self) -> Sequence[str]:
        """SHA-256 of the rows, in the same order."""
        self._sort()
        return [self._entries[key][0].sha256 for key in self._keys]

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels + self._length

    def records(self) -> list[Record]:
        """Every committed record, sorted by key."""
        return [self._entries[key][0] for key in sorted(self._entries)]

    def add(
        self,
        key: str,
        vector: npt.ArrayLike | None,
        *,
        sha256: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Put a record, replacing that key's; it counts after `commit`."""
        place = None if vector is None else self._writer.append(vector)
        self._added.append((Record(key, sha256, dict(meta or {}), place is not None), place))

    def add_placed(self, record: Record, place: Placement | None) -> None:
        """Put a record whose row another process has written."""
        self._added.append((record, place))

    def discard(self, keys: Iterable[str]) -> None:
        """Forget records at once; rows they had are left over and never read again."""
        gone = [key for key in keys if key in self._entries]
        self._catalogue.discard(gone)
        for key in gone:
            del self._entries[key]
        self._stale = True

    def commit(self) -> None:
        """Make everything added count: rows reach the disk before the catalogue names them."""
        if not self._added:
            return
        try:
            for shard in {place.shard for _, place in self._added if place is not None}:
                os.fsync(self._file(shard))
        except OSError:
            raise full_error(self.folder) from None
        self._catalogue.put(self._added)
        self._entries.update((entry[0].key, entry) for entry in self._added)
        self._added.clear()
        self._stale = True

    def verify(self, rows: Iterable[int] | None = None) -> list[str]:
        """Keys of the rows whose bytes are not those that were written."""
        self._sort()
        raw = np.empty(self._length, dtype=np.uint8)
        chosen = range(len(self)) if rows is None else rows
        return [self._keys[row] for row in chosen if not self._sound(row, raw)]

    def close(self) -> None:
        """Let go of files; uncommitted records are dropped."""
        self._writer.close()
        for fd in self._files.values():
            os.close(fd)
        self._files.clear()
        self._catalogue.close()

    def _sort(self) -> None:
        """Bring keys and places up to date after a commit."""
        if self._stale:
            rows = ((key, place) for key, (_, place) in self._entries.items() if place is not None)
            ordered = sorted(rows, key=lambda row: row[0])
            self._keys = [key for key, _ in ordered]
            self._places = [place for _, place in ordered]
            self._stale = False

    def _drop_orphans(self) -> None:
        """Cut shards to what counts; one that holds less has lost rows."""
        used: dict[Path, int] = {}
        for place in self._places:
            path = shard_path(self.folder, place.shard, self.dtype)
            used[path] = max(used.get(path, 0), (place.row + 1) * self._length)
        for path, length in used.items():
            if not path.exists() or path.stat().st_size < length:
                raise SamecamError(
                    f"The shard {str(path)!r} is gone or cut short: restore it from a copy, or "
                    "begin a new case."
                )
        for path in (self.folder / "shards").iterdir():
            drop_orphans(path, used.get(path, 0))

    def _file(self, shard: int) -> int:
        if shard not in self._files:
            path = shard_path(self.folder, shard, self.dtype)
            try:
                self._files[shard] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                raise SamecamError(
                    f"The shard {str(path)!r} cannot be opened ({error.strerror}): restore it "
                    "from a copy, or begin a new case."
                ) from None
        return self._files[shard]

    def _fetch(self, place: Placement, start: int, raw: npt.NDArray[np.uint8]) -> bool:
        """Read bytes of a row from byte `start` on into `raw`; False if the shard ends before."""
        view, at = raw.data, place.row * self._length + start
        while len(view):
            got = os.preadv(self._file(place.shard), [view], at)
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

    def _read(self, rows: npt.NDArray[np.intp], out: Floats) -> None:
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


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old or the new one whole."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise SamecamError(f"{str(path)!r} cannot be written: {error.strerror}.") from None
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
