"""The page of a benchmark: methods in order, the picture, the sets, how to cite."""

from samecam.report.benchmark._page import write_benchmark

__all__ = ["write_benchmark"]
