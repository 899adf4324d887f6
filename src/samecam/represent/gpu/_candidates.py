"""The exact solver on few candidates a row, on a GPU; see `represent._candidates`."""

from typing import Any, NamedTuple

import numpy as np
import torch

from samecam.compute import rows_per_block
from samecam.represent._lasso import INNER, LassoProblem, SolvedRows, assemble
from samecam.represent.gpu import _descent
from samecam.represent.gpu._certificate import violation
from samecam.represent.gpu._exact import Sets, Workspace, gather, padded, workspace

_PATIENCE = 400  # iterations in the dtype of the Gram; what needs more goes on in float64
_COLUMN_BYTES = 24  # of a row while its candidates are looked for
_PAIR_BYTES = 48  # of two candidates of a row while they descend


class Solved(NamedTuple):
    """Values (B, k) of some rows, and, (B,) on the host, violation, objective and iterations."""

    values: Any
    violation: Any
    objective: Any
    sweeps: Any


def solve_candidates(
    problem: LassoProblem, most: int, device: str, memory: int | None = None
) -> tuple[Any, SolvedRows]:
    """All rows on at most `most` candidates each; see `_exact.solve`."""
    work = workspace(problem, device, memory)
    n = len(work.gram)
    most = max(1, min(most, n - 1))
    step = rows_per_block(work.room, _COLUMN_BYTES * n + _PAIR_BYTES * most * most) if n else 1
    blocks = [_solve_rows(work, most, a, min(a + step, n)) for a in range(0, n, step)]
    return assemble(blocks, n, work.dtype)


def _solve_rows(work: Workspace, most: int, begin: int, stop: int) -> SolvedRows:
    """Rows begin … stop − 1."""
    rows = torch.arange(begin, stop, device=work.gram.device)
    sets = padded(strongest(work, rows, most), rows)
    solved = _descended(work, rows, sets, work.gram.dtype, _PATIENCE)
    left = np.flatnonzero(~(solved.violation <= work.problem.tol))
    if left.size:
        some = torch.from_numpy(left).to(rows.device)
        again = _descended(
            work, rows[some], Sets(sets.columns[some], sets.valid[some]), torch.float64,
            work.problem.max_sweeps,
        )  # fmt: skip
        solved.values[some] = again.values
        for now, later in zip(solved[1:], again[1:], strict=True):
            now[left] = later
    held = solved.values != 0
    return SolvedRows(
        held.sum(1).cpu().numpy(), sets.columns[held].to(torch.int32).cpu().numpy(),
        solved.values[held].cpu().numpy(), solved.objective, solved.violation,
        np.ones(stop - begin, np.int64), solved.sweeps,
    )  # fmt: skip


def strongest(work: Workspace, rows: Any, most: int) -> Any:
    """Which columns hold the `most` largest correlations above γ of each row, (len(rows), n).

    Of equal ones the first. Both signs: of the absolute values.
    """
    size = work.gram[rows]
    if not work.problem.nonnegative:
        size = size.abs()
    size[torch.arange(len(rows), device=rows.device), rows] = -torch.inf
    least = size.topk(most, dim=1, sorted=True).values[:, -1:]
    wanted, equal = size > least, size == least
    room = most - wanted.sum(1, keepdim=True)
    wanted |= equal & (equal.cumsum(1, dtype=torch.int32) <= room)
    wanted &= size > work.problem.gamma
    return wanted


def _descended(work: Workspace, rows: Any, sets: Sets, dtype: Any, patience: int) -> Solved:
    """Descend from 0 in `dtype`; the certificate is of the values in the dtype of the Gram."""
    problem = work.problem
    rule = _descent.Rule(
        problem.gamma, problem.nonnegative, INNER * problem.tol, min(patience, problem.max_sweeps)
    )
    matrices = gather(work, sets.columns, dtype)
    own = work.gram[rows[:, None], sets.columns]
    target = own.to(dtype) * sets.valid
    grams = _descent.Gathered(matrices, work.room // 8)
    done = _descent.descend(grams, target, torch.zeros_like(target), sets.valid, rule)
    values = done.values.to(work.gram.dtype)
    wide, own = values.double(), own.double()
    residual = own - torch.bmm(matrices.double(), wide[:, :, None])[:, :, 0]
    excess = violation(residual, wide, problem.gamma, problem.nonnegative) * sets.valid
    norms = 2 * problem.gamma * wide.abs() - wide * (own + residual)
    objective = 0.5 * (work.gram[rows, rows].double() + norms.sum(1))
    return Solved(values, excess.amax(1).cpu().numpy(), objective.cpu().numpy(), done.iterations)
