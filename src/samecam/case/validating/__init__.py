"""How good likelihood ratios are, on photos of a laboratory's own whose cameras are known."""

from samecam.case.validating._criteria import Criteria
from samecam.case.validating._validate import VALIDATION_PAGE, Validation, validate_photos

__all__ = ["VALIDATION_PAGE", "Criteria", "Validation", "validate_photos"]
