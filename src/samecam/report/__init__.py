"""A case folder to one page that a person reads: self-contained, no network, printable."""

from samecam.report._content import CaseContent, GroupRow, PhotoRow, read_content
from samecam.report._names import shown
from samecam.report._page import LIMIT
from samecam.report._write import NAME, write_report

__all__ = [
    "LIMIT",
    "NAME",
    "CaseContent",
    "GroupRow",
    "PhotoRow",
    "read_content",
    "shown",
    "write_report",
]
