"""The exact solver: coordinate descent on working sets, checked against all columns.

Rows of the problem are independent. For each block of rows, until every row is optimal:

1. working set = columns that hold a coefficient or whose residual correlation exceeds γ
   (from the second round on: (1 − margin) γ, so that few rows need a third);
2. the working set's own Gram is gathered and descended on, cyclically, in float64;
3. residual correlations with *all* columns from the sparse coefficients, the KKT violation
   of every column, and rows at or below the tolerance are finished.

The first round is stopped early (violation 0.02 γ): it only has to find the columns that
matter. The check in step 3 is made on the coefficients as they will be returned, rounded to
the dtype of the Gram, so the certificate is a statement about the answer itself.

Not in the paper, which uses ADMM on n × n matrices; the minimiser is the same.
"""

import queue
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samecam.arrays import AnyFloats, Doubles
from samecam.represent._lasso import (
    FIRST,
    INNER,
    MARGIN,
    ROUNDS,
    Indices,
    LassoProblem,
    SolvedRows,
    assemble,
)


class Rows(NamedTuple):
    """A block of rows in CSR form, with the state of each."""

    rows: Indices
    pointers: Indices
    columns: Indices
    values: AnyFloats
    residual: Doubles
    sweeps: Indices


def block_rows(n: int) -> int:
    """Rows solved together: many, to share what is read of the Gram; few beside n."""
    return min(1024, max(32, n // 16))


def gather_limit(n: int) -> int:
    """Largest working-set Gram that is gathered: n²/16 numbers, within 2¹⁶ … 2²⁵."""
    return min(2**25, max(2**16, n * n // 16))


def scratch_size(n: int, n_threads: int) -> int:
    """Numbers a thread keeps for gathered Grams: its share of n²/4, at least the limit."""
    return max(gather_limit(n), min(2**25, n * n // (4 * n_threads)))


def solve(problem: LassoProblem, n_threads: int) -> tuple[Any, SolvedRows]:
    """All rows. Returns CSR coefficients and a `SolvedRows` with the per-row figures.

    Blocks follow one another; within a block the threads share its rows (descent) and then
    its columns (check), so that memory for a block is needed once.
    """
    n = problem.gram.shape[0]
    step = block_rows(n)
    with Workers(n_threads, scratch_size(n, n_threads), problem.gram.dtype) as workers:
        blocks = [
            solve_block(problem, np.arange(start, min(start + step, n), dtype=np.int64), workers)
            for start in range(0, n, step)
        ]
    return assemble(blocks, n, problem.gram.dtype)


class Workers:
    """Threads, each with its own scratch array for gathered Grams."""

    def __init__(self, n_threads: int, scratch_size: int, dtype: np.dtype[Any]) -> None:
        self.n_threads = n_threads
        self.scratch_size = scratch_size
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._scratch: queue.SimpleQueue[AnyFloats] = queue.SimpleQueue()
        for _ in range(n_threads):
            self._scratch.put(np.empty(scratch_size, dtype))

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown()

    def run(
        self, work: Callable[[int, int, AnyFloats], None], parts: Iterable[tuple[int, int]]
    ) -> None:
        """Call ``work(begin, stop, scratch)`` for every part, in any order; wait for all."""

        def with_scratch(part: tuple[int, int]) -> None:
            scratch = self._scratch.get()
            try:
                work(*part, scratch)
            finally:
                self._scratch.put(scratch)

        for _ in self._pool.map(with_scratch, parts) if self._pool else map(with_scratch, parts):
            pass


def solve_block(problem: LassoProblem, rows: Indices, workers: Workers) -> SolvedRows:
    """The given rows to the tolerance, or until the rounds are used up."""
    done: list[tuple[Any, ...]] = [()] * rows.size
    now = Rows(
        rows,
        np.zeros(rows.size + 1, np.int64),
        np.empty(0, np.int64),
        np.empty(0, problem.gram.dtype),
        problem.gram[rows[0] : rows[-1] + 1].astype(np.float64),
        np.zeros(rows.size, np.int64),
    )
    for round_ in range(1, ROUNDS + 1):
        now = _improve(problem, now, workers, round_)
        violation, objective = _check(problem, now, workers)
        finished = violation <= problem.tol if round_ < ROUNDS else np.ones(now.rows.size, bool)
        for b in np.flatnonzero(finished):
            part = slice(now.pointers[b], now.pointers[b + 1])
            done[now.rows[b] - rows[0]] = (
                now.columns[part].astype(np.int32), now.values[part].copy(),
                objective[b], violation[b], round_, now.sweeps[b],
            )  # fmt: skip
        if finished.all():
            break
        now = _keep(now, np.flatnonzero(~finished))
    return _pack(done, problem.gram.dtype)


def _check(problem: LassoProblem, now: Rows, workers: Workers) -> tuple[Doubles, Doubles]:
    """Bring the residuals of a block up to date; violation and objective of every row."""
    from samecam.represent import _kernels

    def update(begin: int, stop: int, _: AnyFloats) -> None:
        _kernels.residuals(
            problem.gram, now.rows, now.pointers, now.columns, now.values, now.residual, begin, stop
        )

    def judge(begin: int, stop: int, _: AnyFloats) -> None:
        _kernels.judge(
            problem.gram, now.residual[begin:stop], now.rows[begin:stop],
            now.pointers[begin : stop + 1], now.columns, now.values, problem.gamma,
            problem.nonnegative, violation[begin:stop], objective[begin:stop],
        )  # fmt: skip

    violation, objective = np.empty(now.rows.size), np.empty(now.rows.size)
    n = problem.gram.shape[0]  # the cuts depend on n alone: so does the rounding
    workers.run(update, _runs(n, min(_kernels.TILE, max(64, n // 8))))
    workers.run(judge, _runs(now.rows.size, 32))
    return violation, objective


def _runs(total: int, step: int) -> Iterator[tuple[int, int]]:
    """0…step, step…2·step and so on, up to total."""
    return ((a, min(a + step, total)) for a in range(0, total, step))


def _improve(problem: LassoProblem, now: Rows, workers: Workers, round_: int) -> Rows:
    """New coefficients of all rows: working sets, then descent on each."""
    pointers, sets = _working_sets(problem, now, workers, round_)
    values = np.empty(sets.size, np.float64)
    tol = INNER * problem.tol
    if round_ == 1:
        tol = max(tol, FIRST * problem.gamma)

    def descend(begin: int, stop: int, scratch: AnyFloats) -> None:
        part = slice(pointers[begin], pointers[stop])
        inside = pointers[begin : stop + 1] - pointers[begin]
        _descend(problem, now, begin, stop, inside, sets[part], values[part], tol, scratch)

    workers.run(descend, _portions(np.diff(pointers), gather_limit(problem.gram.shape[0]), workers))
    rounded = values.astype(problem.gram.dtype)
    held = rounded != 0
    counts = np.concatenate([[0], np.cumsum(held)])
    return now._replace(pointers=counts[pointers], columns=sets[held], values=rounded[held])


def _working_sets(
    problem: LassoProblem, now: Rows, workers: Workers, round_: int
) -> tuple[Indices, Indices]:
    """Pointers (rows + 1) and columns of the working sets of a block."""
    from samecam.represent import _kernels

    level = problem.gamma * (1.0 if round_ == 1 else 1.0 - MARGIN)
    parts: dict[int, tuple[Indices, Indices]] = {}

    def select(begin: int, stop: int, _: AnyFloats) -> None:
        pointers = np.zeros(stop - begin + 1, np.int64)
        rule = (
            now.residual[begin:stop], now.rows[begin:stop], now.pointers[begin : stop + 1],
            now.columns, level, problem.nonnegative, pointers,
        )  # fmt: skip
        columns = np.empty(_kernels.working_sets(*rule, np.empty(0, np.int64)), np.int64)
        _kernels.working_sets(*rule, columns)
        parts[begin] = np.diff(pointers), columns

    workers.run(select, _runs(now.rows.size, 32))
    lengths, columns = zip(*(parts[begin] for begin in sorted(parts)), strict=True)
    return np.concatenate([[0], np.cumsum(np.concatenate(lengths))]), np.concatenate(columns)


def _descend(
    problem: LassoProblem, now: Rows, a: int, z: int, pointers: Indices, sets: Indices,
    values: Doubles, tol: float, scratch: AnyFloats,
) -> None:  # fmt: skip
    """Descend on rows a…z−1 of the block: gathered, or directly if one row is too large."""
    from samecam.represent import _kernels

    rule = (problem.gamma, problem.nonnegative, tol, problem.max_sweeps)
    sizes = np.diff(pointers)
    offsets = np.concatenate([[0], np.cumsum(sizes * sizes)])
    if z - a > 1 or offsets[-1] <= gather_limit(problem.gram.shape[0]):
        _kernels.gather(problem.gram, pointers, sets, offsets, scratch)
        _kernels.descend_gathered(
            scratch, offsets, pointers, sets, now.residual[a:z], now.pointers[a : z + 1],
            now.columns, now.values, *rule, values, now.sweeps[a:z],
        )  # fmt: skip
        return
    _kernels.start_values(now.pointers, now.columns, now.values, a, sets, values)
    now.sweeps[a] += _kernels.descend(problem.gram, sets, now.residual[a], values, *rule)


def _portions(sizes: Indices, limit: int, workers: Workers) -> Iterator[tuple[int, int]]:
    """Runs a…z of rows whose gathered Grams fit into scratch; a row above `limit` runs alone.

    Every thread gets a run if the rows suffice. Whether a row is gathered depends on
    `limit` only, not on the number of threads.
    """
    most = -(-sizes.size // workers.n_threads)
    squares = (sizes * sizes).tolist()
    a = 0
    while a < sizes.size:
        z, used = a + 1, squares[a]
        while (
            max(squares[a], squares[min(z, sizes.size - 1)]) <= limit
            and z < min(sizes.size, a + most)
            and used + squares[z] <= workers.scratch_size
        ):
            used += squares[z]
            z += 1
        yield a, z
        a = z


def _keep(now: Rows, chosen: NDArray[np.intp]) -> Rows:
    """Only the `chosen` rows of a block."""
    lengths = np.diff(now.pointers)
    held = np.zeros(now.rows.size, bool)
    held[chosen] = True
    inside = np.repeat(held, lengths)
    return Rows(
        now.rows[chosen],
        np.concatenate([[0], np.cumsum(lengths[chosen])]),
        now.columns[inside],
        now.values[inside],
        now.residual[chosen] if chosen.size < now.rows.size else now.residual,
        now.sweeps[chosen],
    )


def _pack(done: list[tuple[Any, ...]], dtype: np.dtype[Any]) -> SolvedRows:
    """Finished rows, in order, as one `SolvedRows`."""
    columns, values, objective, violation, rounds, sweeps = zip(*done, strict=True)
    return SolvedRows(
        np.array([c.size for c in columns], np.int64),
        np.concatenate(columns) if columns else np.empty(0, np.int32),
        np.concatenate(values) if values else np.empty(0, dtype),
        np.array(objective, np.float64),
        np.array(violation, np.float64),
        np.array(rounds, np.int64),
        np.array(sweeps, np.int64),
    )
