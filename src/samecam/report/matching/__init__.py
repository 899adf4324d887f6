"""The page of a match: photos in question, their scores over the law of chance, limits."""

from samecam.report.matching._page import check_matches_page, write_matches

__all__ = ["check_matches_page", "write_matches"]
