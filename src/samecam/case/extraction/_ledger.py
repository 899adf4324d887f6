"""What has been done, which file stands for which bytes, and what is still to do."""

import contextlib
import os
from collections import defaultdict
from collections.abc import Iterable

from samecam.photos import PhotoFile
from samecam.store import Record


class Ledger:
    """Records by path, and for each SHA-256 the one file that stands for it.

    The owner of a hash is a record that is no duplicate and is not about to be done
    again. A duplicate whose owner is gone has to be done again itself; so have files as long as
    one that could not be read and is tried again: it may be the original of them.
    """

    def __init__(self, records: Iterable[Record], files: Iterable[PhotoFile]) -> None:
        self._records = {record.key: record for record in records}
        listed = list(files)
        self._gone = set(self._records) - {item.path for item in listed}
        again = {item.path for item in listed if not self._is_current(item)}
        again |= self._as_long(item for item in listed if item.path in again)
        self.pending = [item for item in listed if item.path in again]
        self._owner: dict[str, str] = {}
        self._by_size: defaultdict[int, set[str]] = defaultdict(set)
        for path in sorted(set(self._records) - again):
            self._own(self._records[path])

    def _is_current(self, item: PhotoFile) -> bool:
        record = self._records.get(item.path)
        return record is not None and is_current(record, item)

    def _as_long(self, pending: Iterable[PhotoFile]) -> set[str]:
        """Paths of the records that are as long as a file which is tried again."""
        sizes = set[int]()
        for item in pending:
            if item.path in self._records and self._records[item.path].meta["passing"]:
                with contextlib.suppress(OSError):
                    sizes.add(os.stat(item.file).st_size)
        return {path for path, r in self._records.items() if r.meta["bytes"] in sizes}

    def possible_duplicates(self, item: PhotoFile) -> frozenset[str]:
        """Hashes of the files that may be the same as this one: those of its length."""
        try:
            size = os.stat(item.file).st_size
        except OSError:
            return frozenset()
        return frozenset(h for h in self._by_size[size] if self._owner.get(h) != item.path)

    def owner(self, sha256: str) -> Record:
        """The record that stands for these bytes."""
        return self._records[self._owner[sha256]]

    def replaces_other_bytes(self, record: Record) -> bool:
        """Whether the case has had other bytes under this path."""
        before = self._records.get(record.key)
        return before is not None and before.sha256 not in ("", record.sha256)

    def book(self, record: Record) -> None:
        """Take in what became of a file."""
        before = self._records.get(record.key)
        if before is not None and self._owner.get(before.sha256) == record.key:
            del self._owner[before.sha256]
        self._records[record.key] = record
        self._own(record)

    def orphans(self, files: Iterable[PhotoFile]) -> list[PhotoFile]:
        """Duplicates, in order, of which nobody stands for the bytes any more."""
        lost = {
            path
            for path, record in self._records.items()
            if record.meta["status"] == "duplicate" and record.sha256 not in self._owner
        }
        return [item for item in files if item.path in lost]

    def never_read(self) -> list[str]:
        """Files that could not be read and are not there any more: nothing to remember."""
        return [path for path in sorted(self._gone) if not self._records[path].sha256]

    def missing(self) -> list[str]:
        """Files that were read and are not there any more."""
        return [path for path in sorted(self._gone) if self._records[path].sha256]

    def _own(self, record: Record) -> None:
        if record.sha256 and record.meta["status"] != "duplicate":
            self._owner.setdefault(record.sha256, record.key)
            if record.meta["bytes"] is not None:
                self._by_size[record.meta["bytes"]].add(record.sha256)


def is_current(record: Record, item: PhotoFile) -> bool:
    """Whether a file is as it was when its record was made, and need not be tried again."""
    if record.meta["passing"]:
        return False
    try:
        status = os.stat(item.file)
    except OSError:
        return bool(record.sha256)  # gone since: what was taken from it stays
    return (status.st_size, status.st_mtime_ns) == (record.meta["bytes"], record.meta["modified"])
