"""The audit log: what was done, when, to which file, with which result."""

import datetime
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samecam.case.folder._names import CASE, DESCRIPTION
from samecam.documents import parse
from samecam.errors import SamecamError
from samecam.files import open_own

# No line of ours is this long.
_LONGEST = 2**26
_STEP = 2**16


class AuditLog:
    """Append-only lines of JSON, each carrying the SHA-256 of the line before.

    Lines are held back until `flush`, so that the log never runs ahead of what counts.
    A line that a crash left unfinished was never acknowledged and is cut off.

    Attributes
    ----------
    head : SHA-256 of the last line; who notes it elsewhere can tell later that no line up to
        it was changed
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._fd = open_own(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise self._trouble(error) from None
        self._waiting: list[bytes] = []
        self.head, end = _last_line(self._fd)
        os.ftruncate(self._fd, end)

    def add(self, event: str, **fields: Any) -> str:
        """Add a line; `time` (UTC), which is returned, and `previous` come by themselves."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        line = {"time": now, "event": event, **fields, "previous": self.head}
        data = json.dumps(line, ensure_ascii=True).encode("ascii")
        self.head = hashlib.sha256(data).hexdigest()
        self._waiting.append(data + b"\n")
        return now

    def forget(self) -> None:
        """Drop the lines that are not written yet."""
        self._waiting.clear()
        self.head, _ = _last_line(self._fd)

    def flush(self) -> None:
        """Write the waiting lines through to the disk, if there are any."""
        if not self._waiting:
            return
        data = b"".join(self._waiting)
        length = os.fstat(self._fd).st_size
        try:
            while data:
                data = data[os.write(self._fd, data) :]
            os.fsync(self._fd)
        except OSError as error:
            os.ftruncate(self._fd, length)  # all lines or none: they may be written later
            raise self._trouble(error) from None
        self._waiting.clear()

    def close(self) -> None:
        """Flush and let go."""
        try:
            self.flush()
        finally:
            os.close(self._fd)

    def _trouble(self, error: OSError) -> SamecamError:
        return SamecamError(
            f"{str(self._path)!r} cannot be written: {error.strerror}; mend that and give the "
            "same command again."
        )


def log_head(path: Path) -> str:
    """SHA-256 of the last whole line of a log; "" if it has none or cannot be read."""
    try:
        fd = open_own(path)
    except (OSError, SamecamError):
        return ""
    try:
        return _last_line(fd)[0]
    finally:
        os.close(fd)


def _last_line(fd: int) -> tuple[str, int]:
    """SHA-256 of the last whole line, "" if there is none, and where it ends."""
    data, start = b"", os.fstat(fd).st_size
    while start and data.count(b"\n") < 2:
        step = min(_STEP, start)
        start -= step
        data = os.pread(fd, step, start) + data
    end = data.rfind(b"\n") + 1
    if not end:
        return "", start
    line = data[data.rfind(b"\n", 0, end - 1) + 1 : end - 1]
    return hashlib.sha256(line).hexdigest(), start + end


@dataclass(slots=True)
class LogCheck:
    """What a log says, from its first line to its last, or to one that is broken.

    Attributes
    ----------
    lines : whole lines that follow from one another
    broken : number of the first line (from 1) that does not; None if all do
    head : SHA-256 of the last line that does
    files : SHA-256 that the last line about each file gives, by path
    records : hash of the catalogue that the last extraction left; "" if none is stated
    saved : hashes of files of the case when it was last saved, by name; empty if none are stated
    changed : number of the first line that says `case.json` had been changed by somebody; None
    noted : number of the line with the head that was asked for; None if it is none
    """

    lines: int = 0
    broken: int | None = None
    head: str = ""
    files: dict[str, str] = field(default_factory=dict)
    records: str = ""
    saved: dict[str, str] = field(default_factory=dict)
    changed: int | None = None
    noted: int | None = None

    def take(self, entry: dict[str, Any]) -> None:
        """Take in what a line says; `ValueError` and the like if it is none of ours."""
        event = entry["event"]
        if event == "file":
            self.files[entry["path"]] = entry["sha256"]
        elif event == "saved":
            if not set(entry["sha256"]) <= {CASE, DESCRIPTION}:
                raise ValueError("it names other files than we save")
            self.saved = dict(entry["sha256"])
        elif event in ("extracted", "interrupted"):
            self.records = str(entry.get("records", ""))
        elif event == "changed outside" and CASE in entry["files"]:
            self.changed = self.changed or self.lines + 1


def read_log(path: Path, head: str = "") -> LogCheck:
    """Go through a log and check its chain; `OSError` if it cannot be read.

    Parameters
    ----------
    head : SHA-256 of a line to look for
    """
    check = LogCheck()
    try:
        for entry, digest in chained_lines(path):
            check.take(entry)
            check.lines += 1
            check.head = digest
            if check.head == head:
                check.noted = check.lines
    except (ValueError, KeyError, TypeError, AttributeError):
        check.broken = check.lines + 1
    return check


def chained_lines(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Lines of a chained file with their SHA-256, each following from the one before.

    `ValueError` at the first that does not; `OSError` if the file cannot be read.
    """
    head = ""
    for line in _lines(path):
        entry = parse(line)
        if not isinstance(entry, dict) or entry.get("previous") != head:
            raise ValueError("it does not follow from the line before")
        head = hashlib.sha256(line).hexdigest()
        yield entry, head


def check_log(path: Path) -> int | None:
    """Number of the first line (from 1) that does not follow from the one before, or None."""
    return read_log(path).broken


def log_entries(path: Path, event: str) -> Iterator[dict[str, Any]]:
    """Lines of a log about one kind of event; what cannot be read is passed over."""
    wanted = f'"event": "{event}"'.encode()
    try:
        for line in _lines(path):
            if wanted in line:
                entry = parse(line)
                if isinstance(entry, dict):
                    yield entry
    except (OSError, ValueError, SamecamError):
        return


def _lines(path: Path) -> Iterator[bytes]:
    """Whole lines, without their ends; one of absurd length comes cut."""
    with open(open_own(path), "rb") as stream:
        while line := stream.readline(_LONGEST):
            if line.endswith(b"\n"):
                yield line[:-1]
            elif len(line) == _LONGEST:
                yield line
                return
