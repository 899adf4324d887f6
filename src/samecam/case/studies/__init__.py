"""Studies on a case: methods compared, parameters tuned."""

from samecam.case.studies._compare import Comparison, compare_methods
from samecam.case.studies._compare_rank import ComparedMethod
from samecam.case.studies._tune import Tuning, tune_case

__all__ = ["ComparedMethod", "Comparison", "Tuning", "compare_methods", "tune_case"]
