"""Correlations of all pairs: the Gram matrix, on the processor or on a GPU."""

from typing import Any

import numpy as np
import numpy.typing as npt

from samecam.arrays import Floats
from samecam.compute import choose_device, retry_with_less_memory, torch_device
from samecam.correlate import _cpu
from samecam.correlate._progress import Progress
from samecam.correlate._strips import DEFAULT_MEMORY, Source, are_bits
from samecam.store import FingerprintStore


def gram(
    source: Source,
    *,
    rows: npt.NDArray[np.integer] | None = None,
    memory: int = DEFAULT_MEMORY,
    out: Floats | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
) -> Floats:
    """Correlations G = X Xᵀ of all rows, (n, n) float32, symmetric, unit diagonal.

    Only one triangle is computed. Rows are taken in parts of some pixels, all rows at a
    time, so that every byte of a store is read once, if the result fits the budget. If
    `out` does not (a memory map, say), square tiles of it are computed one after another
    and a row is read once per tile it takes part in.

    Parameters
    ----------
    source : a store, or an (n, d) array; rows of zero mean and unit norm
    rows : row numbers to take, default all
    memory : bytes for everything held at a time, the result included unless `out` is given
    out : (n, n) float32 array to write to
    device : "cpu", "cuda", "cuda:1", … or "auto"; on a GPU `memory` is of its own memory, and
        `out` may not be larger than that
    progress : called with photos done and all photos
    """
    used = choose_device(device)
    if used == "cpu":
        return _cpu.gram(source, rows=rows, memory=memory, out=out, progress=progress)

    def on_device(budget: int) -> Floats:
        tensor = gram_on(source, rows=rows, memory=budget, device=used, progress=progress)
        result: Floats = tensor.cpu().numpy()
        return result

    result = retry_with_less_memory(on_device, memory, used)
    if out is None:
        return result
    _cpu.check_out(out, len(result), len(result))
    out[:] = result
    return out


def gram_on(
    source: Source,
    *,
    rows: npt.NDArray[np.integer] | None = None,
    memory: int = DEFAULT_MEMORY,
    device: str,
    progress: Progress | None = None,
) -> Any:
    """As `gram`, left where it was computed: an array, or a tensor on the GPU."""
    if device == "cpu":
        return _cpu.gram(source, rows=rows, memory=memory, progress=progress)
    from samecam.correlate import _gpu

    chosen = None if rows is None else np.asarray(rows, dtype=np.intp)
    return _gpu.gram(source, rows=chosen, memory=memory, device=device, progress=progress)


def gram_to(gram: npt.NDArray[np.floating], device: str) -> Any:
    """A Gram matrix where it is worked on: itself, or its copy on a GPU in float32."""
    if device == "cpu":
        return gram
    import torch

    return torch.tensor(gram, dtype=torch.float32, device=torch_device(device))


def rows_on(source: Source, device: str, memory: int) -> Source:
    """Fingerprints in memory, if they fit into `memory` bytes: of a GPU as they are stored.

    On the processor rows of numbers become an array of float32, to be read again and again. What
    does not fit, and rows of bits on the processor, are `source` itself.
    """
    if device == "cpu":
        if are_bits(source) or not isinstance(source, FingerprintStore):
            return source
        fits = 4 * len(source) * source.n_pixels <= memory
        return source.read(np.arange(len(source), dtype=np.intp)) if fits else source
    from samecam.correlate import _rows

    if _rows.row_bytes(source) * len(source) > memory:
        return source
    return _rows.rows_type(source).load(source, device)
