"""The exact solver on a GPU: working sets in batches, accelerated gradients, one certificate.

The same problem, rounds and certificate as `_cpu`. For each block of rows, until all are
optimal:

1. `select`: working set of a row = columns that hold a coefficient or whose residual
   correlation exceeds γ (from the second round on (1 − margin) γ); rows of like size go together;
2. `gather`: the Grams of a batch of working sets, padded to the largest, (B, k, k); where a
   set is a quarter of all columns or too large for the memory, the whole Gram serves instead;
3. `descend`: see `_descent_gpu`, to 0.02 γ in the first round, then to 0.3 of the tolerance;
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
from samecam.represent import _descent_gpu as _descent
from samecam.represent._cpu import FIRST, INNER, MARGIN, ROUNDS, Solved, Task, assemble
from samecam.represent._gram_gpu import on_device

# Iterations in the first rounds: what needs more goes on, all such rows together, in the next.
_PATIENCE = (60, 120, 400)
MEMORY = 8 * 2**30  # what is taken of a large GPU
LEAST = 48 * 8  # bytes a photo, beside the Gram: half of it for one row's work in float64
SINGLE = 4  # rounds after which rows go on in float64
LARGE = 4  # sets above this share of all columns are not gathered
_SPREAD = 0.75  # sets below this part of the largest go to the next batch …
_FEWEST = 64  # … if the batch has so many rows


class Desk(NamedTuple):
    """What is to be solved, the Gram on the device, and bytes for temporary arrays."""

    task: Task
    gram: Any
    room: int

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of the Gram."""
        return int(self.gram.shape[1] * self.gram.element_size())


class Block(NamedTuple):
    """Rows that are not finished: their numbers, where they lie in `values`, residuals.

    `rows`, `places` (m,), `residual` (m, n); `values` (B, n) holds the coefficients of all
    rows of the block.
    """

    rows: Any
    places: Any
    residual: Any
    values: Any


def solve(task: Task, device: str, memory: int | None = None) -> tuple[Any, Solved]:
    """All rows. Returns CSR coefficients (on the host) and the per-row figures.

    Parameters
    ----------
    task : its `gram` is a tensor on the device, or an array that is moved there
    device : what `compute.choose_device` gave
    memory : bytes to take beside the Gram; default a quarter of what is free, 8 GiB at most
    """
    gram = on_device(task.gram, device)
    n = len(gram)
    if memory is None:
        memory = min(MEMORY, device_memory(device) // 4)
    if memory < LEAST * n:
        raise SamecamError(
            f"The memory budget of {format_bytes(memory)} is too small for {n} photos on {device}: "
            f"give {format_bytes(LEAST * n)} or more."
        )
    desk = Desk(task, gram, memory // 2)
    step = rows_per_block(memory // 2, 3 * desk.row_bytes) if n else 1
    blocks = [solve_block(desk, a, min(a + step, n)) for a in range(0, n, step)]
    return assemble(blocks, n, _dtype(gram))


def solve_block(desk: Desk, begin: int, stop: int) -> Solved:
    """Rows begin…stop−1 to the tolerance, or until the rounds are used up."""
    gram, tol = desk.gram, desk.task.tol
    places = torch.arange(stop - begin, device=gram.device)
    values = torch.zeros((stop - begin, len(gram)), dtype=gram.dtype, device=gram.device)
    now = Block(places + begin, places, gram[begin:stop], values)
    figures = np.zeros((4, stop - begin))  # objective, violation, rounds, sweeps
    for round_ in range(1, ROUNDS + 1):
        sweeps = improve(desk, now, round_)
        now, violation, objective = check(desk, now)
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
    return _pack(desk, values, figures)


def improve(desk: Desk, now: Block, round_: int) -> Any:
    """New coefficients of all rows of a block, in place; iterations of each, (m,)."""
    task = desk.task
    level = task.gamma * (1.0 if round_ == 1 else 1.0 - MARGIN)
    tol = INNER * task.tol
    if round_ == 1:
        tol = max(tol, FIRST * task.gamma)
    dtype = torch.float64 if round_ > SINGLE else desk.gram.dtype
    patience = _PATIENCE[round_ - 1] if round_ <= len(_PATIENCE) else task.max_sweeps
    rule = _descent.Rule(task.gamma, task.nonnegative, tol, min(patience, task.max_sweeps))
    sizes = count(desk, now, level)
    sweeps = np.zeros(sizes.size)
    for part, gathered in batches(desk, sizes, dtype):
        chosen = torch.from_numpy(part).to(desk.gram.device)
        sets = select(desk, now, chosen, level, int(sizes[part[0]]) if gathered else None)
        found = descend(desk, now, chosen, sets, dtype, rule)
        places = now.places[chosen]
        if gathered:
            now.values[places] = 0
            now.values[places[:, None], sets.columns] = found.values.to(desk.gram.dtype)
        else:
            now.values[places] = found.values.to(desk.gram.dtype)
        sweeps[part] = found.iterations
    return sweeps


def count(desk: Desk, now: Block, level: float) -> Any:
    """Sizes of the working sets, (m,) on the host."""
    step = rows_per_block(desk.room, 4 * desk.row_bytes)
    parts = torch.arange(len(now.rows), device=desk.gram.device).split(step)
    return torch.cat([_wanted(desk, now, part, level).sum(1) for part in parts]).cpu().numpy()


def batches(desk: Desk, sizes: Any, dtype: Any) -> list[tuple[Any, bool]]:
    """Rows that go together, sets of like size first and largest first, and if gathered.

    A batch stays within the room of the desk; rows with an empty set are left out.
    """
    n, wide = len(desk.gram), dtype.itemsize
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    result: list[tuple[Any, bool]] = []
    a = 0
    while a < order.size:
        k = int(sizes[order[a]])
        need = 2 * wide * k * k + 3 * desk.row_bytes + 16 * wide * k
        gathered = need <= desk.room and k * LARGE <= n
        if gathered:
            z = a + min(order.size - a, desk.room // need)
            alike = a + np.searchsorted(-sizes[order[a:z]], -_SPREAD * k, side="right")
            z = min(z, max(int(alike), a + _FEWEST))
        else:
            small = np.searchsorted(-sizes[order], -(n / LARGE), side="left")
            step = rows_per_block(desk.room // 2, 12 * n * wide)
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


def select(desk: Desk, now: Block, chosen: Any, level: float, width: int | None) -> Sets:
    """The working sets of the chosen rows, padded to `width`, or as marks if it is None."""
    wanted = _wanted(desk, now, chosen, level)
    if width is None:
        return Sets(None, wanted)
    row, column = wanted.nonzero(as_tuple=True)
    sizes = wanted.sum(1)
    first = sizes.cumsum(0) - sizes
    place = torch.arange(len(row), device=row.device) - first[row]
    columns = now.rows[chosen][:, None].repeat(1, width)
    columns[row, place] = column
    return Sets(columns, torch.arange(width, device=row.device)[None, :] < sizes[:, None])


def _wanted(desk: Desk, now: Block, chosen: Any, level: float) -> Any:
    """Which columns belong to the working sets of the chosen rows, (len(chosen), n)."""
    residual = now.residual[chosen]
    if not desk.task.nonnegative:
        residual = residual.abs()
    wanted = residual > level
    wanted |= now.values[now.places[chosen]] != 0
    wanted[torch.arange(len(chosen), device=wanted.device), now.rows[chosen]] = False
    return wanted


def gather(desk: Desk, columns: Any, dtype: Any) -> Any:
    """Grams of working sets, (B, k, k)."""
    return desk.gram[columns[:, :, None], columns[:, None, :]].to(dtype)


def descend(
    desk: Desk, now: Block, chosen: Any, sets: Sets, dtype: Any, rule: _descent.Rule
) -> _descent.Found:
    """Coefficients of a batch on its working sets, from those it has."""
    rows, places = now.rows[chosen], now.places[chosen]
    if sets.columns is None:
        whole = _descent.Whole(desk.gram, dtype, desk.room // 4)
        target, start = desk.gram[rows].to(dtype), now.values[places].to(dtype)
        return _descent.descend(whole, target, start, sets.valid, rule)
    grams = _descent.Gathered(gather(desk, sets.columns, dtype), desk.room // 8)
    target = desk.gram[rows[:, None], sets.columns].to(dtype)
    start = now.values[places[:, None], sets.columns].to(dtype)
    return _descent.descend(grams, target, start, sets.valid, rule)


def check(desk: Desk, now: Block) -> tuple[Block, Any, Any]:
    """Bring the residuals up to date; violation and objective of every row, on the host."""
    step = rows_per_block(desk.room, 8 * desk.row_bytes)
    residual = torch.empty(
        (len(now.rows), len(desk.gram)), dtype=desk.gram.dtype, device=desk.gram.device
    )
    now = now._replace(residual=residual)
    found = []
    for a in range(0, len(now.rows), step):
        part = slice(a, a + step)
        values = now.values[now.places[part]]
        own = desk.gram[now.rows[part]]
        torch.addmm(own, values, desk.gram, alpha=-1, out=residual[part])
        found.append(judge(desk.task, own, values, residual[part], now.rows[part]))
    violation, objective = torch.cat(found, 1).cpu().numpy()
    return now, violation, objective


def judge(task: Task, own: Any, values: Any, residual: Any, rows: Any) -> Any:
    """KKT violation and objective of rows, (2, m) float64.

    `own` (m, n) are the rows' correlations g_i; the formulas are those of `_problem`.
    """
    at = torch.arange(len(rows), device=rows.device)
    products = torch.add(own, residual).mul_(values).sum(1, dtype=torch.float64)
    norms = values.abs().sum(1, dtype=torch.float64)
    objective = 0.5 * (own[at, rows].double() - products) + task.gamma * norms
    excess = _descent.violation(residual, values, task.gamma, task.nonnegative)
    excess[at, rows] = 0
    return torch.stack([excess.amax(1).double(), objective])


def _pack(desk: Desk, values: Any, figures: Any) -> Solved:
    """A finished block as a `Solved` on the host."""
    lengths, columns, numbers = [], [], []
    step = rows_per_block(desk.room, 8 * desk.row_bytes)
    for part in values.split(step):
        lengths.append((part != 0).sum(1).cpu().numpy())
        row, column = part.nonzero(as_tuple=True)
        columns.append(column.to(torch.int32).cpu().numpy())
        numbers.append(part[row, column].cpu().numpy())
    return Solved(
        np.concatenate(lengths), np.concatenate(columns), np.concatenate(numbers),
        figures[0], figures[1], figures[2].astype(np.int64), figures[3].astype(np.int64),
    )  # fmt: skip


def _dtype(gram: Any) -> np.dtype[Any]:
    return np.dtype(np.float64 if gram.dtype == torch.float64 else np.float32)
