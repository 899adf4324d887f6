"""A case folder to one page that a person reads: self-contained, no network, printable."""

from samecam.report._correlations import Correlations, correlations
from samecam.report._estimate import with_report
from samecam.report._names import shown
from samecam.report._page import LIMIT
from samecam.report._write import write_report
from samecam.report.export import FORMATS, HASHES, Export, export_case
from samecam.report.validation import write_validation

__all__ = [
    "FORMATS",
    "HASHES",
    "LIMIT",
    "Correlations",
    "Export",
    "correlations",
    "export_case",
    "shown",
    "with_report",
    "write_report",
    "write_validation",
]
