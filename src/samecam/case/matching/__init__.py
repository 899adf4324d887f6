"""Single photos against the groups of a case, or against a reference camera."""

from samecam.case.matching._match import Candidate, Match, Matches, match_photos
from samecam.case.matching._reference import Outlier, ReferenceMatches, match_reference

__all__ = [
    "Candidate",
    "Match",
    "Matches",
    "Outlier",
    "ReferenceMatches",
    "match_photos",
    "match_reference",
]
