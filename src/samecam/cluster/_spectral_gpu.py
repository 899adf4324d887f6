"""Eigenvalues and eigenvectors of one connected part of a graph, on a GPU."""

from typing import Any, NamedTuple

import numpy as np
import torch

from samecam.arrays import Doubles
from samecam.compute import device_memory, format_bytes, torch_device
from samecam.errors import SamecamError

_ARRAYS = 6  # the matrix, its vectors and the work of the solver, n × n each
_ROWS = 4096


class Eigenpairs(NamedTuple):
    """All eigenvalues of I − matrix, ascending, and the first eigenvectors as columns."""

    all_values: Doubles
    vectors: Doubles

    @classmethod
    def of(cls, matrix: Any, most: int, device: str) -> "Eigenpairs":
        """Solve for D^−½ S D^−½, an array or CSR, and keep `most` vectors.

        The whole spectrum of the dense matrix, in float64 if there is room on the device,
        else in float32.
        """
        n = matrix.shape[0]
        where = torch_device(device)
        dense = torch.empty((n, n), dtype=_dtype(n, device), device=where)
        for start in range(0, n, _ROWS):
            rows = matrix[start : start + _ROWS]
            rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
            dense[start : start + _ROWS] = torch.from_numpy(np.ascontiguousarray(rows)).to(where)
        values, vectors = torch.linalg.eigh(dense)
        first = vectors[:, max(0, n - most) :].double().flip(1).cpu().numpy()
        return cls(1 - values.double().flip(0).cpu().numpy(), first)

    def values(self, count: int) -> Doubles:
        """The `count` smallest, ascending."""
        return self.all_values[:count]


def _dtype(n: int, device: str) -> Any:
    """The widest numbers that the device has room for."""
    free = device_memory(device)
    for dtype in (torch.float64, torch.float32):
        need = _ARRAYS * dtype.itemsize * n * n
        if need <= free:
            return dtype
    raise SamecamError(
        f"The spectrum of {n} linked photos takes {format_bytes(need)} and {device} has "
        f"{format_bytes(free)} free: choose a method that works in batches, or the device cpu."
    )
