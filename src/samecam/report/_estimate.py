"""What a report will cost: a start, and a thumbnail for each photo that is shown."""

from samecam.case import Estimate
from samecam.report._page import LIMIT

# Seconds of one core: until workers are ready, and for a thumbnail, by the length of its file.
_START = 2.5
_THUMBNAIL = 8e-3
_THUMBNAIL_PER_MB = 12e-3
_PAGE = 1.0


def with_report(plan: Estimate) -> Estimate:
    """A plan with the time of the report."""
    if not plan.files:
        return plan
    shown = min(plan.photos, LIMIT)
    each = _THUMBNAIL + _THUMBNAIL_PER_MB * plan.input_bytes / plan.files / 2**20
    return plan.with_parts(report=_START + _PAGE + shown * each / plan.workers)
