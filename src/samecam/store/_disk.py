"""The store on disk: shards of records, a catalogue, and a description."""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt

from samecam._version import __version__
from samecam.documents import read_versioned
from samecam.errors import SamecamError
from samecam.files import open_own, sweep, write_atomically
from samecam.frames import Frame
from samecam.store import _codec
from samecam.store._base import Record
from samecam.store._catalogue import Catalogue, Entry
from samecam.store._rows import StoredRows
from samecam.store._shard import (
    FrameWriters,
    Placement,
    drop_orphans,
    full_error,
    has_rows,
    record_bytes,
    shard_bytes,
    shard_path,
    shards,
)

FORMAT = "samecam-fingerprints"
VERSION = 2
_NORMALISATION = "unit norm"
_SHAPE = {
    "format": {FORMAT},
    "frame": (str, None),
    "dtype": {"auto", *_codec.DTYPES},
    "byte_order": {"little"},
    "normalisation": {_NORMALISATION},
    "samecam": str,
    "extractor": dict,
}


class DiskStore:
    """Fingerprints in a folder, made by `create` and opened by `open`.

    One catalogue for all; rows of one frame have one length and are read as `rows(frame)`.

    Attributes
    ----------
    folder : where it is
    frame : the only one its rows may have; None: any
    dtype : number type on disk; "auto" goes by the frame
    extractor : what the rows were made with
    """

    def __init__(self, folder: Path, description: Mapping[str, Any], *, writable: bool) -> None:
        self.folder = folder
        name = description["frame"]
        self.frame = None if name is None else Frame.named(name)
        self.dtype: _codec.DtypeChoice = description["dtype"]
        self.extractor: dict[str, Any] = description["extractor"]
        self._catalogue = Catalogue(
            folder / "catalogue.sqlite", writable=writable, new=not has_rows(folder)
        )
        self._writers = FrameWriters(folder, self.dtype)
        self._added: list[Entry] = []
        self._rows: dict[Frame, StoredRows] = {}
        self._frame_entries: dict[Frame, list[Entry]] | None = None
        try:
            self._entries = {entry[0].key: entry for entry in self._catalogue.entries()}
            self._check_frames()
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
        frame: Frame | None = None,
        dtype: _codec.DtypeChoice = "auto",
        extractor: Mapping[str, Any] | None = None,
    ) -> "DiskStore":
        """Begin a store in a folder that holds none, and open it for writing."""
        _codec.check_dtype(dtype)
        target = Path(folder)
        if (target / "store.json").exists():
            raise SamecamError(
                f"{str(target)!r} holds a store already: open it, or choose another."
            )
        description = {
            "format": FORMAT,
            "version": VERSION,
            "samecam": __version__,
            "frame": None if frame is None else frame.name,
            "dtype": dtype,
            "byte_order": "little",
            "normalisation": _NORMALISATION,
            "extractor": dict(extractor or {}),
        }
        (target / "shards").mkdir(parents=True, exist_ok=True)
        # Last what says that there is a store: killed before that, it is begun again.
        Catalogue(target / "catalogue.sqlite", writable=True, new=not has_rows(target)).close()
        write_atomically(target / "store.json", json.dumps(description, indent=2) + "\n")
        return cls(target, description, writable=True)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], mode: Literal["r", "a"] = "r") -> "DiskStore":
        """Open an existing store for reading, or ("a") for adding."""
        target = Path(folder)
        try:
            description = read_versioned(target / "store.json", VERSION, "store", _SHAPE)
            if description["frame"] is not None:
                Frame.named(description["frame"])
        except FileNotFoundError:
            raise SamecamError(f"{str(target)!r} holds no fingerprints.") from None
        except ValueError as error:
            raise SamecamError(
                f"{str(target / 'store.json')!r} cannot be read ({error}): restore it from a copy, "
                "or begin a new case."
            ) from None
        return cls(target, description, writable=mode == "a")

    @property
    def frames(self) -> list[Frame]:
        """Frames that have rows which are not set aside, sorted."""
        entries = self._by_frame().items()
        return sorted(f for f, some in entries if any(not r.is_aside for r, _ in some))

    def rows(self, frame: Frame | None = None) -> StoredRows:
        """Rows of one frame, sorted by key, that are not set aside: what is committed now.

        Parameters
        ----------
        frame : one that its rows may have; None: the only one there is
        """
        if frame is None:
            frames = self.frames if self.frame is None else [self.frame]
            if len(frames) != 1:
                raise ValueError(f"the store has {len(frames)} frames; name one")
            frame = frames[0]
        if frame not in self._rows:
            entries = [e for e in self._by_frame().get(frame, ()) if not e[0].is_aside]
            self._rows[frame] = self._stored(frame, entries)
        return self._rows[frame]

    def all_rows(self, frame: Frame) -> StoredRows:
        """Rows of one frame, those that are set aside too; close them after use."""
        return self._stored(frame, self._by_frame().get(frame, []))

    def _stored(self, frame: Frame, entries: list[Entry]) -> StoredRows:
        entries = sorted(entries, key=lambda entry: entry[0].key)
        records = [record for record, _ in entries]
        return StoredRows(
            self.folder,
            frame,
            self.frame_dtype(frame),
            [record.key for record in records],
            [place for _, place in entries if place is not None],
            records,
        )

    def frame_dtype(self, frame: Frame) -> _codec.Dtype:
        """Number type of the rows of a frame."""
        return _codec.frame_dtype(frame, self.dtype)

    def records(self) -> list[Record]:
        """Every committed record, with and without a row, sorted by key."""
        return [self._entries[key][0] for key in sorted(self._entries)]

    def add(
        self,
        key: str,
        vector: npt.ArrayLike | None,
        *,
        frame: Frame | None = None,
        sha256: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Put a record, replacing that key's; it counts after `commit`.

        `frame` is that of the vector, if the store has not only one.
        """
        place, frame = None, frame or self.frame
        if vector is not None:
            if frame is None or frame != (self.frame or frame):
                raise ValueError(f"frame is {frame}; rows of this store have {self.frame or 'any'}")
            place = self._writers[frame].append(vector)
        self.add_placed(key, place, sha256=sha256, meta=meta)

    def add_placed(
        self,
        key: str,
        place: Placement | None,
        *,
        sha256: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Put a record whose row, if it has one, another process has written."""
        frame = None if place is None else place.frame
        self._added.append((Record(key, sha256, dict(meta or {}), frame), place))

    def revise(self, key: str, meta: Mapping[str, Any]) -> None:
        """Say something else of a record that is there; it counts after `commit`."""
        record, place = self._entries[key]
        self._added.append((replace(record, meta=dict(meta)), place))

    def discard(self, keys: Iterable[str]) -> None:
        """Forget records at once; rows they had are left over and never read again."""
        gone = [key for key in keys if key in self._entries]
        self._catalogue.discard(gone)
        for key in gone:
            del self._entries[key]
        self._forget_rows()

    def commit(self) -> None:
        """Make everything added count: rows reach the disk before the catalogue names them."""
        if not self._added:
            return
        places = [place for _, place in self._added if place is not None]
        try:
            for path in sorted({self._shard(place) for place in places}):
                fd = open_own(path)
                try:
                    os.fsync(fd)
                finally:
                    os.close(fd)
        except OSError:
            raise full_error(self.folder) from None
        self._catalogue.put(self._added)
        self._entries.update((entry[0].key, entry) for entry in self._added)
        self._added.clear()
        self._forget_rows()

    def digest(self) -> str:
        """One hash of all that the catalogue says of the records, but where their rows lie."""
        digest = hashlib.sha256()
        for key in sorted(self._entries):
            record, place = self._entries[key]
            row = None if place is None else [place.frame.name, place.crc, place.scale]
            about = [record.key, record.sha256, row, record.meta]
            digest.update(json.dumps(about, sort_keys=True).encode() + b"\n")
        return digest.hexdigest()

    def verify(self) -> list[str]:
        """Keys of the rows whose bytes are not those that were written, sorted."""
        damaged = []
        for frame in sorted(self._by_frame()):
            rows = self.all_rows(frame)
            damaged += rows.verify()
            rows.close()
        return sorted(damaged)

    def end_writing(self) -> None:
        """Leave shards that hold what counts alone, and a catalogue that other machines can read.

        More can be added all the same.
        """
        self._drop_orphans()
        self._catalogue.fold()

    def __enter__(self) -> "DiskStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files; uncommitted records are dropped."""
        self._writers.close()
        self._forget_rows()
        self._catalogue.close()

    def _by_frame(self) -> dict[Frame, list[Entry]]:
        """Entries with a row; gone through once for all frames, of which there may be thousands."""
        if self._frame_entries is None:
            entries: dict[Frame, list[Entry]] = defaultdict(list)
            for entry in self._entries.values():
                if entry[1] is not None:
                    entries[entry[1].frame].append(entry)
            self._frame_entries = entries
        return self._frame_entries

    def _forget_rows(self) -> None:
        """What was read of frames may no longer be all there is."""
        for rows in self._rows.values():
            rows.close()
        self._rows.clear()
        self._frame_entries = None

    def _shard(self, place: Placement) -> Path:
        return shard_path(self.folder, place.frame, place.shard, self.frame_dtype(place.frame))

    def _used(self) -> dict[Path, int]:
        """Bytes of each shard that count."""
        used: dict[Path, int] = {}
        for _, place in self._entries.values():
            if place is not None:
                path = self._shard(place)
                length = record_bytes(place.frame.n_pixels, self.frame_dtype(place.frame))
                used[path] = max(used.get(path, 0), (place.row + 1) * length)
        return used

    def _check_frames(self) -> None:
        """Refuse rows of another frame than the only one there may be."""
        others = [frame for frame in self._by_frame() if self.frame not in (None, frame)]
        if others:
            raise SamecamError(
                f"The catalogue {str(self.folder / 'catalogue.sqlite')!r} cannot be used (it names "
                f"fingerprints of {min(others)}): restore it from a copy, or begin a new case."
            )

    def _check_shards(self, *, writable: bool) -> None:
        """Refuse shards that hold less than the catalogue says; to be read, one row will do.

        (What is read is checked row by row. That a row fits bounds the memory it takes.)
        """
        largest: dict[Frame, int] = {}
        short: list[Path] = []
        for path, length in sorted(self._used().items()):
            there, frame = shard_bytes(path), Frame.named(path.parent.name)
            largest[frame] = max(there, largest.get(frame, 0))
            if there < length:
                short.append(path)
        for path in short:
            frame = Frame.named(path.parent.name)
            row = record_bytes(frame.n_pixels, self.frame_dtype(frame))
            if writable or largest[frame] < row:
                raise SamecamError(
                    f"The shard {str(path)!r} is gone or cut short: restore it from a copy, or "
                    "begin a new case."
                )

    def _drop_orphans(self) -> None:
        """Cut shards to what counts."""
        used = self._used()
        for path in shards(self.folder):
            drop_orphans(path, used.get(path, 0))
