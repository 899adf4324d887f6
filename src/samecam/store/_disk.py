"""The store on disk: shards of records, a catalogue, and a description."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt

from samecam._version import __version__
from samecam.errors import ParameterValueError, SamecamError
from samecam.files import read_versioned, write_atomically
from samecam.store import _codec
from samecam.store._base import Record
from samecam.store._catalogue import Catalogue, Entry
from samecam.store._rows import StoredRows
from samecam.store._shard import Placement, ShardWriter, drop_orphans, full_error, shard_path

FORMAT = "samecam-fingerprints"
VERSION = 1


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
        self._catalogue = Catalogue(folder / "catalogue.sqlite", writable=writable)
        self._writer = ShardWriter(folder, self.n_pixels, self.dtype)
        self._added: list[Entry] = []
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
            description = read_versioned(target / "store.json", VERSION, "store")
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
