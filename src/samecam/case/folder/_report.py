"""Two marks in a report: which tables it was made from, and that it is as it was written."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samecam.case.folder._info import written_hashes
from samecam.case.folder._names import ABOUT, CAMERAS, DECISIONS, IMAGES, REPORT
from samecam.errors import SamecamError
from samecam.files import file_hash, open_own

_OPEN = 64 * "0"
_MARKS = re.compile(
    rb'<meta name="samecam-tables" content="([0-9a-f]{64})">\n'
    rb'<meta name="samecam-page" content="([0-9a-f]{64})">'
)
_HEAD, _CHUNK = 4096, 2**20
# What persons say of a case: a report is of these too.
_OF_PERSONS = (ABOUT, CAMERAS, DECISIONS)


def report_marks(digest: str) -> str:
    """The lines that stand in the head of a report, not sealed yet.

    Parameters
    ----------
    digest : of the tables, see `report_digest`
    """
    return (
        f'<meta name="samecam-tables" content="{digest}">\n'
        f'<meta name="samecam-page" content="{_OPEN}">'
    )


def seal_report(page: str) -> str:
    """The page with its own hash in the place that is left open for it."""
    digest = hashlib.sha256(page.encode("utf-8", "surrogateescape")).hexdigest()
    name = '"samecam-page" content='
    return page.replace(f'{name}"{_OPEN}"', f'{name}"{digest}"', 1)


def report_digest(folder: Path, hashes: Mapping[str, str]) -> str:
    """One hash of all that a report is made from.

    Parameters
    ----------
    folder : of the case; what persons say of it there counts too
    hashes : of the tables
    """
    persons = {name: file_hash(folder / name) for name in _OF_PERSONS}
    hashes = {**hashes, **{name: known for name, known in persons.items() if known}}
    text = "".join(f"{name} {hashes[name]}\n" for name in sorted(hashes))
    return hashlib.sha256(text.encode()).hexdigest()


def report_is_current(folder: Path, info: Mapping[str, Any]) -> bool:
    """Whether the report of a case is as it was written, from what stands there now."""
    hashes = {IMAGES: file_hash(folder / IMAGES)}
    hashes |= {name: file_hash(folder / name) for name in written_hashes(info)}
    try:
        with open(open_own(folder / REPORT), "rb") as stream:
            head = stream.read(_HEAD)
            marks = _MARKS.search(head)
            if marks is None or marks[1].decode() != report_digest(folder, hashes):
                return False
            digest = hashlib.sha256(head[: marks.start(2)] + _OPEN.encode() + head[marks.end(2) :])
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    except (OSError, SamecamError):
        return False
    return digest.hexdigest() == marks[2].decode()
