"""The exact solver on a GPU: working sets in batches, accelerated gradients, one certificate.

The problem, rounds and certificate are those of `represent._cpu`. For each block of rows, until
all are optimal:

1. `select`: working set of a row = columns that hold a coefficient or whose residual
   correlation exceeds γ (from the second round on (1 − margin) γ); rows of like size go together;
2. `gather`: the Grams of a batch of working sets, padded to the largest, (B, k, k); where a
   set is a quarter of all columns or too large for the memory, the whole Gram serves instead;
3. `descend`: see `_descent`, to 0.02 γ in the first round, then to 0.3 of the tolerance;
4. `check`: residual correlations with all columns, g_i − c G, by one product of matrices; the
   KKT violation of every column, and rows at or below the tolerance are finished.

Everything is in the dtype of the Gram; what four rounds did not finish (copies of one another,
nearly white frames) descends in float64. No sum depends on the order in which threads end.
"""

from typing import Any, NamedTuple

import numpy as np
import torch

from samecam.compute import device_memory, format_bytes, rows_per_block
from samecam.errors import SamecamError
from samecam.represent._lasso import (
    FIRST,
    INNER,
    MARGIN,
    ROUNDS,
    LassoProblem,
    SolvedRows,
    assemble,
)
from samecam.represent.gpu import _descent
from samecam.represent.gpu._certificate import judge
from samecam.represent.gpu._gram import on_device

# Iterations in the first rounds: what needs more goes on, all such rows together, in the next.
_PATIENCE = (60, 120, 400)
MEMORY = 8 * 2**30  # what is taken of a large GPU
LEAST = 48 * 8  # bytes a photo, beside the Gram: half of it for one row's work in float64
SINGLE = 4  # rounds after which rows go on in float64
LARGE = 4  # sets above this share of all columns are not gathered
_SPREAD = 0.75  # sets below this part of the largest go to the next batch …
_FEWEST = 64  # … if the batch has so many rows


class Workspace(NamedTuple):
    """What is to be solved, the Gram on the device, and bytes for temporary arrays."""

    problem: LassoProblem
    gram: Any
    room: int

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of the Gram."""
        return int(self.gram.shape[1] * self.gram.element_size())

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the Gram, as NumPy calls it."""
        return np.dtype(np.float64 if self.gram.dtype == torch.float64 else np.float32)


class Block(NamedTuple):
    """Rows that are not finished: their numbers, where they lie in `values`, residuals.

    `rows`, `places` (m,), `residual` (m, n); `values` (B, n) holds the coefficients of all
    rows of the block.
    """

    rows: Any
    places: Any
    residual: Any
    values: Any


def solve(problem: LassoProblem, device: str, memory: int | None = None) -> tuple[Any, SolvedRows]:
    """All rows. Returns CSR coefficients (on the host) and the per-row figures.

    Parameters
    ----------
    problem : its `gram` is a tensor on the device, or an array that is moved there
    device : what `compute.choose_device` gave
    memory : bytes to take beside the Gram; default a quarter of what is free, 8 GiB at most
    """
    work = workspace(problem, device, memory)
    n = len(work.gram)
    step = rows_per_block(work.room, 3 * work.row_bytes) if n else 1
    blocks = [solve_block(work, a, min(a + step, n)) for a in range(0, n, step)]
    return assemble(blocks, n, work.dtype)


def workspace(problem: LassoProblem, device: str, memory: int | None) -> Workspace:
    """The Gram on the device, and half of the memory; see `solve`."""
    gram = on_device(problem.gram, device)
    n = len(gram)
    if memory is None:
        memory = min(MEMORY, device_memory(device) // 4)
    if memory < LEAST * n:
        raise SamecamError(
            f"The memory budget of {format_bytes(memory)} is too small for {n} photos on {device}: "
            f"give {format_bytes(LEAST * n)} or more."
        )
    return Workspace(problem, gram, memory // 2)


def solve_block(work: Workspace, begin: int, stop: int) -> SolvedRows:
    """Rows begin…stop−1 to the tolerance, or until the rounds are used up."""
    gram, tol = work.gram, work.problem.tol
    places = torch.arange(stop - begin, device=gram.device)
    values = torch.zeros((stop - begin, len(gram)), dtype=gram.dtype, device=gram.device)
    now = Block(places + begin, places, gram[begin:stop], values)
    figures = np.zeros((4, stop - begin))  # objective, violation, rounds, sweeps
    for round_ in range(1, ROUNDS + 1):
        sweeps = improve(work, now, round_)
        now, violation, objective = check(work, now)
        at = now.places.cpu().numpy()
        figures[0, at], figures[1, at], figures[2, at] = objective, violation, round_
        figures[3, at] += sweeps
        left = np.flatnonzero(~(violation <= tol))
        if not left.size:
            break
        if left.size < at.size:
            keep = torch.from_numpy(left).to(gram.device)
            residual = now.residual[keep]
            now = Block(now.rows[keep], now.places[keep], residual, values)
    return _pack(work, values, figures)


def improve(work: Workspace, now: Block, round_: int) -> Any:
    """New coefficients of all rows of a block, in place; iterations of each, (m,)."""
    problem = work.problem
    level = problem.gamma * (1.0 if round_ == 1 else 1.0 - MARGIN)
    tol = INNER * problem.tol
    if round_ == 1:
        tol = max(tol, FIRST * problem.gamma)
    dtype = torch.float64 if round_ > SINGLE else work.gram.dtype
    patience = _PATIENCE[round_ - 1] if round_ <= len(_PATIENCE) else problem.max_sweeps
    rule = _descent.Rule(problem.gamma, problem.nonnegative, tol, min(patience, problem.max_sweeps))
    sizes = count(work, now, level)
    sweeps = np.zeros(sizes.size)
    for part, gathered in batches(work, sizes, dtype):
        chosen = torch.from_numpy(part).to(work.gram.device)
        sets = select(work, now, chosen, level, int(sizes[part[0]]) if gathered else None)
        descended = descend(work, now, chosen, sets, dtype, rule)
        places = now.places[chosen]
        if gathered:
            now.values[places] = 0
            now.values[places[:, None], sets.columns] = descended.values.to(work.gram.dtype)
        else:
            now.values[places] = descended.values.to(work.gram.dtype)
        sweeps[part] = descended.iterations
    return sweeps


def count(work: Workspace, now: Block, level: float) -> Any:
    """Sizes of the working sets, (m,) on the host."""
    step = rows_per_block(work.room, 4 * work.row_bytes)
    parts = torch.arange(len(now.rows), device=work.gram.device).split(step)
    return torch.cat([_wanted(work, now, part, level).sum(1) for part in parts]).cpu().numpy()


def batches(work: Workspace, sizes: Any, dtype: Any) -> list[tuple[Any, bool]]:
    """Rows that go together, sets of like size first and largest first, and if gathered.

    A batch stays within the room there is; rows with an empty set are left out.
    """
    n, wide = len(work.gram), dtype.itemsize
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    result: list[tuple[Any, bool]] = []
    a = 0
    while a < order.size:
        k = int(sizes[order[a]])
        need = 2 * wide * k * k + 3 * work.row_bytes + 16 * wide * k
        gathered = need <= work.room and k * LARGE <= n
        if gathered:
            z = a + min(order.size - a, work.room // need)
            alike = a + np.searchsorted(-sizes[order[a:z]], -_SPREAD * k, side="right")
            z = min(z, max(int(alike), a + _FEWEST))
        else:
            small = np.searchsorted(-sizes[order], -(n / LARGE), side="left")
            step = rows_per_block(work.room // 2, 12 * n * wide)
            z = min(a + step, max(int(small), a + 1))
        result.append((order[a:z], gathered))
        a = z
    return result


class Sets(NamedTuple):
    """Working sets of a batch: `columns` (B, k) padded with the row's own number, `valid`.

    Where no Gram is gathered `columns` is None and `valid` (B, n) marks the set.
    """

    columns: Any
    valid: Any


def select(work: Workspace, now: Block, chosen: Any, level: float, width: int | None) -> Sets:
    """The working sets of the chosen rows, padded to `width`, or as marks if it is None."""
    wanted = _wanted(work, now, chosen, level)
    if width is None:
        return Sets(None, wanted)
    return padded(wanted, now.rows[chosen], width)


def padded(wanted: Any, rows: Any, width: int | None = None) -> Sets:
    """Marks (B, n) as columns, ascending, padded to `width`, or to the largest set."""
    row, column = wanted.nonzero(as_tuple=True)
    sizes = wanted.sum(1)
    if width is None:
        width = max(int(sizes.max()), 1)
    first = sizes.cumsum(0) - sizes
    place = torch.arange(len(row), device=row.device) - first[row]
    columns = rows[:, None].repeat(1, width)
    columns[row, place] = column
    return Sets(columns, torch.arange(width, device=row.device)[None, :] < sizes[:, None])


def _wanted(work: Workspace, now: Block, chosen: Any, level: float) -> Any:
    """Which columns belong to the working sets of the chosen rows, (len(chosen), n)."""
    residual = now.residual[chosen]
    if not work.problem.nonnegative:
        residual = residual.abs()
    wanted = residual > level
    wanted |= now.values[now.places[chosen]] != 0
    wanted[torch.arange(len(chosen), device=wanted.device), now.rows[chosen]] = False
    return wanted


def gather(work: Workspace, columns: Any, dtype: Any) -> Any:
    """Grams of working sets, (B, k, k)."""
    return work.gram[columns[:, :, None], columns[:, None, :]].to(dtype)


def descend(
    work: Workspace, now: Block, chosen: Any, sets: Sets, dtype: Any, rule: _descent.Rule
) -> _descent.Descended:
    """Coefficients of a batch on its working sets, from those it has."""
    rows, places = now.rows[chosen], now.places[chosen]
    if sets.columns is None:
        whole = _descent.Whole(work.gram, dtype, work.room // 4)
        target, start = work.gram[rows].to(dtype), now.values[places].to(dtype)
        return _descent.descend(whole, target, start, sets.valid, rule)
    grams = _descent.Gathered(gather(work, sets.columns, dtype), work.room // 8)
    target = work.gram[rows[:, None], sets.columns].to(dtype)
    start = now.values[places[:, None], sets.columns].to(dtype)
    return _descent.descend(grams, target, start, sets.valid, rule)


def check(work: Workspace, now: Block) -> tuple[Block, Any, Any]:
    """Bring the residuals up to date; violation and objective of every row, on the host."""
    step = rows_per_block(work.room, 8 * work.row_bytes)
    residual = torch.empty(
        (len(now.rows), len(work.gram)), dtype=work.gram.dtype, device=work.gram.device
    )
    now = now._replace(residual=residual)
    figures = []
    for a in range(0, len(now.rows), step):
        part = slice(a, a + step)
        values = now.values[now.places[part]]
        own = work.gram[now.rows[part]]
        torch.addmm(own, values, work.gram, alpha=-1, out=residual[part])
        figures.append(judge(work.problem, own, values, residual[part], now.rows[part]))
    violation, objective = torch.cat(figures, 1).cpu().numpy()
    return now, violation, objective


def _pack(work: Workspace, values: Any, figures: Any) -> SolvedRows:
    """A finished block as a `SolvedRows` on the host."""
    lengths, columns, numbers = [], [], []
    step = rows_per_block(work.room, 8 * work.row_bytes)
    for part in values.split(step):
        lengths.append((part != 0).sum(1).cpu().numpy())
        row, column = part.nonzero(as_tuple=True)
        columns.append(column.to(torch.int32).cpu().numpy())
        numbers.append(part[row, column].cpu().numpy())
    return SolvedRows(
        np.concatenate(lengths), np.concatenate(columns), np.concatenate(numbers),
        figures[0], figures[1], figures[2].astype(np.int64), figures[3].astype(np.int64),
    )  # fmt: skip
