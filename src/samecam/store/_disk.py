"""The store on disk: shards of records, a catalogue, and a description."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt

from samecam._version import __version__
from samecam.documents import Span, read_versioned
from samecam.errors import ParameterValueError, SamecamError
from samecam.files import sweep, write_atomically
from samecam.store import _codec
from samecam.store._base import Record
from samecam.store._catalogue import Catalogue, Entry
from samecam.store._rows import StoredRows
from samecam.store._shard import (
    Placement,
    ShardWriter,
    drop_orphans,
    full_error,
    has_rows,
    is_shard,
    shard_bytes,
    shard_path,
    write_error,
)

FORMAT = "samecam-fingerprints"
VERSION = 1
_NORMALISATION = "zero mean, unit norm"
_SHAPE = {
    "format": {FORMAT},
    "n_pixels": Span(int, 1, 2**31),
    "dtype": set(_codec.DTYPES),
    "byte_order": {"little"},
    "normalisation": {_NORMALISATION},
    "samecam": str,
    "extractor": dict,
}


class DiskStore(StoredRows):
    """Fingerprints in a folder, made by `create` and opened by `open`.

    Attributes
    ----------
    n_pixels : length of a row
    dtype : number type on disk
    extractor : what the rows were made with
    """

    def __init__(self, folder: Path, description: Mapping[str, Any], *, writable: bool) -> None:
        super().__init__(folder, description["n_pixels"], description["dtype"], [], [])
        self.extractor: dict[str, Any] = description["extractor"]
        self._catalogue = Catalogue(
            folder / "catalogue.sqlite", writable=writable, new=not has_rows(folder)
        )
        self._writer = ShardWriter(folder, self.n_pixels, self.dtype)
        self._added: list[Entry] = []
        self._stale = True
        try:
            self._entries = {entry[0].key: entry for entry in self._catalogue.entries()}
            self._sort()
            self._check_shards(writable=writable)
            if writable:
                sweep(folder)
                self._drop_orphans()
        except BaseException:
            self._catalogue.close()
            raise

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
            raise ParameterValueError(
                "n_pixels", f"{{name}} is {n_pixels}; rows have at least one number"
            )
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
            "normalisation": _NORMALISATION,
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
            description = read_versioned(target / "store.json", VERSION, "store", _SHAPE)
        except FileNotFoundError:
            raise SamecamError(f"{str(target)!r} holds no fingerprints.") from None
        return cls(target, description, writable=mode == "a")

    @property
    def hashes(self) -> Sequence[str]:
        """SHA-256 of the rows, in the same order."""
        self._sort()
        return [self._entries[key][0].sha256 for key in self._keys]

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

    def digest(self) -> str:
        """One hash of all that the catalogue says of the records, but where their rows lie."""
        digest = hashlib.sha256()
        for key in sorted(self._entries):
            record, place = self._entries[key]
            row = None if place is None else [place.crc, place.scale]
            about = [record.key, record.sha256, row, record.meta]
            digest.update(json.dumps(about, sort_keys=True).encode() + b"\n")
        return digest.hexdigest()

    def end_writing(self) -> None:
        """Leave shards that hold what counts alone, and a catalogue that other machines can read.

        More can be added all the same.
        """
        self._sort()
        self._drop_orphans()
        self._catalogue.fold()

    def close(self) -> None:
        """Let go of files; uncommitted records are dropped."""
        self._writer.close()
        super().close()
        self._catalogue.close()

    def _sort(self) -> None:
        """Bring keys and places up to date after a commit."""
        if self._stale:
            rows = ((key, place) for key, (_, place) in self._entries.items() if place is not None)
            ordered = sorted(rows, key=lambda row: row[0])
            self._keys = [key for key, _ in ordered]
            self._places = [place for _, place in ordered]
            self._stale = False

    def _used(self) -> dict[Path, int]:
        """Bytes of each shard that count."""
        used: dict[Path, int] = {}
        for place in self._places:
            path = shard_path(self.folder, place.shard, self.dtype)
            used[path] = max(used.get(path, 0), (place.row + 1) * self._length)
        return used

    def _check_shards(self, *, writable: bool) -> None:
        """Refuse shards that hold less than the catalogue says; to be read, one row will do.

        (What is read is checked row by row. That a row fits bounds the memory it takes.)
        """
        used = self._used()
        there = {path: shard_bytes(path) for path in used}
        short = [path for path, length in used.items() if there[path] < length]
        if short and (writable or max(there.values()) < self._length):
            raise SamecamError(
                f"The shard {str(min(short))!r} is gone or cut short: restore it from a copy, or "
                "begin a new case."
            )

    def _drop_orphans(self) -> None:
        """Cut shards to what counts."""
        used = self._used()
        try:
            paths = sorted((self.folder / "shards").iterdir())
        except OSError as error:
            raise write_error(self.folder, error) from None
        for path in paths:
            if is_shard(path, self.dtype):
                drop_orphans(path, used.get(path, 0))
