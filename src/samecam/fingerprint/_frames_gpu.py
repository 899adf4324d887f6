"""Rows of whole pictures with PyTorch, on a GPU.

The steps are those of `_frame`. An axis is transformed by eight multiplications and additions of
its even and odd places, gathered with their symmetric border: at thousands of pixels a side the
matrices of `_gpu` would cost hundreds of operations a pixel. No number depends on the pictures
beside it: what goes over a whole picture is added up for each by itself.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from samecam import compute
from samecam.errors import SamecamError
from samecam.fingerprint._colour import colour
from samecam.fingerprint._fingerprint import LEAST_RESIDUAL
from samecam.fingerprint._frame import (
    FLAT_LEVEL,
    NO_RESIDUAL,
    STEPS,
    FrameKind,
    FrameRow,
    bit_scale,
)
from samecam.fingerprint._gpu import (
    MIDDLE,
    least_mean,
    spun,
    subtract_means,
    subtract_phase_means,
    uploads,
)
from samecam.fingerprint._wavelet import HIGH, LEVELS, LOW
from samecam.fingerprint._weigh_gpu import weigh

Tensor: TypeAlias = torch.Tensor
Pictures = Sequence[npt.NDArray[np.generic]]
Quantised: TypeAlias = tuple[npt.NDArray[Any] | None, float]

GROUP = 4
_MEASURERS = 4  # threads
_BYTES = 72  # of work arrays a pixel
_GATHER = 0x0102040810204080  # see `_quantise`
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def frame_rows(
    pictures: Pictures,
    seeds: Sequence[int],
    dtype: FrameKind,
    sigma: float,
    spins: int,
    weighed: bool,
    device: str,
    memory: int | None,
) -> list[FrameRow | None]:
    """Rows of pictures of one shape; see `samecam.fingerprint.frame_rows`."""
    budget = compute.default_memory(device) if memory is None else memory
    need = _BYTES * (pictures[0].shape[0] + 16) * (pictures[0].shape[1] + 16)
    group = max(1, min(GROUP, len(pictures), budget // need))
    rows: list[Future[FrameRow | None]] = []
    with ThreadPoolExecutor(_MEASURERS) as measurers:  # while the device goes on
        while len(rows) < len(pictures):
            start = len(rows)
            try:
                given = (pictures[start:], seeds[start:], dtype, sigma, spins, weighed)
                parts = _in_groups(*given, device, group)
                for part in parts:
                    rows.append(measurers.submit(measured, part, pictures[0].shape[:2], dtype))
                break
            except RuntimeError as error:
                if not compute.out_of_memory(error):
                    raise
            torch.cuda.empty_cache()
            if group == 1:
                raise SamecamError(
                    f"The device {device!r} has no room for one picture ({need} bytes): end what "
                    "else uses it, or take the device cpu."
                )
            group //= 2
    return [row.result() for row in rows]


def _in_groups(
    pictures: Pictures,
    seeds: Sequence[int],
    dtype: FrameKind,
    sigma: float,
    spins: int,
    weighed: bool,
    device: str,
    group: int,
) -> Iterator[Quantised]:
    start = 0
    for stack in uploads(pictures, compute.torch_device(device), group):
        count = min(group, len(pictures) - start)
        lumas = stack[:count, :, :, 0]
        residual = spun(residuals, lumas, sigma, spins)
        flat = [flat_share(plane) for plane in residual]
        if weighed:
            weigh(residual, lumas)
        for k in range(count):
            yield quantised(residual[k], seeds[start + k], dtype), flat[k]
        start += count


def residuals(stack: Tensor, sigma: float) -> Tensor:
    """Noise residuals (b, h, w) of pictures (b, h, w) of any type."""
    variance = float(np.float32(sigma * sigma))
    source = torch.sub(stack, MIDDLE)  # never in place: the pictures weigh the residual later
    bands = []
    for _ in range(LEVELS):
        # (b, 2, rows, w), vertical low-pass and high-pass; then of both the same across.
        left, right = split(torch.stack(split(source, 1), dim=1), 3)
        source = left[:, 0]
        bands.append((_noise(left[:, 1:], variance)[:, 0], _noise(right, variance)))
    low = torch.zeros_like(source)
    shapes = [stack.shape[1:], *(band[1].shape[2:] for band in bands[:-1])]
    for (detail, right), (height, width) in zip(reversed(bands), reversed(shapes), strict=True):
        left = torch.stack((low, detail), dim=1)
        both = join(left, right, 3, width)
        low = join(both[:, 0], both[:, 1], 1, height)
    return low


def _noise(bands: Tensor, variance: float) -> Tensor:
    """What is noise in bands (b, k, h, w); see `_kernels.shrink`."""
    share = least_mean(bands.square()).clamp_(min=variance)
    return torch.div(variance, share, out=share).mul_(bands)


@lru_cache(maxsize=64)
def _places(length: int, name: str) -> tuple[Tensor, Tensor]:
    """Even and odd places −6 … of an axis with its half-sample symmetric extension."""
    rows = (length + 7) // 2
    place = torch.arange(-6, 2 * rows) % (2 * length)
    place = torch.where(place < length, place, 2 * length - 1 - place).to(name)
    return place[0::2].contiguous(), place[1::2].contiguous()


def split(planes: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Low-pass and high-pass of an axis: low[k] = Σ_j h[j]·ext[2k+1−j]."""
    length = planes.shape[axis]
    rows = (length + 7) // 2
    even, odd = (planes.index_select(axis, p) for p in _places(length, str(planes.device)))
    parts = [(odd if j % 2 == 0 else even).narrow(axis, 3 - j // 2, rows) for j in range(8)]
    return _combined(parts, LOW), _combined(parts, HIGH)


def join(low: Tensor, high: Tensor, axis: int, length: int) -> Tensor:
    """Inverse of `split`: x[i] = Σ_k h[2k+1−i]·low[k] + g[2k+1−i]·high[k]."""
    count = low.shape[axis] - 3
    parts = [band.narrow(axis, k, count) for band in (low, high) for k in range(4)]
    shape = list(low.shape)
    shape[axis] = length
    out = low.new_empty(shape)
    for first in (0, 1):
        taps = np.concatenate([LOW[1 - first :: 2], HIGH[1 - first :: 2]])
        wanted = (length + 1 - first) // 2
        index = (slice(None),) * axis + (slice(first, None, 2),)
        out[index] = _combined(parts, taps).narrow(axis, 0, wanted)
    return out


def _combined(parts: Sequence[Tensor], taps: npt.NDArray[np.float32]) -> Tensor:
    total = parts[0] * float(taps[0])
    for part, tap in zip(parts[1:], taps[1:], strict=True):
        total.add_(part, alpha=float(tap))
    return total


def flat_share(residual: Tensor) -> float:
    """Share of the pixels of one residual (h, w) that have none."""
    share: float = int(residual.abs().lt(FLAT_LEVEL).sum()) / residual.numel()
    return share


def quantised(residual: Tensor, seed: int, dtype: FrameKind) -> npt.NDArray[Any] | None:
    """Values of the row of one residual (h, w), which is overwritten; None if there is none."""
    size = residual.numel()
    magnitude = residual.abs()
    subtract_means(residual[None])
    subtract_phase_means(residual[None])
    rms = float(torch.linalg.vector_norm(residual, dtype=torch.float64)) / size**0.5
    if rms < LEAST_RESIDUAL:
        return None
    least = float(np.float32(NO_RESIDUAL[dtype] * rms))
    empty = magnitude.lt_(least).to(torch.bool)
    empty |= residual.abs() < least
    if dtype == "int8":
        steps = residual.mul_(float(np.float32(STEPS / rms))).round_().clamp_(-127, 127)
        return _host(steps.masked_fill_(empty, 0).to(torch.int8).flatten())
    words = _packed(residual > 0, empty, seed)
    if dtype == "2bits":
        empty |= residual.abs_() <= float(np.float32(rms))
        words = torch.stack((words, _words(empty)), dim=1).flatten()
    return _host(words).view(np.uint64)


def measured(part: Quantised, shape: tuple[int, int], dtype: FrameKind) -> FrameRow | None:
    """The row with its scale and its smoothness, None if there is no residual."""
    values, flat = part
    if values is None:
        return None
    if dtype == "int8":
        square = float(np.square(values, dtype=np.int32).sum(dtype=np.int64))
        if not square:
            return None
        scale = square**-0.5
    else:
        scale = bit_scale(values, shape[0] * shape[1], dtype)
    return FrameRow(values, scale, flat, colour(values, shape))


def _host(tensor: Tensor) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = tensor.cpu().numpy()
    return array


def _packed(positive: Tensor, empty: Tensor, seed: int) -> Tensor:
    """Words of 64 pixels: the sign, or a random bit where there is none."""
    signs, holes = _words(positive), _words(empty)
    return (signs & ~holes) | (random_words(seed, len(signs), signs.device) & holes)


def _words(mask: Tensor) -> Tensor:
    """(⌈n/64⌉,) int64 of n bools: bit k of word j is number 64j + k."""
    padded = torch.zeros(-(-mask.numel() // 64) * 64, dtype=torch.bool, device=mask.device)
    padded[: mask.numel()] = mask.flatten()
    eights = padded.view(torch.int64).mul(_GATHER)
    return eights.bitwise_right_shift(56).to(torch.uint8).view(torch.int64)


def random_words(seed: int, count: int, device: torch.device) -> Tensor:
    """The same words as `_quantise.random_word` gives, as int64."""
    z = torch.arange(1, count + 1, dtype=torch.int64, device=device)
    z = z.mul_(_signed(_GOLDEN)).add_(_signed(seed))
    z = (z ^ _shifted(z, 30)).mul_(_signed(_FIRST))
    z = (z ^ _shifted(z, 27)).mul_(_signed(_SECOND))
    return z ^ _shifted(z, 31)


def _signed(number: int) -> int:
    """The int64 with the bits of a number below 2⁶⁴."""
    return number - 2**64 if number >= 2**63 else number


def _shifted(z: Tensor, bits: int) -> Tensor:
    """A shift to the right that brings in zeros."""
    return z.bitwise_right_shift(bits).bitwise_and_((1 << (64 - bits)) - 1)
