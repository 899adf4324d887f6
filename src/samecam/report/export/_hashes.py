"""Hashes that a case does not keep, of the files it was made from."""

import hashlib
import os
import stat
from collections.abc import Collection, Mapping
from typing import Any

from samecam.case.extraction._prepare import Progress
from samecam.errors import SamecamError
from samecam.photos import scan
from samecam.report.export._content import ExportedFile

PHASE = "Hashing"
_CHUNK = 2**20

Hashes = dict[str, dict[str, str]]


def hash_files(
    info: Mapping[str, Any],
    files: Collection[ExportedFile],
    names: Collection[str],
    progress: Progress,
) -> tuple[Hashes, dict[str, str]]:
    """Hashes by SHA-256, and for files without, by path, the reason.

    Files are looked for where the case's photo arguments find them; a path of the case is
    compared with what is found there and never opened itself. A file counts only if its
    SHA-256 is still the one in the case. Equal files are read once.
    """
    places = _places(info)
    hashes: Hashes = {}
    troubles: dict[str, str] = {}
    for done, file in enumerate(files, start=1):
        if file.sha256 not in hashes:
            found, trouble = _hash(places.get(file.path), file.sha256, names)
            if found:
                hashes[file.sha256] = found
            else:
                troubles[file.path] = trouble
        progress(PHASE, done, len(files))
    by_path = {file.path: file.sha256 for file in files}
    return hashes, {p: why for p, why in troubles.items() if by_path[p] not in hashes}


def _places(info: Mapping[str, Any]) -> dict[str, str]:
    """Files on disk by their path in the case; nothing for arguments that are not there."""
    places: dict[str, str] = {}
    for entry in ({"folder": "", "sources": info["sources"]}, *info.get("added", ())):
        front = f"{entry['folder']}/" if entry["folder"] else ""
        try:
            found = scan(entry["sources"])
        except SamecamError:
            continue
        places.update((front + item.path, item.file) for item in found)
    return places


def _hash(file: str | None, sha256: str, names: Collection[str]) -> tuple[dict[str, str], str]:
    """Hashes of one file by name, or none and why."""
    if file is None:
        return {}, "not found where the case was made from"
    digests = {name: hashlib.new(name, usedforsecurity=False) for name in {*names, "sha256"}}
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb", buffering=0) as stream:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return {}, "not a regular file any more"
            while chunk := stream.read(_CHUNK):
                for digest in digests.values():
                    digest.update(chunk)
    except OSError as error:
        return {}, f"cannot be read: {error.strerror}"
    found = {name: digest.hexdigest() for name, digest in digests.items()}
    return (found, "") if found["sha256"] == sha256 else ({}, "its bytes have changed")
