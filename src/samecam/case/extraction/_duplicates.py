"""Files that are probably byte-identical, told by size and by both ends."""

import hashlib
import os
import stat
from collections import defaultdict
from collections.abc import Iterable

from samecam.photos import PhotoFile

_ENDS = 2**16


def likely_twins(found: Iterable[PhotoFile]) -> list[list[PhotoFile]]:
    """Groups of files to be taken one after another, each in the given order.

    Files of one group have the same length and the same first and last 64 kB, so
    nearly always the same bytes; files of different groups never do. Only SHA-256 of
    all bytes decides: a group merely saves the work on the later twins.
    """
    by_size: defaultdict[object, list[PhotoFile]] = defaultdict(list)
    for item in found:
        by_size[_size(item)].append(item)
    groups: list[list[PhotoFile]] = []
    for alike in by_size.values():
        if len(alike) == 1:
            groups.append(alike)
            continue
        by_ends: defaultdict[object, list[PhotoFile]] = defaultdict(list)
        for item in alike:
            by_ends[_ends(item)].append(item)
        groups += by_ends.values()
    return groups


def _size(item: PhotoFile) -> object:
    """Length of a regular file; anything else is like nothing but itself."""
    try:
        status = os.stat(item.file)
    except OSError:
        return item
    return status.st_size if stat.S_ISREG(status.st_mode) else item


def _ends(item: PhotoFile) -> object:
    try:
        with open(item.file, "rb") as stream:
            head = stream.read(_ENDS)
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _ENDS))
            return hashlib.sha256(head + stream.read(_ENDS)).digest()
    except OSError:
        return item
