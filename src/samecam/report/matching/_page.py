"""A page of a match: one template and the style of the report, without a script."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from samecam import compute
from samecam.case import Matches, PairMatches, ReferenceMatches, SavedCase, open_case
from samecam.errors import SamecamError
from samecam.files import check_writable, sweep, write_atomically
from samecam.inputs import PathLike
from samecam.photos import would_find
from samecam.report._parts import fill_template, part
from samecam.report._target import check_target
from samecam.report._thumbnails import Thumbnail, make_thumbnails
from samecam.report.matching import _chart
from samecam.report.matching._case import case_content
from samecam.report.matching._content import Content
from samecam.report.matching._pairs import pairs_content
from samecam.report.matching._reference import reference_content

_SIDE = 192
_SECONDS = 20.0


def write_matches(
    result: Matches | ReferenceMatches | PairMatches,
    output: PathLike,
    *,
    resources: compute.Resources | None = None,
    progress: compute.Progress | None = None,
) -> Path:
    """Write the page of a match and say where it is.

    The page depends on the result, the case and the photos alone: the same give the same page.
    Thumbnails are made in other processes: in a script, call this under
    ``if __name__ == "__main__":``.

    Parameters
    ----------
    result : from `match_photos`, `match_reference` or `match_pairs`
    output : file to write
    resources : workers for thumbnails
    progress : called as progress(phase, done, total) from time to time

    Examples
    --------
    >>> found = samecam.match("CASE", ["new/"])
    >>> samecam.write_matches(found, "match.html")
    """
    if result.interrupted:
        raise SamecamError("The match was interrupted: begin it again before a page is written.")
    target, content = Path(output), _content(result)
    matches = result.matches if isinstance(result, ReferenceMatches) else result
    case = matches.case if isinstance(matches, Matches) else None
    own = result.files.values() if isinstance(result, ReferenceMatches) else ()
    check_matches_page(target, [*matches.files.values(), *own], case)
    resources = resources or compute.Resources()
    pictures = content.pictures
    made = make_thumbnails(
        pictures,
        {each.key: each.file for each in pictures if each.file is not None},
        side=_SIDE,
        resources=resources,
        timeout=_SECONDS,
        progress=compute.shown_progress(progress),
    )
    sweep(target.parent)
    write_atomically(target, render(content, made))
    return target


def check_matches_page(target: Path, photos: Sequence[PathLike], case: PathLike | None) -> None:
    """Refuse, before the work, a page over a photo, among photos or inside of a case.

    Parameters
    ----------
    target : file to write
    photos : files, folders, patterns or lists that are compared
    case : the case folder they are compared with; None if there is none
    """
    if case is not None:
        check_target(target, SavedCase(case), ())
    if os.path.isdir(target):
        raise SamecamError(f"{str(target)!r} is a folder: name a file.")
    real = os.path.realpath(target)
    among = would_find(photos, os.path.dirname(real))
    if among is None and real in {os.path.realpath(photo) for photo in photos}:
        among = str(target)
    if among is not None:
        raise SamecamError(
            f"{str(target)!r} would be among the photos ({str(among)!r}): name a file elsewhere."
        )
    check_writable(target, "name a file elsewhere with -o")


def _content(result: Matches | ReferenceMatches | PairMatches) -> Content:
    if isinstance(result, PairMatches):
        return pairs_content(result)
    if isinstance(result, ReferenceMatches):
        return reference_content(result)
    if result.case is None:
        raise SamecamError("These matches name no case: give what match_photos has returned.")
    return case_content(result, open_case(result.case))


def render(content: Content, thumbnails: Mapping[str, Thumbnail]) -> str:
    """The page as HTML."""
    for picture in content.pictures:
        picture.thumbnail = thumbnails.get(picture.key, Thumbnail(reason="not found"))
    return fill_template(
        "matching/page.html",
        part("page.css") + part("matching/page.css"),
        filters={},
        content=content,
        chart={
            "width": _chart.WIDTH,
            "height": _chart.HEIGHT,
            "left": _chart.LEFT,
            "right": _chart.RIGHT,
            "top": _chart.TOP,
            "bottom": _chart.BOTTOM,
        },
    )
