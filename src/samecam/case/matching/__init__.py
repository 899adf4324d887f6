"""Single photos against the groups of a case, or against a reference camera."""

from samecam.case.matching._either import match
from samecam.case.matching._match import match_photos
from samecam.case.matching._reference import (
    Outlier,
    ReferenceFrame,
    ReferenceMatches,
    match_reference,
)
from samecam.case.matching._result import Candidate, Match, Matches, SeenCamera

__all__ = [
    "Candidate",
    "Match",
    "Matches",
    "Outlier",
    "ReferenceFrame",
    "ReferenceMatches",
    "SeenCamera",
    "match",
    "match_photos",
    "match_reference",
]
