"""`report.html`, written into the case or elsewhere."""

from __future__ import annotations

from pathlib import Path

from samecam import compute
from samecam.case import REPORT, SavedCase, open_case
from samecam.errors import ParameterError
from samecam.files import sweep, write_atomically
from samecam.inputs import PathLike
from samecam.report._correlations import Correlations, correlations
from samecam.report._page import lay_out, render
from samecam.report._target import check_target
from samecam.report._thumbnails import Thumbnail, make_thumbnails

_FEW = 600
_LARGE, _SMALL = 192, 128


def write_report(
    case: PathLike,
    *,
    thumbnails: bool = True,
    blur: bool = False,
    output: PathLike | None = None,
    timeout: float = 20.0,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
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
    output : file to write; by default `report.html` in the case folder
    timeout : seconds one thumbnail may take
    resources : workers for thumbnails, memory for correlations
    progress : called as progress(phase, done, total) from time to time
    """
    if timeout <= 0:
        message = f"{{name}} is {timeout}; give seconds a thumbnail may take, 20 is usual."
        raise ParameterError("timeout", message)
    resources, progress = resources or compute.Resources(), compute.shown_progress(progress)
    content = open_case(case)
    target = content.folder / REPORT if output is None else Path(output)
    check_target(target, content, (REPORT,))
    given = _correlations(content, resources.memory_for("cpu"), progress)
    page = lay_out(content, given)
    pictures: dict[str, Thumbnail] | None = None
    if thumbnails and content.is_of_photos:
        pictures = make_thumbnails(
            [figure.photo for figure in page.figures],
            content.sources().files,
            side=_LARGE if len(page.figures) <= _FEW else _SMALL,
            resources=resources,
            timeout=timeout,
            progress=progress,
        )
    sweep(target.parent)
    write_atomically(target, render(page, pictures, blur=blur))
    return target


def _correlations(content: SavedCase, memory: int, progress: compute.Progress) -> Correlations:
    with content.open_store() as store:
        return correlations(content, store, memory, progress)
