"""Rows of bits in the memory of a device: words, unpacked to int8 some pixels at a time."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from samecam.arrays import Floats, Rows, Words
from samecam.correlate._rows import DeviceRows

# Bytes that unpacking 64 pixels takes: as many numbers of int8, and an int32 for each of 8 bytes;
# of two bits a pixel three of these.
_WORD_BYTES, _PAIR_BYTES = 64 + 8 * 4, 64 + 3 * 8 * 4


class DeviceBits(DeviceRows):
    """Rows of one bit a pixel on a device; nothing can be added.

    Attributes
    ----------
    values : (≥ n, n_words) int64 tensor, the words
    scales : (n,) float32 tensor, 1/√d of whole rows
    """

    _bytes = _WORD_BYTES

    @property
    def kind(self) -> np.dtype[Any]:
        """Words."""
        return np.dtype(np.uint64)

    def slabs(self) -> Iterator[DeviceRows]:
        """All rows as numbers in int8, so many pixels at a time as the work bytes allow."""
        step = max(1, self.work // (self._bytes * max(len(self.values), 1)))
        for start in range(0, self.n_pixels, 64 * step):
            end = min(start + 64 * step, self.n_pixels)
            slab = self._numbers(self._unpacked(start, end), end - start)
            slab.values[:, slab.n_pixels :] = 0
            yield slab

    def _unpacked(self, start: int, end: int) -> torch.Tensor:
        """Numbers of the words that pixels start … end − 1 are in."""
        return unpacked(self.values[:, start // 64 : -(-end // 64)])

    def _numbers(self, values: torch.Tensor, n_pixels: int) -> DeviceRows:
        """Some pixels of the rows."""
        part = Signs(values, self.scales, n_pixels)
        part.work = self.work
        return part

    def weighted_sums(self, labels: Rows, weights: Floats, count: int) -> torch.Tensor:
        """See `DeviceRows.weighted_sums`."""
        out = self.scales.new_empty((count, self.n_pixels))
        for start, slab in self._placed():
            part = slab.weighted_sums(labels, weights, count)
            out[:, start : start + slab.n_pixels] = part
        return out

    def squared_norms(self) -> torch.Tensor:
        """See `DeviceRows.squared_norms`."""
        return self.n_pixels * self.scales.square()

    def against(self, sums: torch.Tensor, out: torch.Tensor) -> None:
        """See `DeviceRows.against`."""
        for start, slab in self._placed():
            slab.against(sums[:, start : start + slab.n_pixels], out)

    def _placed(self) -> Iterator[tuple[int, DeviceRows]]:
        """(first pixel, slab)."""
        start = 0
        for slab in self.slabs():
            yield start, slab
            start += slab.n_pixels

    def narrowed(self, start: int, end: int) -> DeviceRows:
        """Some pixels of all rows, as numbers."""
        values = self._unpacked(start, end)[:, start % 64 : start % 64 + end - start]
        return self._numbers(values, end - start)

    def words(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Words]]:
        """See `FingerprintStore.words`."""
        values, scales = self.part(rows)
        width = self.whole_words(width)
        for start in range(0, self.n_words, width):
            some = values[: len(scales), start : start + width].contiguous()
            yield start, some.cpu().numpy().view(np.uint64)

    def columns(self, width: int, rows: Rows | None = None) -> Iterator[tuple[int, Floats]]:
        """See `FingerprintStore.columns`."""
        values, scales = self.part(rows)
        some = type(self)(values, scales, self.n_pixels)
        for start in range(0, self.n_pixels, width):
            part = some.narrowed(start, min(start + width, self.n_pixels)).values[: len(scales)]
            yield start, (part.float() * scales[:, None]).cpu().numpy()

    def read_stored(
        self,
        rows: npt.NDArray[np.intp],
        out: npt.NDArray[Any],
        scales: Floats,
        *,
        start: int = 0,
        checks: npt.NDArray[np.uint32] | None = None,
        n_threads: int = 1,
    ) -> None:
        """See `FingerprintStore.read_stored`."""
        del checks, n_threads  # for stores that lie on a disk
        values, factors = self.part(rows)
        part = values[: len(rows), start : start + out.shape[1]].contiguous()
        out[:] = part.cpu().numpy().view(np.uint64)
        scales[:] = factors.cpu().numpy()


class DevicePairs(DeviceBits):
    """Rows of two bits a pixel on a device; nothing can be added."""

    _bytes = _PAIR_BYTES

    @property
    def planes(self) -> int:
        """Bits a pixel."""
        return 2

    def squared_norms(self) -> torch.Tensor:
        """See `DeviceRows.squared_norms`."""
        out = torch.zeros_like(self.scales)
        for slab in self.slabs():
            out += slab.squared_norms()
        return out

    def _unpacked(self, start: int, end: int) -> torch.Tensor:
        """Numbers of the words that pixels start … end − 1 are in."""
        return unpacked_pairs(self.values[:, 2 * (start // 64) : 2 * -(-end // 64)])

    def _numbers(self, values: torch.Tensor, n_pixels: int) -> DeviceRows:
        """Some pixels of the rows."""
        part = DeviceRows(values, self.scales, n_pixels)
        part.work = self.work
        return part


class Signs(DeviceRows):
    """Rows of ±1 in int8."""

    def squared_norms(self) -> torch.Tensor:
        """See `DeviceRows.squared_norms`."""
        return self.n_pixels * self.scales.square()


def unpacked(words: torch.Tensor) -> torch.Tensor:
    """Bits as ±1, (n, 64 · words) int8, eight at a time from a table of all bytes."""
    index = words.contiguous().view(torch.uint8).flatten().int()
    signs = torch.index_select(_signs_of_bytes(words.device), 0, index)
    return signs.view(torch.int8).view(len(words), -1)


def unpacked_pairs(words: torch.Tensor) -> torch.Tensor:
    """Two bits as ±1 and ±3, (n, 32 · words) int8, eight at a time from a table of all bytes."""
    pairs = words.contiguous().view(torch.uint8).view(len(words), -1, 2, 8)
    index = pairs[:, :, 1].int().mul_(256).add_(pairs[:, :, 0]).flatten()
    numbers = torch.index_select(_numbers_of_bytes(words.device), 0, index)
    return numbers.view(torch.int8).view(len(words), -1)


@cache
def _numbers_of_bytes(device: torch.device) -> torch.Tensor:
    """(65536,) int64: the eight numbers of a byte of signs and, times 256, one of small ones."""
    bits = np.arange(65536)[:, np.newaxis] >> np.arange(16) & 1
    numbers = (2 * bits[:, :8] - 1) * (3 - 2 * bits[:, 8:])
    return torch.as_tensor(numbers.astype(np.int8).view(np.int64).ravel(), device=device)


@cache
def _signs_of_bytes(device: torch.device) -> torch.Tensor:
    """(256,) int64: the eight signs of each byte."""
    bits = np.arange(256)[:, np.newaxis] >> np.arange(8) & 1
    signs = (2 * bits - 1).astype(np.int8).view(np.int64).ravel()
    return torch.as_tensor(signs, device=device)
