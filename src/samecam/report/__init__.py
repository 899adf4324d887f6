"""A case folder to one page that a person reads: self-contained, no network, printable.

Its look, its charts and its small pictures are there for other pages of ours, too.
"""

from samecam.report._about import write_about_template
from samecam.report._cards import camera_name, photo_rows
from samecam.report._correlations import Correlations, correlations
from samecam.report._estimate import with_report
from samecam.report._heatmap import heat_picture
from samecam.report._histogram import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Histogram, histogram
from samecam.report._names import marked, shown
from samecam.report._page import LIMIT
from samecam.report._parts import style
from samecam.report._thumbnails import Thumbnail, ThumbnailTask, thumbnail
from samecam.report._write import write_report
from samecam.report.benchmark import write_benchmark
from samecam.report.export import FORMATS, HASHES, Export, export_case
from samecam.report.matching import check_matches_page, write_matches
from samecam.report.validation import write_validation

# Where a histogram lies in its picture.
CHART = {
    "width": WIDTH,
    "height": HEIGHT,
    "left": LEFT,
    "right": RIGHT,
    "top": TOP,
    "bottom": BOTTOM,
}

__all__ = [
    "CHART",
    "FORMATS",
    "HASHES",
    "LIMIT",
    "Correlations",
    "Export",
    "Histogram",
    "Thumbnail",
    "ThumbnailTask",
    "camera_name",
    "check_matches_page",
    "correlations",
    "export_case",
    "heat_picture",
    "histogram",
    "marked",
    "photo_rows",
    "shown",
    "style",
    "thumbnail",
    "with_report",
    "write_about_template",
    "write_benchmark",
    "write_matches",
    "write_report",
    "write_validation",
]
