"""`report.html`, written into the case."""

import os
from pathlib import Path

from samecam import compute
from samecam.case import open_store
from samecam.errors import SamecamError
from samecam.files import write_atomically
from samecam.report._content import CaseContent, read_content
from samecam.report._correlations import Correlations, Progress, correlations
from samecam.report._page import lay_out, render
from samecam.report._thumbnails import Thumbnail, find_files, make_thumbnails

NAME = "report.html"
_FEW = 600
_LARGE, _SMALL = 192, 128


def write_report(
    case: str | os.PathLike[str],
    *,
    thumbnails: bool = True,
    blur: bool = False,
    memory: int | None = None,
    workers: int | None = None,
    timeout: float = 20.0,
    progress: Progress | None = None,
) -> Path:
    """Write the report of a clustered case and say where it is.

    The page depends on the case, and on the photos for its thumbnails, alone: the same case
    gives the same page. Photos that are no longer where they were, or have changed, are shown
    without a picture. Thumbnails are made in other processes: in a script, call this under
    ``if __name__ == "__main__":``.

    Parameters
    ----------
    case : a case folder with groups
    thumbnails : whether photos are shown
    blur : whether they are blurred until the reader asks otherwise
    memory : bytes for correlations; default half of what is available
    workers : processes for thumbnails; default one a core
    timeout : seconds one thumbnail may take
    progress : called as progress(phase, done, total) from time to time
    """
    if timeout <= 0:
        raise SamecamError(f"timeout is {timeout}; give seconds a thumbnail may take, 20 is usual.")
    progress = progress or (lambda *_: None)
    content = read_content(case)
    given = _correlations(content, memory or compute.machine().available // 2, progress)
    page = lay_out(content, given)
    pictures: dict[str, Thumbnail] | None = None
    if thumbnails and "fingerprints" not in content.info["extraction"]:
        pictures = make_thumbnails(
            [figure.photo for figure in page.figures],
            find_files(content),
            side=_LARGE if len(page.figures) <= _FEW else _SMALL,
            workers=compute.worker_count(workers),
            timeout=timeout,
            progress=progress,
        )
    target = content.folder / NAME
    write_atomically(target, render(page, pictures, blur=blur))
    return target


def _correlations(content: CaseContent, memory: int, progress: Progress) -> Correlations:
    with open_store(content.folder) as store:
        if list(store.keys) != [photo.path for photo in content.used]:
            raise SamecamError(
                f"The fingerprints of the case {str(content.folder)!r} are not those of its "
                "clusters.csv: run 'samecam cluster' again."
            )
        return correlations(content, store, memory, progress)
