"""To which tables a report belongs: it carries a hash of them, and holds for no others."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samecam.case.folder._info import written_hashes
from samecam.case.folder._names import IMAGES, REPORT
from samecam.case.folder._reader import tables_digest
from samecam.files import file_hash

MARK = "samecam-tables"
_MARK = re.compile(rb'<meta name="samecam-tables" content="([0-9a-f]{64})">')
_HEAD = 4096


def report_is_current(folder: Path, info: Mapping[str, Any]) -> bool:
    """Whether the report of a case was made from the tables that stand there now."""
    hashes = {IMAGES: file_hash(folder / IMAGES)}
    hashes |= {name: file_hash(folder / name) for name in written_hashes(info)}
    try:
        with open(folder / REPORT, "rb") as stream:
            mark = _MARK.search(stream.read(_HEAD))
    except OSError:
        return False
    return mark is not None and mark[1].decode() == tables_digest(hashes)
