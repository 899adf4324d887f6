"""LS-SSC, the paper's method for more photos than memory holds at a time."""

from samecam.cluster.large_scale._estimator import LargeScaleSSC
from samecam.cluster.large_scale._merge import Threshold
from samecam.cluster.large_scale._phases import Run

__all__ = ["LargeScaleSSC", "Run", "Threshold"]
