"""The list of what a store holds: one SQLite file, the only judge of what counts.

It is read as if a stranger had written it: one plain table and nothing besides, every value of
its type and range.
"""

import contextlib
import json
import math
import os
import sqlite3
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from samecam.documents import parse
from samecam.errors import SamecamError
from samecam.files import check_single, open_own, read_own, write_atomically
from samecam.frames import Frame
from samecam.store._base import Record
from samecam.store._shard import Placement, full_error

_SCHEMA = """CREATE TABLE records (
    key BLOB PRIMARY KEY,   -- UTF-8, odd bytes as they are
    sha256 TEXT NOT NULL,
    frame TEXT, shard INTEGER, row INTEGER, crc INTEGER, scale REAL,  -- NULL: no fingerprint
    meta TEXT NOT NULL      -- JSON
)"""
# Files that SQLite keeps beside a database, by what it adds to the name.
_BESIDE = ("", "-wal", "-shm", "-journal")
# At the end of a journal that names another file, which SQLite would look for and remove.
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
# A value of a record is never this long; a row of a shard stays below two to this power.
_LONGEST, _ROWS = 2**24, 2**31
_PUT = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM records WHERE key = ?"

Entry = tuple[Record, Placement | None]


class Catalogue:
    """Records on disk; `put` is atomic and durable.

    Parameters
    ----------
    path : the file
    writable : whether records are to be added
    new : whether it may be begun: nothing was written to the store yet
    """

    def __init__(self, path: Path, *, writable: bool, new: bool = False) -> None:
        self._path, self._writable, self._new = path, writable, new and writable
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._check_files()
        try:
            self._db = self._opened(path, "rwc" if self._new else "rw" if writable else "ro")
        except sqlite3.Error as error:
            if writable or not self._was_left(error):
                raise self._trouble(error) from None
            self._db = self._opened_copy()

    def _opened_copy(self) -> sqlite3.Connection:
        """A copy, in which what a killed run left may be put right; the file stays as it is."""
        self._copy = tempfile.TemporaryDirectory(prefix="samecam-")
        try:
            for ending in _BESIDE:
                with contextlib.suppress(FileNotFoundError):
                    source = self._path.with_name(self._path.name + ending)
                    write_atomically(Path(self._copy.name) / source.name, read_own(source))
            return self._opened(Path(self._copy.name) / self._path.name, "rw")
        except BaseException as error:
            self._copy.cleanup()
            if isinstance(error, sqlite3.Error):
                raise self._trouble(error) from None
            if isinstance(error, OSError):
                raise self._odd(error.strerror) from None
            raise

    def _opened(self, path: Path, mode: str) -> sqlite3.Connection:
        """The database, in which a stranger's file is harmless, if it holds what it should."""
        database = sqlite3.connect(
            f"file:{_quoted(path)}?mode={mode}", uri=True, isolation_level=None, timeout=30
        )
        try:
            self._prepare(database)
        except BaseException:
            database.close()
            raise
        return database

    def _prepare(self, database: sqlite3.Connection) -> None:
        """Set what keeps a stranger's file harmless, and look what it holds."""
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cell_size_check = ON")
        schema = database.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
        if self._writable:
            database.execute("PRAGMA synchronous = FULL")
            if not schema and self._new:
                database.execute(_SCHEMA)
        kept = [entry for entry in schema if entry != ("index", "sqlite_autoindex_records_1", None)]
        if kept != [("table", "records", _SCHEMA)] and (schema or not self._new):
            raise self._odd("it holds something else than its one table")

    def _check_files(self) -> None:
        """Refuse links and the like where SQLite would open files by itself."""
        for ending in _BESIDE:
            beside = self._path.with_name(self._path.name + ending)
            check_single(beside, once=self._writable)
            if ending == "-journal" and self._end_of(beside) == _NAMES_ANOTHER:
                raise self._odd("its journal names another file")

    def _end_of(self, journal: Path) -> bytes:
        """The last bytes of the journal, if there is one.

        (The other files are not opened here: to close one is to drop the locks on it.)
        """
        try:
            fd = open_own(journal)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise self._odd(error.strerror) from None
        try:
            length = len(_NAMES_ANOTHER)
            return os.pread(fd, length, max(os.fstat(fd).st_size - length, 0))
        finally:
            os.close(fd)

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
        except ValueError as error:
            raise self._odd(error) from None

    def close(self) -> None:
        """Leave a single file behind, which opens on read-only disks too."""
        if self._writable:
            self.fold()
        self._db.close()
        if self._copy is not None:
            self._copy.cleanup()

    def fold(self) -> None:
        """Bring everything into the single file."""
        # On a full disk the log stays beside the file and is read next time.
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("PRAGMA journal_mode = DELETE")

    def _trouble(self, error: sqlite3.Error) -> SamecamError:
        code = getattr(error, "sqlite_errorname", "")
        if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")) and self._writable:
            return full_error(self._path.parent)
        if self._was_left(error):
            return SamecamError(
                f"{str(self._path)!r} was left in the midst of a run, and what belongs to it "
                f"cannot be read here ({error}): give the case's last command again, or copy the "
                "case to a disk that can be written and do it there."
            )
        return self._odd(error)

    def _was_left(self, error: sqlite3.Error) -> bool:
        """Whether what a killed run left beside the file is why it cannot be read."""
        left = any(self._path.with_name(self._path.name + end).exists() for end in _BESIDE[1:])
        code: str = getattr(error, "sqlite_errorname", "")
        return left and code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN"))

    def _odd(self, why: object) -> SamecamError:
        return SamecamError(
            f"The catalogue {str(self._path)!r} cannot be used ({why}): "
            "restore it from a copy, or begin a new case."
        )


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(os.fsencode(path.absolute()))


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")


def _values(record: Record, place: Placement | None) -> tuple[Any, ...]:
    where: tuple[Any, ...] = (None,) * 5
    if place is not None:
        where = (place.frame.name, place.shard, place.row, place.crc, place.scale)
    return _bytes(record.key), record.sha256, *where, json.dumps(dict(record.meta), sort_keys=True)


def _entry(key: Any, sha256: Any, *rest: Any) -> Entry:
    """A record and its place; `ValueError` for values that none of ours has."""
    if not isinstance(key, bytes):
        raise ValueError(f"the key {str(key)[:80]!r} is no path")
    text = key.decode("utf-8", "surrogateescape")
    if not isinstance(sha256, str) or len(sha256) > 64 or not sha256.isascii():
        raise ValueError(f"the SHA-256 of {text!r} is none")
    *where, meta = rest
    try:
        values = parse(meta) if isinstance(meta, str) else None
    except ValueError as error:
        raise ValueError(f"what it says of {text!r} is no JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"what it says of {text!r} is no object")
    if where == [None] * len(where):
        return Record(text, sha256, values), None
    place = _place(*where)
    if place is None:
        raise ValueError(f"the place of the fingerprint of {text!r} is none")
    return Record(text, sha256, values, place.frame), place


def _place(frame: Any, shard: Any, row: Any, crc: Any, scale: Any) -> Placement | None:
    """Where a row lies; None for values that none of ours has."""
    sound = (
        isinstance(frame, str)
        and _whole(shard, 10**5)
        and _whole(row, _ROWS)
        and _whole(crc, 2**32)
        and isinstance(scale, float)
        and math.isfinite(scale)
    )
    try:
        return Placement(Frame.named(frame), shard, row, crc, scale) if sound else None
    except ValueError:
        return None


def _whole(value: Any, end: int) -> bool:
    return isinstance(value, int) and 0 <= value < end
