"""The coarse search on a GPU (or, for tests, in PyTorch on the processor).

A pattern P at a scale is D P Aᵀ with the weights of `_resample.taps`, dense: two matrix products.
On a GPU they are of float16, summed in float32; that changes a sign now and then where a number
is nearly 0. All rows are ±1 and ±3 in int8 as `_kernels.pack_pairs` makes them, and their
products are exact.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import _int_mm
from torch.nn.functional import avg_pool1d, pad

from samecam.arrays import Doubles
from samecam.compute import full_precision, torch_device
from samecam.register._resample import Pattern, middle, taps
from samecam.register._rows import CAMERA, MAD, PEAKS, PICTURE, USUAL, WIDE, Place, Top, level_of
from samecam.register._rows import signs as random_signs

# Sides of what is multiplied are multiples of this; what is added is zero.
_STEP = 32
# Scales that are worked on at a time, and numbers whose medians are taken at a time.
_BLOCK, _SORTED = 64, 2**26


class DeviceMiddles:
    """As `_rows.Middles`, on a device that `choose_device` gave."""

    def __init__(
        self,
        cameras: Sequence[Callable[[], Pattern]],
        spots: Sequence[Place],
        side: int,
        device: str,
    ) -> None:
        self._where, self._side, self._spots = torch_device(device), side, len(spots)
        shape = (_rounded(len(cameras) * len(spots)), side * side)
        self._values = torch.zeros(shape, dtype=torch.int8, device=self._where)
        self._norms = torch.ones(shape[0], device=self._where)
        for k, pattern in enumerate(cameras):
            given = pattern()
            for start in range(0, len(spots), _BLOCK):
                some = self._placed(given, spots[start : start + _BLOCK])
                first = k * len(spots) + start
                self._values[first : first + len(some)] = some
                self._norms[first : first + len(some)] = _norms(some)

    def _placed(self, pattern: Pattern, spots: Sequence[Place]) -> torch.Tensor:
        """As `_rows.placed_rows`, numbers."""
        reach, side = max(max(abs(x), abs(y)) for _, x, y in spots), self._side
        wide = middle(pattern, (side + 2 * reach, side + 2 * reach))
        window = torch.from_numpy(np.ascontiguousarray(wide)).to(self._where)
        rows = torch.empty((len(spots), side, side), dtype=torch.float32, device=self._where)
        for row, (turning, x, y) in zip(rows, spots, strict=True):
            part = window[reach + y : reach + y + side, reach + x : reach + x + side]
            part = part.flip(1) if turning.mirrored else part
            row.copy_(torch.rot90(part, -(turning.turn // 90)).t())  # column by column
        return _numbers(rows.flatten(1), CAMERA)

    def highest(self, picture: Pattern, scales: Doubles, chosen: Sequence[int]) -> list[list[Top]]:
        """See `Middles.highest`."""
        low, high = min(chosen), max(chosen) + 1
        first = low * self._spots // _STEP * _STEP
        last = _rounded(high * self._spots)
        values, norms = self._values[first:last], self._norms[first:last]
        products = norms.new_empty((len(scales), len(values)))
        source = _Source(picture, self._where)
        for start in range(0, len(scales), _BLOCK):
            some = scales[start : start + _BLOCK]
            rows = _numbers(source.scaled(some, self._side), PICTURE)
            whole = _int_mm(pad(rows, (0, 0, 0, _rounded(len(rows)) - len(rows))), values.t())
            part = whole[: len(rows)] * norms
            products[start : start + len(rows)] = part * _norms(rows)[:, None]
        begin = low * self._spots - first
        products = products[:, begin : begin + (high - low) * self._spots]
        products = products.unflatten(1, (high - low, self._spots))
        return _tops(products, [k - low for k in chosen])


class _Source:
    """A picture's pattern on a device, and smaller where that is asked for."""

    def __init__(self, pattern: Pattern, where: str) -> None:
        self._where = where
        self._by = {1.0: torch.tensor(pattern, device=where).to(_kind(where))}

    def scaled(self, scales: Doubles, side: int) -> torch.Tensor:
        """As `_rows.scaled_rows`, before it is packed: (scales, side²), column by column."""
        out = torch.empty((len(scales), side, side), dtype=torch.float32, device=self._where)
        for target, scale in zip(out, scales, strict=True):
            by = level_of(float(scale))
            target.copy_(_reduced(self._reduced_by(by), float(scale) / by, (side, side)).t())
        return out.flatten(1)

    def _reduced_by(self, by: float) -> torch.Tensor:
        if by not in self._by:
            height, width = self._by[1.0].shape
            small = _reduced(self._by[1.0], by, (int(height / by), int(width / by)))
            self._by[by] = small.to(_kind(self._where))
        return self._by[by]


def _kind(where: str) -> torch.dtype:
    """Numbers whose products are fast."""
    return torch.float32 if where == "cpu" else torch.float16


def _reduced(source: torch.Tensor, scale: float, shape: tuple[int, int]) -> torch.Tensor:
    """As `_resample.reduced`."""
    where = str(source.device)
    rows, columns = (_weights(source.shape[k], scale, shape[k], where) for k in range(2))
    part = source[rows.low : rows.high, columns.low : columns.high]
    down, across = rows.dense(source.dtype), columns.dense(source.dtype)
    return _product(_product(down, part).to(source.dtype), across.t())


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A B in float32."""
    if a.dtype is torch.float16:
        return torch.mm(a, b, out_dtype=torch.float32)
    with full_precision():
        return a @ b


class _Weights(NamedTuple):
    """Weights of an axis: which numbers of it count, and how much in each result."""

    low: int
    high: int
    at: torch.Tensor
    weights: torch.Tensor

    def dense(self, kind: torch.dtype) -> torch.Tensor:
        """(results, high − low)."""
        out = self.weights.new_zeros((len(self.at), self.high - self.low))
        return out.scatter_add_(1, self.at, self.weights).to(kind)


@lru_cache(maxsize=8192)
def _weights(size: int, scale: float, n: int, where: str) -> _Weights:
    first, weights = taps(size, scale, n)
    low = max(int(first.min()), 0) // 8 * 8
    high = min(_rounded(int(first.max()) + weights.shape[1] - low) + low, size)
    at = first[:, np.newaxis] + np.arange(weights.shape[1]) - low
    at = np.clip(at, 0, high - low - 1)  # what is beyond has no weight
    return _Weights(low, high, torch.from_numpy(at).to(where), torch.from_numpy(weights).to(where))


def _numbers(values: torch.Tensor, kind: int) -> torch.Tensor:
    """±1 below each row's root mean square and ±3 above, int8; chance where there is nothing."""
    nothing = values == 0
    count = (~nothing).sum(dim=1, keepdim=True).clamp_(min=1)
    rms = (values.square().sum(dim=1, keepdim=True) / count).sqrt_()
    chance = _chance(values.shape[1], kind, str(values.device))
    sizes = torch.where(values.abs() < rms, 1, 3).to(torch.int8)
    return torch.where(nothing, chance, values.sign().to(torch.int8)).mul_(sizes)


@lru_cache(maxsize=8)
def _chance(n: int, kind: int, where: str) -> torch.Tensor:
    bits = np.unpackbits(random_signs(n // 64, kind).view(np.uint8), bitorder="little")
    return torch.from_numpy(2 * bits.astype(np.int8) - 1).to(where)


def _norms(rows: torch.Tensor) -> torch.Tensor:
    """1 / ‖row‖ of rows of ±1 and ±3, float32."""
    large = (rows.abs() == 3).sum(dim=1)
    return (rows.shape[1] + 8 * large).double().rsqrt().float()


def _tops(products: torch.Tensor, chosen: Sequence[int]) -> list[list[Top]]:
    """As `_rows._tops`, of products (scales, cameras, places)."""
    tops: list[list[Top]] = []
    n, _, spots = products.shape
    step = max(1, _SORTED // (n * spots))
    for start in range(0, len(chosen), step):
        at = torch.tensor(chosen[start : start + step], device=products.device)
        tops += _tops_of(products[:, at].permute(1, 0, 2).contiguous())
    return tops


def _tops_of(products: torch.Tensor) -> list[list[Top]]:
    """The same of products (cameras, scales, places)."""
    scores = _against_usual(products - _median(products))
    scores = torch.minimum(scores, _against_usual(products))
    cameras, n, spots = scores.shape
    lines = torch.arange(n, device=scores.device)
    made = []
    for _ in range(PEAKS):
        highest, at = scores.flatten(1).max(dim=1)
        made.append(zip(highest.tolist(), at.tolist(), strict=True))
        near = (lines - at[:, None] // spots).abs() <= WIDE
        scores.masked_fill_(near[:, :, None], -torch.inf)
    peaks = [[Top(score, place // spots, place % spots) for score, place in some] for some in made]
    return [[peaks[k][camera] for k in range(PEAKS)] for camera in range(cameras)]


def _against_usual(products: torch.Tensor) -> torch.Tensor:
    """As `_rows._against_usual`."""
    spread = _median(products.abs())[:, :, 0].double().square()
    half = USUAL // 2
    edges = torch.cat(
        [spread[:, :1].expand(-1, half), spread, spread[:, -1:].expand(-1, half)], dim=1
    )
    usual = avg_pool1d(edges, USUAL, stride=1).clamp_(min=0).sqrt_().mul_(MAD)
    return products / usual.clamp_(min=1e-30)[:, :, None].float()


def _median(values: torch.Tensor) -> torch.Tensor:
    """Along the last axis, which is kept: the mean of the two in the middle."""
    n = values.shape[-1]
    ordered = values.sort(dim=-1).values
    return (ordered[..., (n - 1) // 2 : (n - 1) // 2 + 1] + ordered[..., n // 2 : n // 2 + 1]) / 2


def _rounded(count: int) -> int:
    return -(-count // _STEP) * _STEP
