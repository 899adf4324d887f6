"""One call for every question about photos: which camera, this camera, one camera."""

from __future__ import annotations

import os
from typing import Any, TypeAlias, TypeGuard

from samecam.case.extraction import Photos
from samecam.case.folder import CASE
from samecam.case.matching._match import match_photos
from samecam.case.matching._pair_result import PairMatches
from samecam.case.matching._pairs import match_pairs
from samecam.case.matching._reference import ReferenceMatches, match_reference
from samecam.case.matching._result import Matches
from samecam.errors import ParameterError
from samecam.inputs import PathLike

AnyMatches: TypeAlias = Matches | ReferenceMatches | PairMatches


def match(case_or_photos: Photos, photos: Photos | None = None, /, **options: Any) -> AnyMatches:
    """Compare photos with a case, with a camera at hand, or with one another; nothing is written.

    - ``match("CASE", photos)``: which camera of the case took each, see `match_photos`.
    - ``match("folder/", photos)``, ``match([several], photos)``: whether the camera that took the
      first took the others, see `match_reference`.
    - ``match("a.jpg", "b.jpg")``, ``match([up to 20])``: whether one camera took every two, see
      `match_pairs`.

    Parameters
    ----------
    case_or_photos : a case that has been clustered, or its result; else photos
    photos : files, folders, patterns, or ``@list.txt``
    **options : of the one that is meant: rate, search (not of a camera at hand), size (of one),
        resources, progress, stop

    Examples
    --------
    >>> for photo in samecam.match("CASE", "new/").photos:
    ...     print(photo.path, photo.verdict, photo.camera)
    >>> samecam.match("her phone/", "leaked.jpg").to_frame()
    >>> samecam.match("a.jpg", "b.jpg").summary
    """
    if _is_case(case_or_photos):
        if photos is None:
            message = f"{{name}} are missing: what is to be compared with {case_or_photos!r}?"
            raise ParameterError("photos", message)
        return match_photos(os.fspath(case_or_photos), photos, **options)
    if photos is None:
        return match_pairs(case_or_photos, **options)
    if _is_one(case_or_photos) and _is_one(photos):
        return match_pairs([case_or_photos, photos], **options)
    return match_reference(case_or_photos, photos, **options)


def _is_case(given: Photos) -> TypeGuard[PathLike]:
    """Whether a folder of a case is meant."""
    return isinstance(given, str | os.PathLike) and os.path.lexists(os.path.join(given, CASE))


def _is_one(given: Photos) -> TypeGuard[PathLike]:
    """Whether one photo is meant."""
    return isinstance(given, str | os.PathLike) and os.path.isfile(given)
