"""The exact solver where each image may be represented by few others alone: its candidates.

Candidates of image i are the k others that correlate with it most, of those above γ (of equal
ones the first). On their own Gram the problem is small, and solved to the same tolerance; the
certificate is of that problem. One reading of the Gram, and k² numbers of it a row.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from samecam.represent._lasso import INNER, LassoProblem, SolvedRows, assemble

_ROWS = 256


def solve(problem: LassoProblem, most: int, n_threads: int) -> tuple[Any, SolvedRows]:
    """All rows on at most `most` candidates each; returns what `_cpu.solve` does."""
    n = problem.gram.shape[0]
    most = max(1, min(most, n - 1))
    starts = range(0, n, _ROWS)

    def part(first: int) -> SolvedRows:
        return _solve_rows(problem, most, first, min(first + _ROWS, n))

    if n_threads == 1:
        return assemble([part(first) for first in starts], n, problem.gram.dtype)
    with ThreadPoolExecutor(n_threads) as pool:
        return assemble(list(pool.map(part, starts)), n, problem.gram.dtype)


def _solve_rows(problem: LassoProblem, most: int, first: int, last: int) -> SolvedRows:
    """Rows first … last − 1."""
    from samecam.represent import _kernels

    gram, many = problem.gram, last - first
    columns, counts = np.zeros((many, most), np.int64), np.zeros(many, np.int64)
    _kernels.strongest(gram, first, problem.gamma, problem.nonnegative, columns, counts)
    values = np.zeros((many, most), gram.dtype)
    objective, violation, sweeps = np.empty(many), np.empty(many), np.empty(many, np.int64)
    _kernels.solve_candidates(
        gram, first, columns, counts, problem.gamma, problem.nonnegative, INNER * problem.tol,
        problem.max_sweeps, values, objective, violation, sweeps,
    )  # fmt: skip
    held = values != 0
    return SolvedRows(
        held.sum(axis=1), columns[held].astype(np.int32), values[held], objective, violation,
        np.ones(many, np.int64), sweeps,
    )  # fmt: skip
