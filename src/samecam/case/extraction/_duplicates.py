"""Files that are probably byte-identical, told by size and by both ends."""

import hashlib
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator

from samecam.inputs import each_in_time, open_input, read_some
from samecam.photos import PhotoFile

_ENDS = 2**16
# Seconds that both ends of a file may take, and how many files may take longer.
_SECONDS = 10.0
_MOST_LATE = 3
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
        for item, ends in zip(alike, _all_ends(alike), strict=True):
            by_ends[ends].append(item)
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


def _all_ends(files: list[PhotoFile]) -> Iterator[object]:
    """The same for files with the same ends; one that cannot be read is like no other.

    Where several do not answer in time, the rest is not looked at.
    """
    late = 0
    answers = each_in_time(_read_ends, [item.file for item in files], _SECONDS)
    for item in files:
        answer = next(answers) if late < _MOST_LATE else None
        late += isinstance(answer, TimeoutError)
        yield answer if isinstance(answer, bytes) else item


def _read_ends(file: str) -> bytes:
    if not os.stat(file).st_size:
        return b""
    with open_input(file) as stream:
        head = read_some(stream, _ENDS)
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _ENDS))
        return hashlib.sha256(head + read_some(stream, _ENDS)).digest()
