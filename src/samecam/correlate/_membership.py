"""Which photos are in which group, as a matrix that adds rows up group by group."""

from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats, Labels, Rows

# Weights of rows of bits: six binary digits.
_LEVELS = 63


class Membership:
    """Which photos are in which group, with a weight each.

    Parameters
    ----------
    labels : (n,) groups, −1 for none
    count : number of groups, default one more than the largest label
    weights : (n,) float32, default 1
    unit : that the weights are whole multiples of, see `whole_weights`; for rows of bits

    Attributes
    ----------
    labels, count, unit : as above
    row_weights : (n,) the weights
    inside : numbers of the photos that are in a group
    groups, weights : of these
    """

    def __init__(
        self,
        labels: Labels,
        count: int | None = None,
        weights: Floats | None = None,
        unit: float = 1.0,
    ) -> None:
        self.labels, self.unit = labels, unit
        self.count = int(labels.max(initial=-1)) + 1 if count is None else count
        self.inside: Rows = np.flatnonzero(labels >= 0)
        self.groups: Labels = labels[self.inside]
        ones = np.ones(len(labels), dtype=np.float32)
        self.row_weights: Floats = ones if weights is None else weights
        self.weights: Floats = self.row_weights[self.inside]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def sizes(self) -> Labels:
        """Photos in each group."""
        return np.bincount(self.groups, minlength=self.count).astype(np.intp)

    def of(self, rows: Rows) -> "Membership":
        """The same groups with some photos alone."""
        return Membership(self.labels[rows], self.count, self.row_weights[rows], self.unit)

    def only(self, groups: Rows) -> "Membership":
        """Some groups alone, counted from 0, of all photos."""
        numbers = np.full(self.count + 1, -1, dtype=np.intp)  # the last: of photos in none
        numbers[groups] = np.arange(len(groups))
        return Membership(numbers[self.labels], len(groups), self.row_weights, self.unit)

    @property
    def whole(self) -> npt.NDArray[np.int64]:
        """Weights of the photos in a group, in units."""
        whole: npt.NDArray[np.int64] = np.rint(self.weights / self.unit).astype(np.int64)
        if not np.allclose(whole * self.unit, self.weights, rtol=1e-6, atol=0) or (whole < 1).any():
            raise ValueError(
                f"weights are no whole multiples of {self.unit}; rows of bits take none but such"
            )
        return whole

    def with_members(self, rows: Rows) -> Rows:
        """Some photos and all members of groups, rising."""
        return np.union1d(rows, self.inside)

    def part(self, first: int, last: int) -> tuple["Membership", Rows]:
        """Groups first … last − 1 with their members alone, and the numbers of these."""
        some = np.flatnonzero((self.groups >= first) & (self.groups < last))
        groups = Membership(self.groups[some] - first, last - first, self.weights[some], self.unit)
        return groups, self.inside[some]

    def sparse(self) -> Any:
        """(count, n) CSR matrix with a photo's weight in its group."""
        from scipy.sparse import csr_array

        entries = (self.weights, (self.groups, self.inside))
        return csr_array(entries, shape=(self.count, len(self)))

    def dense(self, first: int, last: int, order: Literal["C", "F"] = "C") -> Floats:
        """The same as an array, of groups first … last − 1."""
        result = np.zeros((last - first, len(self)), dtype=np.float32, order=order)
        some = np.flatnonzero((self.groups >= first) & (self.groups < last))
        result[self.groups[some] - first, self.inside[some]] = self.weights[some]
        return result


def whole_weights(weights: npt.NDArray[np.floating], levels: int = _LEVELS) -> tuple[Floats, float]:
    """Positive weights rounded to 1 … 63 (or so many levels) of a unit, and the unit.

    The unit has few digits, so that its multiples are exact in float32.
    """
    fraction, exponent = np.frexp(float(weights.max(initial=1e-30)) / levels)
    unit = float(np.ldexp(np.rint(fraction * 2**16) / 2**16, exponent))
    whole = np.clip(np.rint(weights / unit), 1, levels)
    return (whole * unit).astype(np.float32), unit


def even_blocks(count: int, largest: int) -> list[tuple[int, int]]:
    """Bounds of as few blocks as hold 0 … count − 1, of equal size but for one.

    No block is much smaller than the others: BLAS adds in another order in very small ones.
    """
    many = -(-count // max(largest, 1))
    edges = [count * k // max(many, 1) for k in range(many + 1)]
    return list(pairwise(edges))


def checked_labels(labels: npt.ArrayLike, n: int) -> Labels:
    """Labels as an array, or an error if they are not n whole numbers."""
    values = np.asarray(labels)
    if values.shape != (n,) or values.dtype.kind not in "iu":
        raise ValueError(
            f"labels have shape {values.shape} and dtype {values.dtype}; give {n} whole numbers"
        )
    return values.astype(np.intp)
