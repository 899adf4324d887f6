"""What the solvers of both devices share: the problem they get, their rounds, their results."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samecam.arrays import AnyFloats, Doubles

ROUNDS = 30  # working-set rounds before a row is given up
MARGIN = 0.02  # columns this close to γ join the working set from the second round on
FIRST = 0.02  # tolerance of the first round in units of γ
INNER = 0.3  # tolerance of the descent in units of the tolerance asked for

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class LassoProblem:
    """What is to be solved; `gram` is a tensor on a GPU, `tol` is absolute."""

    gram: Any
    gamma: float
    nonnegative: bool
    tol: float
    max_sweeps: int


class SolvedRows(NamedTuple):
    """A finished block: CSR parts, and per row objective, violation, rounds and sweeps."""

    lengths: Indices
    columns: NDArray[np.int32]
    values: AnyFloats
    objective: Doubles
    violation: Doubles
    rounds: Indices
    sweeps: Indices


class AdmmResult(NamedTuple):
    """The feasible variable V as a CSR array, iterations done, and whether max|Z − V| < tol."""

    coefficients: Any
    iterations: int
    converged: bool


def assemble(blocks: list[SolvedRows], n: int, dtype: np.dtype[Any]) -> tuple[Any, SolvedRows]:
    """One CSR array of all blocks; each block's part is freed once it is copied."""
    from scipy.sparse import csr_array

    lengths = _joined([b.lengths for b in blocks])
    figures = [_joined([b[k] for b in blocks]) for k in range(3, 7)]
    total = int(lengths.sum())
    index = np.int32 if total < 2**31 - 1 else np.int64
    pointers = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
    columns, values = np.empty(total, index), np.empty(total, dtype)
    at = total
    while blocks:
        block = blocks.pop()
        at -= block.values.size
        columns[at : at + block.values.size] = block.columns
        values[at : at + block.values.size] = block.values
        del block
    coefficients = csr_array((values, columns, pointers), shape=(n, n))
    coefficients.has_canonical_format = True
    none = (np.empty(0, np.int32), np.empty(0, dtype))
    return coefficients, SolvedRows(lengths, *none, *figures)


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
