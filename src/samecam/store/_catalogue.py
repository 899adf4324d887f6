"""The list of what a store holds: one SQLite file, the only judge of what counts."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from samecam.errors import SamecamError
from samecam.store._base import Record
from samecam.store._shard import Placement, full_error

_SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    key BLOB PRIMARY KEY,   -- UTF-8, odd bytes as they are
    sha256 TEXT NOT NULL,
    shard INTEGER, row INTEGER, crc INTEGER, scale REAL,  -- NULL: no fingerprint
    meta TEXT NOT NULL      -- JSON
)
"""
_PUT = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM records WHERE key = ?"

Entry = tuple[Record, Placement | None]


class Catalogue:
    """Records on disk; `put` is atomic and durable."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self._path = path
        mode = "rwc" if writable else "ro"
        try:
            self._db = sqlite3.connect(
                f"file:{_quoted(path)}?mode={mode}", uri=True, isolation_level=None, timeout=30
            )
            if writable:
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.execute(_SCHEMA)
            else:
                self._db.execute("SELECT count(*) FROM records")
        except sqlite3.Error as error:
            raise self._trouble(error) from None
        self._writable = writable

    def put(self, entries: Iterable[Entry]) -> None:
        """Commit records in one transaction."""
        self._write(_PUT, (_values(*entry) for entry in entries))

    def discard(self, keys: Iterable[str]) -> None:
        """Remove records in one transaction."""
        self._write(_REMOVE, ((_bytes(key),) for key in keys))

    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        try:
            # Not before: readers on other machines cannot share the memory this needs.
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(statement, rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise self._trouble(error) from None

    def entries(self) -> list[Entry]:
        """Every record with its place, in no order."""
        try:
            return [_entry(*row) for row in self._db.execute("SELECT * FROM records")]
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    def close(self) -> None:
        """Leave a single file behind, which opens on read-only disks too."""
        if self._writable:
            # On a full disk the log stays next to the file and is read next time.
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    def _trouble(self, error: sqlite3.Error) -> SamecamError:
        code = getattr(error, "sqlite_errorname", "")
        if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            return full_error(self._path.parent)
        return SamecamError(
            f"The catalogue {str(self._path)!r} cannot be used ({error}): "
            "restore it from a copy, or begin a new case."
        )


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(os.fsencode(path.absolute()))


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")


def _values(record: Record, place: Placement | None) -> tuple[Any, ...]:
    where = (None,) * 4 if place is None else (place.shard, place.row, place.crc, place.scale)
    return _bytes(record.key), record.sha256, *where, json.dumps(dict(record.meta), sort_keys=True)


def _entry(
    key: bytes, sha256: str, shard: int | None, row: int, crc: int, scale: float, meta: str
) -> Entry:
    place = None if shard is None else Placement(shard, row, crc, scale)
    text = key.decode("utf-8", "surrogateescape")
    return Record(text, sha256, json.loads(meta), place is not None), place
