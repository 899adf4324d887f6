"""Studies on a case: methods compared, parameters tuned, the answer against the truth."""

from samecam.case.studies._compare import Comparison, compare_methods
from samecam.case.studies._compare_rank import ComparedMethod
from samecam.case.studies._evaluate import FATES, Evaluation, evaluate
from samecam.case.studies._tune import Tuning, tune_case

__all__ = [
    "FATES",
    "ComparedMethod",
    "Comparison",
    "Evaluation",
    "Tuning",
    "compare_methods",
    "evaluate",
    "tune_case",
]
