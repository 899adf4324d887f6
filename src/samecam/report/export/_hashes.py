"""Hashes that a case does not keep, of the files it was made from."""

from collections.abc import Collection

from samecam import compute
from samecam.case import SavedCase
from samecam.inputs import hash_input
from samecam.report.export._content import ExportedFile

PHASE = "Hashing"

Hashes = dict[str, dict[str, str]]


def hash_files(
    case: SavedCase,
    files: Collection[ExportedFile],
    names: Collection[str],
    progress: compute.Progress,
) -> tuple[Hashes, dict[str, str]]:
    """Hashes by SHA-256, and for files without, by path, the reason.

    Files are looked for where the case's photo arguments find them; a path of the case is
    compared with what is found there and never opened itself. A file counts only if its
    SHA-256 is still the one in the case. Equal files are read once.
    """
    places = case.sources().files
    hashes: Hashes = {}
    troubles: dict[str, str] = {}
    for done, file in enumerate(files, start=1):
        photo = file.photo
        if photo.sha256 not in hashes:
            made, trouble = _hash(places.get(photo.path), photo.sha256, names)
            if made:
                hashes[photo.sha256] = made
            else:
                troubles[photo.path] = trouble
        progress(PHASE, done, len(files))
    by_path = {file.photo.path: file.photo.sha256 for file in files}
    return hashes, {p: why for p, why in troubles.items() if by_path[p] not in hashes}


def _hash(file: str | None, sha256: str, names: Collection[str]) -> tuple[dict[str, str], str]:
    """Hashes of one file by name, or none and why."""
    if file is None:
        return {}, "not found where the case was made from"
    try:
        made = hash_input(file, {*names, "sha256"})
    except OSError as error:
        return {}, f"cannot be read: {error.strerror}"
    return (made, "") if made["sha256"] == sha256 else ({}, "its bytes have changed")
