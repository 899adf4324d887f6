"""How good coefficients on a GPU are; the formulas are those of `represent._problem`."""

from typing import Any

import torch

from samecam.represent._lasso import LassoProblem


def violation(residual: Any, values: Any, gamma: float, nonnegative: bool) -> Any:
    """How far each coefficient is from optimal, given residual correlations."""
    if nonnegative:
        excess = residual - gamma
        return torch.where(values > 0, excess.abs(), excess.clamp_min(0))
    beyond = (residual.abs() - gamma).clamp_min(0)
    return torch.where(values == 0, beyond, (residual - gamma * values.sign()).abs())


def judge(problem: LassoProblem, own: Any, values: Any, residual: Any, rows: Any) -> Any:
    """KKT violation and objective of rows, (2, m) float64.

    `own` (m, n) are the rows' correlations g_i.
    """
    at = torch.arange(len(rows), device=rows.device)
    products = torch.add(own, residual).mul_(values).sum(1, dtype=torch.float64)
    norms = values.abs().sum(1, dtype=torch.float64)
    objective = 0.5 * (own[at, rows].double() - products) + problem.gamma * norms
    excess = violation(residual, values, problem.gamma, problem.nonnegative)
    excess[at, rows] = 0
    return torch.stack([excess.amax(1).double(), objective])
