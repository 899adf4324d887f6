"""Single photos against the groups of a case, or against a reference camera."""

from samecam.case.matching._either import match
from samecam.case.matching._match import match_photos
from samecam.case.matching._pair_result import ComparedPhoto, PairMatches, PairView, PhotoPair
from samecam.case.matching._pairs import match_pairs
from samecam.case.matching._reference import (
    Outlier,
    ReferenceFrame,
    ReferenceMatches,
    match_reference,
)
from samecam.case.matching._result import Candidate, Match, Matches, SeenCamera
from samecam.case.matching._sources import Source, TwoSources, two_sources

__all__ = [
    "Candidate",
    "ComparedPhoto",
    "Match",
    "Matches",
    "Outlier",
    "PairMatches",
    "PairView",
    "PhotoPair",
    "ReferenceFrame",
    "ReferenceMatches",
    "SeenCamera",
    "Source",
    "TwoSources",
    "match",
    "match_pairs",
    "match_photos",
    "match_reference",
    "two_sources",
]
