"""A case folder to one page that a person reads: self-contained, no network, printable."""

from samecam.report._about import write_about_template
from samecam.report._estimate import with_report
from samecam.report._names import shown
from samecam.report._page import LIMIT
from samecam.report._write import write_report
from samecam.report.export import FORMATS, HASHES, Export, export_case
from samecam.report.matching import check_matches_page, write_matches
from samecam.report.validation import write_validation

__all__ = [
    "FORMATS",
    "HASHES",
    "LIMIT",
    "Export",
    "check_matches_page",
    "export_case",
    "shown",
    "with_report",
    "write_about_template",
    "write_matches",
    "write_report",
    "write_validation",
]
