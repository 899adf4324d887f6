"""The last step for rows that gradients bring home slowly: the coefficients of a guessed support.

Where the support S and the signs s of the solution are known, the rest is linear::

    A_SS c_S = g_S − γ s_S

The guess is where coefficients are now; what turns out to have the wrong sign leaves it and
what exceeds γ joins it, a few times (a primal-dual active set method). It seldom fails where
photos correlate weakly, and nothing depends on it: an answer is taken only if it is optimal to
the tolerance.
"""

from typing import Any

import torch

from samecam.represent.gpu._certificate import violation

_STEPS = 6
_RIDGE = {torch.float32: 1e-6, torch.float64: 1e-10}  # keeps copies of photos solvable


def finish(grams: Any, target: Any, start: Any, valid: Any, rule: Any) -> tuple[Any, Any]:
    """Coefficients (B, k) that are optimal, where there are such, else `start`; and which rows are.

    Arguments are those of `_descent.descend`.
    """
    signs, best = start.sign(), start
    good = torch.zeros(len(start), dtype=torch.bool, device=start.device)
    for _ in range(_STEPS):
        values = _solved(grams, target - rule.gamma * signs, start, signs != 0)
        residual = target - grams.product(values)
        held = values * signs > 0
        worst = (violation(residual, values, rule.gamma, rule.nonnegative) * valid).amax(1)
        new = (held | (signs == 0)).all(1) & (worst <= rule.tol) & ~good
        best = torch.where(new[:, None], values, best)
        good |= new
        if bool(good.all()):
            break
        beyond = residual if rule.nonnegative else residual.abs()
        enter = (signs == 0) & valid & (beyond > rule.gamma)
        signs = torch.where(enter, residual.sign(), torch.where(held, signs, 0.0))
    return best, good


def _solved(grams: Any, right: Any, start: Any, support: Any) -> Any:
    """Solve (A_SS + δI) c_S = right_S + δ start_S, 0 elsewhere; `start` where that fails.

    The small ridge δ does not move a solution; it holds the start in directions in which the
    objective is flat. Solved in float64.
    """
    sizes = support.sum(1)
    width = max(int(sizes.max()), 1)
    order = torch.sort(support.to(torch.int8), dim=1, descending=True, stable=True)[1][:, :width]
    inside = torch.arange(width, device=order.device)[None, :] < sizes[:, None]
    ridge = _RIDGE[start.dtype]
    side = torch.where(inside, (right + ridge * start).gather(1, order), 0.0).double()
    step = max(1, grams.room // (32 * width * width))
    parts = []
    for a in range(0, len(order), step):
        rows = slice(a, a + step)
        matrix = grams.part(rows, order[rows]).double()
        matrix *= inside[rows, :, None] & inside[rows, None, :]
        matrix.diagonal(dim1=1, dim2=2).add_(torch.where(inside[rows], ridge, 1.0))
        factor, failed = torch.linalg.cholesky_ex(matrix)
        answer = torch.cholesky_solve(side[rows, :, None], factor)[:, :, 0]
        parts.append(torch.where((failed == 0)[:, None], answer, torch.nan))
    values = torch.zeros_like(start).scatter_(1, order, torch.cat(parts).to(start.dtype))
    return torch.where(values.isfinite().all(1, keepdim=True), values, start)
