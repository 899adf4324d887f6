"""The page of a validation: criteria, performance characteristics, limits."""

from samecam.report.validation._page import write_validation

__all__ = ["write_validation"]
