"""`report.html`, written into the case or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samecam import compute
from samecam.case import PDF, REPORT, SavedCase, open_case
from samecam.errors import ParameterError
from samecam.files import sweep, write_atomically
from samecam.inputs import PathLike
from samecam.report._about import read_about
from samecam.report._correlations import Correlations, correlations
from samecam.report._page import lay_out, render
from samecam.report._paper import Paper
from samecam.report._pdf import find_browser, print_page
from samecam.report._target import check_target
from samecam.report._thumbnails import Thumbnail, make_thumbnails

_FEW = 600
_LARGE, _SMALL = 192, 128
# Seconds that printing may take: hundreds of pages take a minute.
_PRINTING = 600.0


def write_report(
    case: PathLike,
    *,
    thumbnails: bool = True,
    blur: bool = False,
    output: PathLike | None = None,
    pdf: PathLike | None = None,
    paper: Paper = "a4",
    about: Mapping[str, Any] | None = None,
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
    pdf : file to print the page to, by a browser of this machine; none by default
    paper : what it is printed on, "a4" or "letter"
    about : entries in place of those of `about.toml` in the case, such as examiner and question
    timeout : seconds one thumbnail may take
    resources : workers for thumbnails, memory for correlations
    progress : called as progress(phase, done, total) from time to time

    Examples
    --------
    >>> samecam.write_report("CASE", blur=True)
    """
    if timeout <= 0:
        message = f"{{name}} is {timeout}; give seconds a thumbnail may take, 20 is usual."
        raise ParameterError("timeout", message)
    resources, progress = resources or compute.Resources(), compute.shown_progress(progress)
    content = open_case(case)
    target = content.folder / REPORT if output is None else Path(output)
    check_target(target, content, (REPORT,))
    browser = ""
    if pdf is not None:
        check_target(Path(pdf), content, (PDF,))
        browser = find_browser()
    said = read_about(content.folder, about)
    given = _correlations(content, resources.memory_for("cpu"), progress)
    page = lay_out(content, given, said)
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
    if pdf is not None:
        sweep(Path(pdf).parent)
        printed = render(page, pictures, blur=blur, paper=paper)
        print_page(browser, printed, Path(pdf), timeout=_PRINTING)
    return target


def _correlations(content: SavedCase, memory: int, progress: compute.Progress) -> Correlations:
    with content.open_store() as store:
        return correlations(content, store, memory, progress)
