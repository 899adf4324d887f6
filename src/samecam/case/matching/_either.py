"""One call for both questions: which camera of a case took a photo, or whether this one did."""

from __future__ import annotations

import os
from typing import Any, TypeGuard

from samecam.case.extraction import Photos
from samecam.case.folder import CASE
from samecam.case.matching._match import match_photos
from samecam.case.matching._reference import ReferenceMatches, match_reference
from samecam.case.matching._result import Matches
from samecam.inputs import PathLike


def match(case_or_photos: Photos, photos: Photos, /, **options: Any) -> Matches | ReferenceMatches:
    """Compare photos with the cameras of a case, or with a camera at hand; nothing is written.

    Parameters
    ----------
    case_or_photos : a case that has been clustered, or its result, see `match_photos`; else photos
        by the camera in question, see `match_reference`
    photos : files, folders, patterns, or ``@list.txt``
    **options : of the one that is meant: rate, search (of a case), size (of photos), resources,
        progress, stop

    Examples
    --------
    >>> for photo in samecam.match("CASE", "new/").photos:
    ...     print(photo.path, photo.verdict, photo.camera)
    >>> samecam.match(["by this camera/"], ["did it take this.jpg"]).to_frame()
    """
    if _is_case(case_or_photos):
        return match_photos(os.fspath(case_or_photos), photos, **options)
    return match_reference(case_or_photos, photos, **options)


def _is_case(given: Photos) -> TypeGuard[PathLike]:
    """Whether a folder of a case is meant."""
    return isinstance(given, str | os.PathLike) and os.path.lexists(os.path.join(given, CASE))
