"""Fingerprints of a stack of pictures with PyTorch, on a GPU.

One level of the transform of a plane X (h, w) is A_h X A_wᵀ: the analysis filter with its
symmetric border is a banded matrix A (2·rows, n), rows = ⌊(n+7)/2⌋, low-pass rows first,
and two products of dense float32 matrices are faster than a filter with eight passes over
memory. The inverse is S_h Y S_wᵀ with S (n, 2·rows). All else is as in `_kernels`: shrinkage by
the least of four window means, channels added up between shrinkage and the one inverse
transform, means and norms in float64.

Pictures are worked on in groups of `GROUP`, the last one filled up with black ones, so
that all products have the same shape and a row does not depend on the pictures beside it. No sum
depends on the order in which threads end.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import avg_pool2d, pad

from samecam import compute
from samecam.errors import SamecamError
from samecam.fingerprint._fingerprint import LEAST_RESIDUAL, Fingerprints, Steps, complete
from samecam.fingerprint._residual import GRAY_WEIGHTS
from samecam.fingerprint._spectrum import PEAK, WINDOW
from samecam.fingerprint._wavelet import HIGH, LEVELS, LOW, PHASE
from samecam.fingerprint._weigh_gpu import weigh

Tensor: TypeAlias = torch.Tensor
Pictures = Sequence[npt.NDArray[np.generic]]
Bands = tuple[Tensor, Tensor]
WindowMeans = Callable[[Tensor], Tensor]

GROUP = 64
MIDDLE = 128.0
WINDOWS = (3, 5, 7, 9)
_PINNED = 2**30  # most bytes of a result that are page-locked
_COPIERS = 4


def fingerprints(
    pictures: Pictures, steps: Steps, device: str, memory: int | None = None
) -> Fingerprints:
    """Rows of pictures of one shape, on the host; see `samecam.fingerprint.fingerprints`."""
    height, width = pictures[0].shape[:2]
    shape = (len(pictures), height * width)
    cuda = device != compute.TORCH_CPU
    pinned = cuda and 4 * shape[0] * shape[1] <= _PINNED
    out = torch.empty(shape, dtype=torch.float32, pin_memory=pinned)
    flat = torch.empty(shape[0], dtype=torch.bool, pin_memory=cuda)
    for part, made, is_flat in in_groups(pictures, steps, device, memory):
        out[part].copy_(made, non_blocking=True)
        flat[part].copy_(is_flat, non_blocking=True)
    if cuda:
        torch.cuda.synchronize(compute.torch_device(device))
    return Fingerprints(out.numpy(), flat.numpy())


def rows(
    pictures: Pictures, steps: Steps, device: str, memory: int | None = None, group: int = GROUP
) -> tuple[Tensor, Tensor]:
    """As `fingerprints`, but rows (b, h·w) and mask (b,) stay on the device."""
    height, width = pictures[0].shape[:2]
    name = compute.torch_device(device)
    out = torch.empty((len(pictures), height * width), dtype=torch.float32, device=name)
    flat = torch.empty(len(pictures), dtype=torch.bool, device=name)
    for part, made, is_flat in in_groups(pictures, steps, device, memory, group):
        out[part], flat[part] = made, is_flat
    return out, flat


def in_groups(
    pictures: Pictures, steps: Steps, device: str, memory: int | None = None, group: int = GROUP
) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Which pictures, their rows and whether they are flat, a group at a time.

    The group is halved until its work arrays fit into `memory`, and again whenever the
    device has less than that.
    """
    whole, name = complete(steps), compute.torch_device(device)
    need = picture_bytes(pictures[0].shape, whole)
    budget = compute.default_memory(device) if memory is None else memory
    while group > 1 and group * need > budget:
        group //= 2
    start = 0
    while start < len(pictures):
        try:
            for stack in uploads(pictures[start:], name, group):
                made, is_flat = _rows_of(stack, whole)
                end = min(start + group, len(pictures))
                yield slice(start, end), made[: end - start], is_flat[: end - start]
                start = end
            return
        except RuntimeError as error:
            if not compute.out_of_memory(error):
                raise
            stack = made = is_flat = torch.empty(0)  # let go of what is held there
        torch.cuda.empty_cache()
        if group == 1:
            raise SamecamError(
                f"The device {device!r} has no room for one picture ({need} bytes): choose a "
                "smaller size, end what else uses it, or take the device cpu."
            )
        group //= 2


def picture_bytes(shape: tuple[int, ...], steps: Steps) -> int:
    """Bytes of work arrays for one picture: input, five planes a channel, and for spectra."""
    height, width, channels = (*shape, 1)[:3]
    spun_ = 4 * (channels + 1) if steps["spins"] > 1 else 0
    spectral = 24 if steps["wiener"] or steps["equalise"] else 0
    weighed = 4 * (channels + 3) if steps["weigh"] else 0
    return (height + 16) * (width + 16) * (channels * (4 + 5 * 4) + 8 + spectral + spun_ + weighed)


def _rows_of(stack: Tensor, steps: Steps) -> tuple[Tensor, Tensor]:
    """Rows of one group, and which pictures are flat."""
    with compute.full_precision():
        planes = to_planes(stack)
        residual = spun(residuals, planes, steps["sigma"], steps["spins"])
        if steps["weigh"]:
            gray = _weights(planes.shape[1], str(planes.device))[..., 0]
            weigh(residual, planes.add(MIDDLE).mul_(gray).sum(dim=1))
        return clean(residual, steps)


def uploads(pictures: Pictures, name: str, group: int) -> Iterator[Tensor]:
    """Groups of pictures (group, h, w, c) on the device, uint8 if all are, else float32.

    While one is worked on, threads copy the next into the other of two page-locked buffers, and
    it goes to the device beside the work. The last group is filled up with black pictures.
    """
    cuda = name != "cpu"
    bytewise = all(picture.dtype == np.uint8 for picture in pictures)
    shape = (group, *(*pictures[0].shape, 1)[:3])
    kind = torch.uint8 if bytewise else torch.float32
    buffers = [torch.empty(shape, dtype=kind, pin_memory=cuda) for _ in range(2)]
    stream = torch.cuda.Stream(name) if cuda else None
    left: list[Any] = [None, None]

    def fill(first: int) -> Tensor:
        which = first // group % 2
        if left[which] is not None:
            left[which].synchronize()
        view, part = buffers[which].numpy(), pictures[first : first + group]

        def copy(k: int) -> None:
            view[k] = part[k].reshape(shape[1:])

        list(copiers.map(copy, range(len(part))))
        view[len(part) :] = 0
        if stream is None:
            return buffers[which].clone()
        with torch.cuda.stream(stream):
            moved = buffers[which].to(name, non_blocking=True)
            left[which] = torch.cuda.Event()
            left[which].record(stream)
        return moved

    with ThreadPoolExecutor(_COPIERS) as copiers, ThreadPoolExecutor(1) as reader:
        following = reader.submit(fill, 0)
        for first in range(0, len(pictures), group):
            stack = following.result()
            if stream is not None:
                left[first // group % 2].wait(torch.cuda.current_stream(name))
                stack.record_stream(torch.cuda.current_stream(name))
            if first + group < len(pictures):
                following = reader.submit(fill, first + group)
            yield stack


def to_planes(stack: Tensor) -> Tensor:
    """(b, h, w, c) of any type to float32 (b, c, h, w), 128 subtracted.

    Details do not know of a constant; without it sums are rounded at half the size.
    """
    planes = torch.empty(
        (len(stack), stack.shape[3], *stack.shape[1:3]), dtype=torch.float32, device=stack.device
    )
    return torch.sub(stack.permute(0, 3, 1, 2), MIDDLE, out=planes)


def spun(
    residuals: Callable[[Tensor, float], Tensor], planes: Tensor, sigma: float, spins: int
) -> Tensor:
    """Mean of residuals (…, h, w) over several grids of the wavelets; see `_residual`."""
    total = residuals(planes, sigma)
    for shift in range(1, spins):
        shifted = torch.cat((planes[..., :shift, :].flip(-2), planes), dim=-2)
        shifted = torch.cat((shifted[..., :shift].flip(-1), shifted), dim=-1)
        total += residuals(shifted, sigma)[..., shift:, shift:]
    return total if spins == 1 else total.mul_(1 / spins)


def residuals(planes: Tensor, sigma: float) -> Tensor:
    """Gray noise residuals (b, h, w) of planes (b, c, h, w); see `_residual.gray_residual`."""
    bands = analyse(planes)
    return synthesise(shrink(bands, sigma, planes.shape[1]), planes.shape[2:])


@lru_cache(maxsize=64)
def matrices(length: int, name: str) -> tuple[Tensor, Tensor]:
    """Analysis A (2·rows, n) and synthesis S (n, 2·rows) of one axis, on a device.

    With ext the half-sample symmetric extension,
    low[k] = Σ_j h[j]·ext[2k+1−j] and x[i] = Σ_k h[2k+1−i]·low[k] + g[2k+1−i]·high[k].
    """
    half = (length + 7) // 2
    k, j = np.arange(half)[:, np.newaxis], np.arange(8)
    place = (2 * k + 1 - j) % (2 * length)
    inside = np.where(place < length, place, 2 * length - 1 - place)
    analysis, synthesis = np.zeros((2, 2 * half, length))
    for first, taps in ((0, LOW), (half, HIGH)):
        np.add.at(analysis, (first + k, inside), taps.astype(np.float64))
        i = 2 * k + 1 - j
        valid = (i >= 0) & (i < length)
        rows_, cols = np.broadcast_arrays(first + k, i)
        synthesis[rows_[valid], cols[valid]] = np.broadcast_to(taps, i.shape)[valid]
    both = torch.from_numpy(np.stack([analysis, synthesis]).astype(np.float32)).to(name)
    return both[0], both[1].T.contiguous()


def _product(left: Tensor, right: Tensor) -> Tensor:
    """One matrix product for each of a stack of which one factor may be a single matrix."""
    count = max(left.shape[0] if left.ndim == 3 else 1, right.shape[0] if right.ndim == 3 else 1)
    return torch.bmm(left.expand(count, -1, -1), right.expand(count, -1, -1))


def analyse(planes: Tensor) -> list[Bands]:
    """Four levels of the transform of (b, c, h, w).

    Each is a pair of arrays (b·c, 2, rows, cols): horizontal low-pass, [:, 0] being the
    approximation and [:, 1] the vertical high-pass; and horizontal high-pass likewise.
    """
    name = str(planes.device)
    source, bands = planes.flatten(0, 1), []
    for _ in range(LEVELS):
        count, height, width = source.shape
        down, across = matrices(height, name)[0], matrices(width, name)[0]
        rows_, cols = down.shape[0] // 2, across.shape[0] // 2
        wide = _product(source, across.T)
        left, right = (
            _product(down, part).view(count, 2, rows_, cols) for part in wide.split(cols, dim=2)
        )
        bands.append((left, right))
        source = left[:, 0]
    return bands


def least_mean(squares: Tensor) -> Tensor:
    """The least of the means over 3×3, 5×5, 7×7 and 9×9 windows, zeros outside (n, k, h, w).

    All size² numbers of a window at once: they come from the cache, and rows and columns one
    after another would write and read another array.
    """
    least: Tensor | None = None
    for size in WINDOWS:
        mean = avg_pool2d(squares, size, stride=1, padding=size // 2)
        least = mean if least is None else torch.minimum(least, mean, out=least)
    assert least is not None
    return least


def shrink(
    bands: list[Bands], sigma: float, channels: int, windows: WindowMeans = least_mean
) -> list[Tensor]:
    """The noise part of the details, added up over channels with their gray weights.

    c ← c·σ²/max(σ², min_w mean_w(c²)) as in `_kernels.shrink`. Returns for each level
    (b, 2·rows, 2·cols) with the place of the approximation, first rows and columns, free.
    """
    variance = float(np.float32(sigma * sigma))
    totals = []
    for left, right in bands:
        scale = variance * _weights(channels, str(left.device))
        _, _, rows_, cols = left.shape
        total = left.new_zeros((len(left) // channels, 2 * rows_, 2 * cols))
        total[:, rows_:, :cols] = _noise(left[:, 1:], variance, scale, windows)[:, 0]
        total[:, :, cols:] = _noise(right, variance, scale, windows).flatten(1, 2)
        totals.append(total)
    return totals


@lru_cache(maxsize=8)
def _weights(channels: int, name: str) -> Tensor:
    """What each channel counts in gray; kept on the device, since to bring it there waits."""
    weights = GRAY_WEIGHTS if channels == 3 else (1.0,)
    return torch.tensor(weights, dtype=torch.float32, device=name).view(1, -1, 1, 1, 1)


def _noise(bands: Tensor, variance: float, scale: Tensor, windows: WindowMeans) -> Tensor:
    """Weighted sum over channels (b, k, h, w) of what is noise in bands (b·c, k, h, w)."""
    share = windows(bands.square()).clamp_(min=variance)
    by_channel = share.unflatten(0, (-1, scale.shape[1]))
    share = torch.div(scale, by_channel, out=by_channel)
    return share.mul_(bands.unflatten(0, (-1, scale.shape[1]))).sum(dim=1)


def synthesise(totals: list[Tensor], size: Sequence[int]) -> Tensor:
    """Inverse transform: (b, h, w) from what `shrink` gives; the totals are overwritten."""
    name = str(totals[0].device)
    sizes = [tuple(size)] + [(t.shape[1] // 2, t.shape[2] // 2) for t in totals[:-1]]
    low: Tensor | None = None
    for total, (height, width) in zip(reversed(totals), reversed(sizes), strict=True):
        if low is not None:
            total[:, : low.shape[1], : low.shape[2]] = low
        down, across = matrices(height, name)[1], matrices(width, name)[1]
        low = _product(_product(down, total), across.T)
    assert low is not None
    return low


def clean(residual: Tensor, steps: Steps) -> tuple[Tensor, Tensor]:
    """Unit-norm rows (b, h·w) of residuals (b, h, w), and which pictures are flat.

    The steps are those of `fingerprint`, complete; the residuals are overwritten.
    """
    lattices = [(a, b) for a in (0, 1) for b in (0, 1)] if steps["cfa"] else []
    for a, b in lattices:
        subtract_means(residual[:, a::2, b::2])
    if not lattices:
        subtract_means(residual)
    if steps["wiener"]:
        residual = wiener(residual)
    if steps["equalise"]:
        residual = equalise(residual)
    if steps["grid"]:
        subtract_phase_means(residual)
    out = residual.flatten(1)
    count = out.shape[1]
    mean = out.sum(dim=1, keepdim=True, dtype=torch.float64).div_(count)
    out -= mean.to(torch.float32)
    norm = torch.linalg.vector_norm(out, dim=1, keepdim=True, dtype=torch.float64)
    flat = norm.square() < LEAST_RESIDUAL**2 * count
    out *= torch.where(flat, 0.0, 1.0 / norm).to(torch.float32)
    return out, flat[:, 0]


def subtract_means(planes: Tensor) -> None:
    """Subtract each row's mean, then each column's, in place."""
    for axis in (2, 1):
        total = planes.sum(dim=axis, keepdim=True, dtype=torch.float64)
        planes -= total.div_(planes.shape[axis]).to(torch.float32)


def subtract_phase_means(planes: Tensor) -> None:
    """Subtract the mean of each of the 16×16 pixel phases, in place."""
    _, height, width = planes.shape
    down, across = -height % PHASE, -width % PHASE
    whole = pad(planes, (0, across, 0, down)) if down or across else planes
    blocks = whole.unflatten(2, (-1, PHASE)).unflatten(1, (-1, PHASE))
    means = blocks.sum(dim=(1, 3), dtype=torch.float64)
    means /= _phase_counts(height, planes.device)[:, np.newaxis]
    means /= _phase_counts(width, planes.device)
    repeats = (1, (height + down) // PHASE, (width + across) // PHASE)
    planes -= means.to(torch.float32).repeat(repeats)[:, :height, :width]


def _phase_counts(length: int, device: torch.device) -> Tensor:
    """How many of `length` pixels have each phase; 1 where there is none, to divide by."""
    counts = (length - torch.arange(PHASE, device=device) + PHASE - 1) // PHASE
    return counts.clamp_(min=1)


def wiener(residual: Tensor) -> Tensor:
    """As `_spectrum.wiener`, for a stack (b, h, w)."""
    _, height, width = residual.shape
    spectrum = torch.fft.fft2(residual)
    power = spectrum.abs().div_((height * width) ** 0.5).square_()
    variance = residual.to(torch.float64).var(dim=(1, 2), correction=0, keepdim=True)
    variance = variance.clamp_(min=1e-12).to(torch.float32)
    share = variance / torch.maximum(least_mean(power[:, np.newaxis])[:, 0], variance)
    return _back(spectrum.mul_(share))


def equalise(residual: Tensor) -> Tensor:
    """As `_spectrum.equalise`, for a stack (b, h, w)."""
    spectrum = torch.fft.fft2(residual)
    magnitude = spectrum.abs()
    local, count = magnitude, WINDOW * WINDOW
    for axis in (1, 2):
        length, half = residual.shape[axis], WINDOW // 2
        around = torch.arange(-half, length + half, device=residual.device) % length
        local = local.index_select(axis, around)
    local = avg_pool2d(avg_pool2d(local, (WINDOW, 1), stride=1), (1, WINDOW), stride=1)
    mean = local.mul_(count).sub_(magnitude).div_(count - 1).clamp_(min=0)
    ratio = torch.where(magnitude > PEAK * mean, mean / magnitude, 1.0)
    return _back(spectrum.mul_(ratio))


def _back(spectrum: Tensor) -> Tensor:
    planes: Tensor = torch.fft.ifft2(spectrum).real
    return planes.contiguous()
