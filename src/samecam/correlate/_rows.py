"""Fingerprints in the memory of a device, as they are stored, and how they get there."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import _int_mm

from samecam.arrays import Floats, Rows
from samecam.compute import format_bytes, full_precision, machine, torch_device
from samecam.correlate._strips import are_bits, pixels
from samecam.errors import SamecamError
from samecam.store import FingerprintStore, Record

Checks = npt.NDArray[np.uint32]

# Sides of what is multiplied are multiples of these; what is added is zero.
ROW_STEP, PIXEL_STEP = 32, 16
STRIP_LEAST = 64
_KINDS = {
    "int8": torch.int8,
    "float16": torch.float16,
    "float32": torch.float32,
    "uint64": torch.int64,  # words of bits
}
_BUFFER_BYTES = 2**29
_THREADS = 16
_WORK_BYTES = 2**28
# Part of the memory for rows that arrays of passing use may take beside them.
_WORK_SHARE = 8
# Pixels of int8 whose products add up below 2³¹.
_SLAB = 2**17


class DeviceRows(FingerprintStore):
    """Fingerprints on a device: row i is scales[i] · values[i]; nothing can be added.

    Attributes
    ----------
    values : (≥ n, ≥ d) int8, float16 or float32 tensor; what is beyond n and d is zero
    scales : (n,) float32 tensor
    work : bytes that arrays of passing use may take, at most
    """

    def __init__(
        self,
        values: torch.Tensor,
        scales: torch.Tensor,
        n_pixels: int,
        keys: Sequence[str] = (),
        hashes: Sequence[str] = (),
    ) -> None:
        self.values, self.scales, self.n_pixels = values, scales, n_pixels
        self._keys = list(keys) or [f"{i:09d}" for i in range(len(scales))]
        self._hashes = list(hashes) or [""] * len(scales)
        self.work = _WORK_BYTES

    @classmethod
    def load(cls, source: Any, device: str) -> "DeviceRows":
        """All rows of a store or an array, on a device that `choose_device` gave."""
        if isinstance(source, cls):
            return source
        (rows,) = cls.strips(source, device, length(source))
        if not isinstance(source, FingerprintStore):
            return rows
        return cls(rows.values, rows.scales, rows.n_pixels, source.keys, source.hashes)

    @classmethod
    def strips(cls, source: Any, device: str, width: int) -> "Iterator[DeviceRows]":
        """All rows, so many pixels at a time, in memory that is used again for the next strip.

        Of rows of bits the width counts words.
        """
        n, d = len(source), pixels(source)
        values, scales = empty_rows(source, n, min(width, length(source)), torch_device(device))
        rows, checks = np.arange(n, dtype=np.intp), np.zeros(n, dtype=np.uint32)
        many = word_pixels(source)
        for start in range(0, length(source), width):
            if start:
                values.zero_()
            for _ in uploaded(source, rows, start, values, scales, checks):
                pass
            yield cls(values, scales, min(many * width, d - many * start))

    def slabs(self) -> "Iterator[DeviceRows]":
        """All rows as numbers, some pixels at a time where they are kept as bits."""
        yield self

    def part(self, rows: Rows | None) -> "tuple[torch.Tensor, torch.Tensor]":
        """Values and scales of some rows, padded as all are."""
        if rows is None or np.array_equal(rows, np.arange(len(self))):
            return self.values, self.scales
        at = torch.as_tensor(rows, device=self.values.device)
        values = self.values.new_zeros((rounded(len(rows), ROW_STEP), self.values.shape[1]))
        torch.index_select(self.values, 0, at, out=values[: len(rows)])
        return values, self.scales[at]

    def weighted_sums(self, labels: Rows, weights: Floats, count: int) -> torch.Tensor:
        """Σ_{i∈c} weights[i] · row i of each group c, (count, d) float32; label −1 is in none."""
        where = self.values.device
        inside = np.flatnonzero(labels >= 0)
        order = torch.as_tensor(inside[np.argsort(labels[inside], kind="stable")], device=where)
        lengths = torch.as_tensor(np.bincount(labels[inside], minlength=count), device=where)
        factors = torch.as_tensor(weights, device=where)[order] * self.scales[order]
        out = torch.empty((count, self.n_pixels), dtype=torch.float32, device=where)
        step = max(1, self.work // max(12 * len(order), 1))
        for start in range(0, self.n_pixels, step):
            end = min(start + step, self.n_pixels)
            part = self.values[:, start:end][order].float() * factors[:, None]
            out[:, start:end] = torch.segment_reduce(
                part, "sum", lengths=lengths, axis=0, unsafe=True
            )
        return out

    def squared_norms(self) -> torch.Tensor:
        """‖row i‖², (n,) float32."""
        out = torch.empty_like(self.scales)
        step = max(1, self.work // (4 * self.values.shape[1]))
        for first in range(0, len(out), step):
            last = min(first + step, len(out))
            out[first:last] = self.values[first:last].float().square().sum(dim=1)
        return out * self.scales.square()

    def against(self, sums: torch.Tensor, out: torch.Tensor) -> None:
        """Add sums[c] · row i to out[c, i].

        Where rows are stored in 8 or 16 bits, sums are rounded to float16 on a GPU: that
        moves a result by about 3e-4 of what chance makes it scatter.
        """
        d, short = self.n_pixels, self.values.is_cuda and self.values.dtype is not torch.float32
        norms = sums.norm(dim=1, keepdim=True).clamp_min(1e-30) / d**0.5
        left = (sums / norms).to(torch.float16 if short else torch.float32)
        padded = left.new_zeros((len(left), self.values.shape[1]))
        padded[:, :d] = left
        step = max(ROW_STEP, self.work // self.values.shape[1] // ROW_STEP * ROW_STEP)
        for first in range(0, len(self), step):
            last = min(first + step, len(self))
            right = self.values[first:last].to(left.dtype)
            share = product(padded, right)
            out[:, first:last] += share * norms * self.scales[first:last]

    def narrowed(self, start: int, end: int) -> "DeviceRows":
        """Some pixels of all rows, not copied."""
        part = DeviceRows(self.values[:, start:end], self.scales, end - start, self._keys)
        part.work = self.work
        return part

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the rows."""
        return self._keys

    @property
    def hashes(self) -> Sequence[str]:
        """SHA-256 of the rows, where known."""
        return self._hashes

    @property
    def row_bytes(self) -> int:
        """Bytes that reading one row takes."""
        return 4 * self.n_pixels

    def records(self) -> list[Record]:
        """One record a row."""
        pairs = zip(self._keys, self._hashes, strict=True)
        return [Record(key, sha256, {}, self.frame) for key, sha256 in pairs]

    def columns(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        values, scales = self.part(rows)
        for start in range(0, self.n_pixels, width):
            part = values[: len(scales), start : min(start + width, self.n_pixels)]
            yield start, (part.float() * scales[:, None]).cpu().numpy()

    def read_into(self, rows: Rows, out: Floats) -> None:
        """See `FingerprintStore.read_into`."""
        for _, part in self.columns(self.n_pixels, rows):
            out[:] = part


def strips_on(source: Any, device: str, memory: int) -> Iterator[DeviceRows]:
    """All rows on a device as one `DeviceRows` after another, so many pixels each as fit."""
    strips = iter([source])
    if not isinstance(source, DeviceRows):
        strips = rows_type(source).strips(source, device, strip_width(source, memory))
    for rows in strips:
        rows.work = min(rows.work, max(memory, 0) // _WORK_SHARE)
        yield rows


def rows_type(source: Any) -> type[DeviceRows]:
    """What rows are on a device."""
    from samecam.correlate._device_bits import DeviceBits, DevicePairs

    if not are_bits(source):
        return DeviceRows
    return DeviceBits if source.planes == 1 else DevicePairs


def word_pixels(source: Any) -> int:
    """Pixels for each number of a row on a device."""
    return 64 // source.planes if are_bits(source) else 1


def rounded(count: int, step: int) -> int:
    """The next multiple of `step`."""
    return -(-count // step) * step


def kind_of(source: Any) -> np.dtype[Any]:
    """Number type of rows on a device: as they are stored."""
    return source.kind if isinstance(source, FingerprintStore) else np.dtype(np.float32)


def length(source: Any) -> int:
    """Numbers of a row on a device: pixels, or words of bits."""
    return source.n_words if are_bits(source) else pixels(source)


def steps(source: Any) -> tuple[int, int]:
    """What the numbers of a row are a multiple of on a device, and the fewest of a strip."""
    return (source.planes, source.planes) if are_bits(source) else (PIXEL_STEP, STRIP_LEAST)


def row_bytes(source: Any) -> int:
    """Bytes of a row on a device."""
    return kind_of(source).itemsize * rounded(length(source), steps(source)[0])


def strip_width(source: Any, memory: int) -> int:
    """Pixels (or words) of all rows that fit into `memory` bytes; an error if hardly any do."""
    row, (step, least) = (
        kind_of(source).itemsize * max(rounded(len(source), ROW_STEP), 1),
        steps(source),
    )
    most = memory // row // step * step
    if most < min(least, length(source)):
        raise SamecamError(
            f"The memory budget leaves {format_bytes(max(memory, 0))} for the pixels of "
            f"{len(source)} photos, too little: raise it."
        )
    return int(min(most, rounded(length(source), step)))


def empty_rows(source: Any, n: int, width: int, where: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Zeros for n rows of some pixels (or words), and for their scales."""
    shape = (rounded(n, ROW_STEP), rounded(width, steps(source)[0]))
    values = torch.zeros(shape, dtype=_KINDS[kind_of(source).name], device=where)
    return values, torch.ones(n, dtype=torch.float32, device=where)


def uploaded(
    source: Any,
    rows: Rows,
    start: int,
    values: torch.Tensor,
    scales: torch.Tensor,
    checks: Checks,
) -> Iterator[tuple[int, int]]:
    """Fill `values` with pixels (or words) from `start` on; (first, last) as rows are there.

    Threads read the next run from the store into one of two pinned buffers while the one
    before goes to the device and is worked on. `checks` are the rows' checksums so far.
    """
    width = min(values.shape[1], length(source) - start)
    step = max(ROW_STEP, _BUFFER_BYTES // (width * values.element_size()) // ROW_STEP * ROW_STEP)
    step = min(step, rounded(len(rows), ROW_STEP))
    pinned = values.is_cuda
    buffers = [torch.empty((step, width), dtype=values.dtype, pin_memory=pinned) for _ in "ab"]
    free: list[Any] = [None, None]
    stream = torch.cuda.Stream(values.device) if pinned else None
    if stream is not None:  # what was there before is still worked on, and cleared
        stream.wait_stream(torch.cuda.current_stream(values.device))
    n_threads = min(_THREADS, machine().cores)

    def read(first: int) -> tuple[int, Floats]:
        some = rows[first : first + step]
        which = first // step % 2
        if free[which] is not None:
            free[which].synchronize()
        factors = np.ones(len(some), dtype=np.float32)
        target, sums = buffers[which][: len(some)].numpy(), checks[first : first + step]
        target = target.view(kind_of(source))
        if isinstance(source, FingerprintStore):
            source.read_stored(some, target, factors, start=start, checks=sums, n_threads=n_threads)
        else:
            target[:] = source[some, start : start + width]
        return which, factors

    starts = range(0, len(rows), step)
    with ThreadPoolExecutor(1) as reader:
        following: Future[tuple[int, Floats]] = reader.submit(read, 0)
        for first in starts:
            which, factors = following.result()
            last = first + len(factors)
            if stream is None:
                values[first:last, :width] = buffers[which][: last - first]
            else:
                with torch.cuda.stream(stream):
                    part = values[first:last, :width]
                    part.copy_(buffers[which][: last - first], non_blocking=True)
                    free[which] = torch.cuda.Event()
                    free[which].record(stream)
                torch.cuda.current_stream(values.device).wait_stream(stream)
            if last < len(rows):  # before the scales, whose copy waits for what was begun
                following = reader.submit(read, first + step)
            scales[first:last] = torch.from_numpy(factors)
            yield first, last


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A Bᵀ in float32: of int8 sums exact to float32, of float16 sums in float32."""
    if a.dtype is torch.int8:
        out = torch.zeros((len(a), len(b)), dtype=torch.float32, device=a.device)
        for start in range(0, a.shape[1], _SLAB):
            part = slice(start, start + _SLAB)
            out += whole_product(a[:, part], b[:, part])
        return out
    if a.dtype is torch.float16 and a.is_cuda:
        return torch.mm(a, b.t(), out_dtype=torch.float32)
    with full_precision():
        return a.float() @ b.float().t()


def whole_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A Bᵀ of int8 in int32."""
    return _int_mm(a, b.t())
