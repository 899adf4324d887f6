"""Correlations on a GPU (or, for tests, in PyTorch on the processor)."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from samecam.arrays import Doubles, Rows
from samecam.compute import default_memory, format_bytes, torch_device
from samecam.correlate._device_bits import DeviceBits, DevicePairs
from samecam.correlate._progress import PhotoCount, Progress
from samecam.correlate._rows import (
    ROW_STEP,
    DeviceRows,
    empty_rows,
    kind_of,
    length,
    product,
    rounded,
    steps,
    uploaded,
    whole_product,
    word_pixels,
)
from samecam.correlate._strips import are_bits, pixels
from samecam.errors import SamecamError
from samecam.store import FingerprintStore

# Rows multiplied at a time, at most.
_BLOCK = 4096
_WORK_BYTES = 2**28


def gram(
    source: Any,
    *,
    rows: Rows | None = None,
    memory: int | None = None,
    device: str,
    progress: Progress | None = None,
) -> torch.Tensor:
    """Correlations of all rows as `correlate.gram`, a tensor on the device.

    Rows stay as they are stored: bits and int8 are multiplied exactly, float16 with float32 sums.
    Each byte of the store is read once and goes through a pinned buffer; a run of rows is
    multiplied with all before it while the next is read. Where not all pixels of all rows fit
    beside the result, strips of pixels follow one another.

    Parameters
    ----------
    memory : bytes on the device, the result included; default and at most nine tenths of what is
        free (of PyTorch's processor half): libraries take some for themselves
    progress : called with photos done and all photos
    """
    most = default_memory(device)
    budget = most if memory is None else min(memory, most)
    chosen = np.arange(len(source)) if rows is None else np.asarray(rows, dtype=np.intp)
    n, where = len(chosen), torch_device(device)
    if n == 0:
        return torch.zeros((0, 0), dtype=torch.float32, device=where)
    if are_bits(source):
        return _gram_of_bits(source, chosen, budget, device, progress)
    width = 0 if isinstance(source, DeviceRows) else _strip(source, n, budget)
    out = torch.zeros((n, n), dtype=torch.float32, device=where)
    scales = out.new_ones(n)
    count = PhotoCount(n, n * pixels(source), progress)
    if isinstance(source, DeviceRows):
        values, scales = source.part(rows)
        _add_products(out, values, 0, n)
        count.add(n * pixels(source))
    else:
        values, scales = empty_rows(source, n, width, where)
        checks = np.zeros(n, dtype=np.uint32)
        for start in range(0, pixels(source), width):
            if start:
                values.zero_()
            for first, last in uploaded(source, chosen, start, values, scales, checks):
                _add_products(out, values, first, last)
                count.add((last - first) * min(width, pixels(source) - start))
    out.mul_(scales[:, None]).mul_(scales)
    _mirror(out)
    out.fill_diagonal_(1)
    return out


def _gram_of_bits(
    source: FingerprintStore, chosen: Rows, budget: int, device: str, progress: Progress | None
) -> torch.Tensor:
    """The same of rows of bits, unpacked some pixels at a time: whole numbers to the end."""
    n, d, work = len(chosen), source.n_pixels, min(_WORK_BYTES, budget // 8)
    scales = torch.ones(0)
    sums = torch.zeros((n, n), dtype=torch.int32, device=torch_device(device))
    if isinstance(source, DeviceBits):
        count = PhotoCount(n, n * d, progress)
        strips = iter([type(source)(*source.part(chosen), d)])
    else:
        count = PhotoCount(n, 2 * n * d, progress)  # of reading, and of multiplying
        strips = _uploaded_bits(source, chosen, _strip(source, n, budget - work), device, count)
    for rows in strips:
        rows.work, scales = work, rows.scales.double()
        for slab in rows.slabs():
            _add_products(sums, slab.values, 0, n, whole_product)
            count.add(n * slab.n_pixels)
    out = sums.view(torch.float32)
    step = max(1, work // (8 * n))
    for start in range(0, n, step):
        part = sums[start : start + step].double()
        if source.planes == 1:
            part /= d
        else:
            part *= scales[start : start + step, None]
            part *= scales
        out[start : start + step] = part.float()
    _mirror(out)
    out.fill_diagonal_(1)
    return out


def _uploaded_bits(
    source: FingerprintStore, chosen: Rows, width: int, device: str, count: PhotoCount
) -> Iterator[DeviceBits]:
    """Some rows, so many words at a time, in memory that is used again."""
    n, d, many = len(chosen), source.n_pixels, word_pixels(source)
    kind = DeviceBits if source.planes == 1 else DevicePairs
    values, scales = empty_rows(source, n, width, torch_device(device))
    checks = np.zeros(n, dtype=np.uint32)
    for start in range(0, source.n_words, width):
        if start:
            values.zero_()
        here = min(many * width, d - many * start)
        for first, last in uploaded(source, chosen, start, values, scales, checks):
            count.add((last - first) * here)
        yield kind(values, scales, here)


def _block(n: int) -> int:
    """Rows multiplied at a time: many, but an eighth of all at most, since they take as much."""
    return min(_BLOCK, max(ROW_STEP, rounded(n // 8, ROW_STEP)))


def _strip(source: Any, n: int, budget: int) -> int:
    """Pixels (or words) of all rows that fit beside the result."""
    row, (step, least) = kind_of(source).itemsize * rounded(n, ROW_STEP), steps(source)
    room = budget - 4 * n * n - 8 * min(_block(n), n) * n
    most = room // max(row, 1) // step * step
    if most < min(least, length(source)):
        need = 4 * n * n + 8 * min(_block(n), n) * n + row * least
        raise SamecamError(
            f"The correlations of {n} photos take {format_bytes(need)} and the memory budget "
            f"is {format_bytes(budget)}: raise it, or cluster fewer at a time."
        )
    return min(length(source), int(most))


def _add_products(
    out: torch.Tensor,
    values: torch.Tensor,
    first: int,
    last: int,
    multiply: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = product,
) -> None:
    """Add the products of rows first … last − 1 with all up to the last of them."""
    step = _block(len(out))
    for top in range(first, last, step):
        bottom = min(top + step, last)
        end = rounded(bottom, ROW_STEP)
        share = multiply(values[top:end], values[:end])
        out[top:bottom, :bottom] += share[: bottom - top, :bottom]


def _mirror(matrix: torch.Tensor) -> None:
    """Copy the lower triangle to the upper one, by blocks."""
    n = len(matrix)
    for top in range(0, n, _BLOCK):
        end = min(top + _BLOCK, n)
        block = matrix[top:end, top:end]
        block.copy_(torch.tril(block) + torch.tril(block, -1).t())
        matrix[top:end, end:] = matrix[end:, top:end].t()


def row_sums(gram: torch.Tensor) -> Doubles:
    """Sum of each row, in float64."""
    sums: Doubles = gram.sum(dim=1, dtype=torch.float64).cpu().numpy()
    return sums


def square_part(gram: torch.Tensor, rows: Rows) -> Doubles:
    """Some rows, and the same columns."""
    at = torch.as_tensor(rows, device=gram.device)
    part: Doubles = gram[at][:, at].double().cpu().numpy()
    return part


def negative_squares(gram: torch.Tensor) -> tuple[Doubles, Doubles]:
    """Sum of the squares of the negative entries of each row, and their number."""
    n = len(gram)
    squares, many = gram.new_empty((2, n), dtype=torch.float64)
    step = max(1, _WORK_BYTES // max(8 * n, 1))
    for start in range(0, n, step):
        negative = gram[start : start + step].clamp(max=0).double()
        squares[start : start + step] = negative.square().sum(dim=1)
        many[start : start + step] = (negative < 0).sum(dim=1)
    return squares.cpu().numpy(), many.cpu().numpy()
