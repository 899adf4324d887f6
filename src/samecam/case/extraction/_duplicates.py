"""Files that are probably byte-identical, told by size and by both ends."""

import hashlib
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable

from samecam.files import open_input
from samecam.photos import PhotoFile

_ENDS = 2**16
# What programs and people add to the name of a copy.
_COPY = re.compile(
    r"\b(copy|copie|kopie|kopia|copia|cópia|duplicate|backup)\b|\(\d+\)(?=\.[^./]*$)|~$|\bconflict",
    re.IGNORECASE,
)


def likely_duplicates(files: Iterable[PhotoFile]) -> list[list[PhotoFile]]:
    """Files to be taken one after another, the likeliest original first.

    Files of one list have the same length and the same first and last 64 kB, so nearly
    always the same bytes; files of different lists never do. Only SHA-256 of all bytes
    decides: a list merely saves the work on the later ones.
    """
    by_size: defaultdict[object, list[PhotoFile]] = defaultdict(list)
    for item in files:
        by_size[_size(item)].append(item)
    result: list[list[PhotoFile]] = []
    for alike in by_size.values():
        if len(alike) == 1:
            result.append(alike)
            continue
        by_ends: defaultdict[object, list[PhotoFile]] = defaultdict(list)
        for item in alike:
            by_ends[_ends(item)].append(item)
        result += (sorted(same, key=_likely_copy) for same in by_ends.values())
    return result


def _likely_copy(item: PhotoFile) -> tuple[bool, int, int, int, str]:
    """Sorts originals before copies: plain names, short paths, older files."""
    try:
        modified = os.stat(item.file).st_mtime_ns
    except OSError:
        modified = 0
    path = item.path
    marked = _COPY.search(path.replace("_", " ")) is not None
    return marked, path.count("/"), len(path), modified, path


def _size(item: PhotoFile) -> object:
    """Length of a regular file; anything else is like nothing but itself."""
    try:
        status = os.stat(item.file)
    except OSError:
        return item
    return status.st_size if stat.S_ISREG(status.st_mode) else item


def _ends(item: PhotoFile) -> object:
    try:
        with open_input(item.file) as stream:
            head = stream.read(_ENDS) or b""
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _ENDS))
            return hashlib.sha256(head + (stream.read(_ENDS) or b"")).digest()
    except OSError:
        return item
