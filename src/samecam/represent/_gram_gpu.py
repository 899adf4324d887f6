"""The Gram on a device: moved there within its memory, and looked at there."""

from typing import Any

import numpy as np
import torch

from samecam.compute import device_memory, format_bytes, torch_device
from samecam.errors import SamecamError
from samecam.represent import _checks

ROWS = 4096  # moved and looked at so many at a time


def on_device(gram: Any, device: str) -> Any:
    """The Gram as a contiguous tensor on the device; an array is moved if there is room."""
    where = torch.device(torch_device(device))
    if isinstance(gram, torch.Tensor):
        return _as_gram(gram).to(where).contiguous()
    array = _checks.as_gram(gram)
    if where.type == "cpu" and array.flags.writeable:
        return torch.from_numpy(array)
    free = device_memory(device)
    if array.nbytes > free:
        raise SamecamError(
            f"The correlations of {len(array)} photos take {format_bytes(array.nbytes)} and "
            f"{device} has {format_bytes(free)} free: choose a method that works in batches, or "
            "the device cpu."
        )
    dtype = torch.float64 if array.dtype == np.float64 else torch.float32
    out = torch.empty(array.shape, dtype=dtype, device=where)
    for a in range(0, len(array), ROWS):
        part = np.require(array[a : a + ROWS], requirements=["W"])  # PyTorch wants it writable
        out[a : a + ROWS] = torch.from_numpy(part)
    return out


def _as_gram(gram: Any) -> Any:
    """`gram`, a tensor, as float32 or float64, if it is square."""
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(_checks.not_square(tuple(gram.shape)))
    if gram.dtype in (torch.float32, torch.float64):
        return gram
    if not gram.dtype.is_floating_point:
        raise ValueError(f"gram has dtype {gram.dtype}: give real numbers, float32 or float64")
    return gram.float()


def check_gram(gram: Any) -> float:
    """Raise unless `gram` is finite, symmetric and has a diagonal of ones; return max |gram|.

    Allocates three blocks of 4096 rows at most; as `_checks.check_gram`, on the device.
    """
    n = len(gram)
    if n == 0:
        return 0.0
    parts = []
    for a in range(0, n, ROWS):
        upper = gram[a : a + ROWS, a:]
        low, high = torch.aminmax(upper)
        off = (upper - gram[a:, a : a + ROWS].T).abs_().amax()
        parts.append(torch.stack([-low, high, off]))
    diagonal = gram.diagonal()
    worst = (diagonal - 1).abs().argmax()
    below, above, asymmetry = torch.stack(parts).amax(0).tolist()
    largest = max(below, above)
    if not np.isfinite([largest, asymmetry]).all():
        raise ValueError(_not_finite(gram))
    i, value = int(worst), float(diagonal[worst])
    if abs(value - 1) > _checks.UNIT:
        raise ValueError(_checks.not_unit(i, value))
    if asymmetry > _checks.ASYMMETRY * largest:
        raise ValueError(_checks.not_symmetric(asymmetry))
    return float(largest)


def _not_finite(gram: Any) -> str:
    """Message about the first entry that is not finite."""
    for a in range(0, len(gram), ROWS):
        bad = (~torch.isfinite(gram[a : a + ROWS])).nonzero()
        if len(bad):
            i, j = bad[0].tolist()
            return _checks.not_finite(a + i, j, float(gram[a + i, j]))
    return "gram holds numbers whose differences are not finite: give correlations"
