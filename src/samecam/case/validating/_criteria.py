"""Validation criteria: what is asked of each performance characteristic, and whether it holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from samecam.case.validating._figures import FEW, Figures
from samecam.errors import ParameterError

# The bound is looked for in steps of 0.01.
_STEPS = 0.03
Verdict = Literal["passed", "failed", "not decided"]


@dataclass(frozen=True, slots=True)
class Criteria:
    """What is asked of the likelihood ratios; choose before you look.

    Attributes
    ----------
    cllr : most that accuracy may be; a system that knows nothing has 1
    eer : most that the equal-error rate may be
    calibration : most that accuracy may lose by calibration, Cllr − Cllr_min
    """

    cllr: float = 0.3
    eer: float = 0.05
    calibration: float = 0.1

    def __post_init__(self) -> None:
        for name, most in (("cllr", 1.0), ("eer", 0.5), ("calibration", 1.0)):
            value = getattr(self, name)
            if not 0 < value <= most:
                raise ParameterError(
                    name, f"{{name}} is {value}; give a number above 0, and {most:g} at most."
                )


@dataclass(frozen=True, slots=True)
class Check:
    """One criterion.

    Attributes
    ----------
    characteristic : of performance, "accuracy" for instance
    metric : by which it is measured
    criterion : what is asked, in words
    value : what was measured, in words
    passed : whether it holds; None if there is too little to tell
    """

    characteristic: str
    metric: str
    criterion: str
    value: str
    passed: bool | None


def check(given: Figures, cap: float, criteria: Criteria) -> list[Check]:
    """Look at each criterion."""
    return list(_checks(given, cap, criteria))


def verdict(checks: list[Check]) -> Verdict:
    """Passed if all are, failed if one is."""
    if any(each.passed is False for each in checks):
        return "failed"
    return "passed" if all(each.passed for each in checks) else "not decided"


def _checks(given: Figures, cap: float, criteria: Criteria) -> Iterator[Check]:
    assert given.cllr is not None  # there are comparisons of both kinds
    assert given.cllr_min is not None
    assert given.eer is not None
    assert given.elub is not None
    enough = min(given.n_same, given.n_different) >= FEW
    lost = given.cllr - given.cllr_min
    yield Check(
        "accuracy",
        "Cllr",
        f"at most {criteria.cllr:g}",
        f"{given.cllr:.3f}",
        given.cllr <= criteria.cllr if enough else None,
    )
    yield Check(
        "discriminating power",
        "equal-error rate",
        f"at most {criteria.eer:.3g}",
        f"{given.eer:.4f}",
        given.eer <= criteria.eer if enough else None,
    )
    yield Check(
        "calibration",
        "Cllr − Cllr_min",
        f"at most {criteria.calibration:g}",
        f"{lost:.3f}",
        lost <= criteria.calibration if enough else None,
    )
    for row in given.counted:
        yield Check(
            "calibration",
            f"share of other cameras at a claimed rate of {row.claimed:g}",
            f"not above {row.claimed:g} by more than chance",
            f"{row.count} of {row.n}, {row.low:.2g} to {row.high:.2g}",
            row.low <= row.claimed if enough else None,
        )
    for row in given.strong:
        ratio = round(1 / row.claimed)
        yield Check(
            "misleading evidence",
            f"share of other cameras with a likelihood ratio of {ratio:,} or more",
            f"not above 1 in {ratio:,} by more than chance",
            f"{row.count} of {row.n}, {row.low:.2g} to {row.high:.2g}",
            row.low <= row.claimed if enough else None,
        )
    yield Check(
        "range of support",
        "largest likelihood ratio stated, against the empirical upper bound (ELUB)",
        "not above what these photos support",
        f"{10**cap:,.0f} stated, {10 ** given.elub[1]:,.0f} supported",
        _supported(given, cap) if enough else None,
    )


def _supported(given: Figures, cap: float) -> bool | None:
    """Whether the cap is supported; None if more comparisons alone might have supported it."""
    assert given.elub is not None
    upper = given.elub[1]
    if cap <= upper + 1e-9:
        return True
    return None if upper >= np.log10(given.n_different) - _STEPS else False
