"""Where a page or an export may be written."""

import os
from pathlib import Path

from samecam.case import SavedCase
from samecam.errors import SamecamError
from samecam.files import check_writable
from samecam.photos import would_find


def check_target(target: Path, case: SavedCase, names: tuple[str, ...]) -> None:
    """Refuse, before the work, to write over the case's own files or among the photos.

    Parameters
    ----------
    names : what a file that is written into the case may begin with
    """
    real, folder = os.path.realpath(target), os.path.realpath(case.folder)
    inside = os.path.dirname(real) == folder
    if os.path.isdir(target):
        raise SamecamError(f"{str(target)!r} is a folder: name a file.")
    if real.startswith(folder + os.sep) and not (
        inside and os.path.basename(real).startswith(names)
    ):
        raise SamecamError(
            f"{str(target)!r} would be among the case's own files: name a file elsewhere."
        )
    sources = [s for e in (case.info, *case.info.get("added", ())) for s in e["sources"]]
    among = None if inside else would_find(sources, os.path.dirname(real))
    if among is None and real in map(os.path.realpath, sources):
        among = str(target)
    if among is not None:
        raise SamecamError(
            f"{str(target)!r} would be among the photos ({among!r}): name a file elsewhere."
        )
    check_writable(target, "name a file elsewhere with -o")
