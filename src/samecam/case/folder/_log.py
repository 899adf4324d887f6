"""The audit log: what was done, when, to which file, with which result."""

import datetime
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from samecam.errors import SamecamError


class AuditLog:
    """Append-only lines of JSON, each carrying the SHA-256 of the line before.

    Lines are held back until `flush`, so that the log never runs ahead of what counts.
    A line that a crash left unfinished was never acknowledged and is cut off.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise self._trouble(error) from None
        self._waiting: list[bytes] = []
        self._previous = self._last_hash()

    def add(self, event: str, **fields: Any) -> None:
        """Add a line; `time` (UTC) and `previous` come by themselves."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        line = {"time": now, "event": event, **fields, "previous": self._previous}
        data = json.dumps(line, ensure_ascii=True).encode("ascii")
        self._previous = hashlib.sha256(data).hexdigest()
        self._waiting.append(data + b"\n")

    def flush(self) -> None:
        """Write the waiting lines through to the disk."""
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

    def _last_hash(self) -> str:
        data = self._path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end < len(data):
            os.ftruncate(self._fd, end)
        if not end:
            return ""
        return hashlib.sha256(data[data.rfind(b"\n", 0, end - 1) + 1 : end - 1]).hexdigest()


def check_log(path: Path) -> int | None:
    """Number of the first line (from 1) that does not follow from the one before, or None."""
    previous = ""
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        try:
            if json.loads(line)["previous"] != previous:
                return number
        except (ValueError, KeyError, TypeError):
            return number
        previous = hashlib.sha256(line).hexdigest()
    return None
