"""Whether a case is still what it says."""

from samecam.case.verifying._inputs import InputCheck
from samecam.case.verifying._verify import Relabelled, Verification, verify_case

__all__ = ["InputCheck", "Relabelled", "Verification", "verify_case"]
