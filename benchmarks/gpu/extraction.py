"""Fingerprints on a GPU: pictures a second, by stage and group size, against the floor.

    python -m benchmarks.gpu.extraction                              # a GPU, 512×512×3
    python -m benchmarks.gpu.extraction --device torch-cpu --side 128 --count 32 --groups 8,16
    python -m benchmarks.gpu.extraction --windows shift              # pool, matmul, shift, square

What one picture of 512×512×3 costs, as the code is written (see `operations`, `traffic`):
1.9·10⁹ operations in the products of analysis, 0.6·10⁹ in those of synthesis; through memory
go 4 MB for planes, 17 for analysis, 120 for shrinkage, 6 for synthesis and 24 for cleaning;
0.8 MB come from the host. At 50 TFLOP/s and 4 TB/s that is 50 µs and 43 µs: a floor of
93 µs, or 10,700 pictures a second. The floor that is printed has the rates measured on this
very device instead: a product of 4096×4096 float32 matrices, a copy of 1 GiB, and a copy
from page-locked memory.

"rows on the device" takes decoded pictures in plain host memory and ends with rows on the
device; "rows on the host" fetches them as well. Stages are timed alone, with waiting between
them, so their sum is more than the whole.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from benchmarks.pictures import pictures
from benchmarks.record import describe, folder_of, numbers, parser, write
from samecam import compute
from samecam.fingerprint import Steps, _gpu
from samecam.fingerprint._fingerprint import complete
from samecam.fingerprint._wavelet import LEVELS

GROUPS = (8, 16, 32, 64, 128, 256)
STEPS: Steps = {"sigma": 3.0, "preset": "default"}
Tensor = Any
Stack = Any  # (count, side, side, 3), each a picture
Windows = Callable[[Tensor], Tensor]


def lengths(side: int) -> list[int]:
    """Length of an axis, level by level."""
    axis = [side]
    for _ in range(LEVELS):
        axis.append((axis[-1] + 7) // 2)
    return axis


def operations(side: int, channels: int = 3) -> dict[str, float]:
    """Floating-point operations of the products of one picture: analysis, synthesis."""
    pairs = pairwise(lengths(side))
    one = sum(2 * n * n * 2 * half + 2 * 2 * half * n * 2 * half for n, half in pairs)
    return {"analyse": channels * one, "synthesise": one}


def traffic(side: int, channels: int = 3) -> dict[str, float]:
    """Bytes that each stage reads and writes in device memory, an operation at a time."""
    halves = lengths(side)[1:]
    pairs = list(pairwise(lengths(side)))
    area = side * side
    products = sum(4 * (n * n + 2 * (n * 2 * half) + 4 * half * half) for n, half in pairs)
    details = sum(3 * half * half for half in halves)
    window = 4 * (8 + 8) + 3 * 12  # two passes for each of four, three minima
    shrink = details * (channels * (8 + window + 8 + 8 + 12 + 4) + 4 + 8)
    return {
        "planes": channels * area * 5,
        "analyse": channels * products,
        "shrink": shrink + 4 * sum(4 * half * half for half in halves),
        "synthesise": products,
        "clean": area * (2 * 12 + 12 + 20 + 12 + 4 + 12),
        "rows": area * 8,
    }


def by_matmul(squares: Tensor) -> Tensor:
    """Means over windows as products with banded matrices of 1/size."""
    n, k, height, width = squares.shape
    flat, least = squares.reshape(n * k, height, width), None
    for size in _gpu.WINDOWS:
        down, across = (band(length, size, str(squares.device)) for length in (height, width))
        mean = torch.bmm(torch.bmm(down.expand(n * k, -1, -1), flat), across.expand(n * k, -1, -1))
        least = mean if least is None else torch.minimum(least, mean, out=least)
    assert least is not None
    return least.view(n, k, height, width)


@lru_cache(maxsize=64)
def band(length: int, size: int, device: str) -> Tensor:
    ones = np.triu(np.tril(np.ones((length, length)), size // 2), -(size // 2))
    return torch.tensor(ones / size, dtype=torch.float32, device=device)


def by_shift(squares: Tensor) -> Tensor:
    """Means over windows as sums of shifted arrays, in the order of the compiled kernel."""
    height, width = squares.shape[2:]
    wide = torch.nn.functional.pad(squares, (4, 4, 4, 4))
    row = partial(torch.narrow, wide, 2)
    tall, least = row(4, height), None
    for half, size in enumerate(_gpu.WINDOWS, start=1):
        tall = tall + (row(4 - half, height) + row(4 + half, height))
        total = tall.narrow(3, 4 - half, width) + tall.narrow(3, 5 - half, width)
        for shift in range(6 - half, 5 + half):
            total += tall.narrow(3, shift, width)
        total *= 1 / size**2
        least = total if least is None else torch.minimum(least, total, out=least)
    return least


def by_pool(squares: Tensor) -> Tensor:
    """Means over rows of windows, then over their columns."""
    least = None
    for size in _gpu.WINDOWS:
        half = size // 2
        tall = torch.nn.functional.avg_pool2d(squares, (size, 1), stride=1, padding=(half, 0))
        mean = torch.nn.functional.avg_pool2d(tall, (1, size), stride=1, padding=(0, half))
        least = mean if least is None else torch.minimum(least, mean, out=least)
    return least


WINDOWS: Mapping[str, Windows] = {
    "pool": by_pool,
    "matmul": by_matmul,
    "shift": by_shift,
    "square": _gpu.least_mean,
}


class Timer:
    """Median seconds of a call, waiting for the device before and after."""

    def __init__(self, device: str, repeats: int) -> None:
        self.cuda, self.repeats = device.startswith("cuda"), repeats

    def wait(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()

    def __call__(
        self, function: Callable[[Any], object], prepare: Callable[[], Any] = lambda: None
    ) -> float:
        """`prepare` is called before each call, untimed; its result is the argument."""
        times = []
        for turn in range(self.repeats + 1):
            given = prepare()
            self.wait()
            began = time.perf_counter()
            function(given)
            self.wait()
            if turn:
                times.append(time.perf_counter() - began)
        return float(np.median(times))


def rates(name: str, timer: Timer, small: bool) -> dict[str, float]:
    """What this device reaches: operations, bytes through memory, bytes from the host."""
    side, amount = (512, 2**24) if small else (4096, 2**30)
    a, b = torch.rand((2, side, side), device=name)
    source = torch.rand(amount // 4, device=name)
    target = torch.empty_like(source)
    host = torch.empty(amount // 4, pin_memory=timer.cuda)
    return {
        "flops": 2 * side**3 / timer(lambda _: a @ b),
        "bytes": 2 * amount / timer(lambda _: target.copy_(source)),
        "host_bytes": amount / timer(lambda _: target.copy_(host, non_blocking=True)),
    }


def stages(
    images: Stack, name: str, group: int, timer: Timer, windows: Windows
) -> dict[str, float]:
    """Seconds of each stage for one group."""
    steps, part = complete(STEPS), images[:group]
    stack = next(_gpu.uploads(part, name, group))
    planes = _gpu.to_planes(stack)
    bands = _gpu.analyse(planes)
    shrink = partial(_gpu.shrink, sigma=3.0, channels=3, windows=windows)
    totals, size = shrink(bands), planes.shape[2:]
    residual = _gpu.synthesise(totals, size)
    made, _ = _gpu.clean(residual.clone(), steps)
    host = torch.empty(made.shape, pin_memory=timer.cuda)
    return {
        "copy": timer(lambda _: next(_gpu.uploads(part, name, group))),
        "planes": timer(lambda _: _gpu.to_planes(stack)),
        "analyse": timer(lambda _: _gpu.analyse(planes)),
        "shrink": timer(lambda _: shrink(bands)),
        "synthesise": timer(lambda _: _gpu.synthesise(totals, size)),
        "clean": timer(lambda given: _gpu.clean(given, steps), residual.clone),
        "copy back": timer(lambda _: host.copy_(made, non_blocking=True)),
    }


def floor(side: int, rate: Mapping[str, float]) -> dict[str, float]:
    """Least seconds a picture, host to device rows, at the measured rates."""
    work, moved = sum(operations(side).values()), sum(traffic(side).values())
    return {
        "products": work / rate["flops"],
        "memory": moved / rate["bytes"],
        "host": 3 * side * side / rate["host_bytes"],  # beside the others, if all goes well
    }


def by_group(
    images: Stack,
    device: str,
    group: int,
    timer: Timer,
    windows: Windows,
    least: Mapping[str, float],
) -> dict[str, Any]:
    """Pictures a second and stages for one size of the group."""
    name = compute.torch_device(device)
    if timer.cuda:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    whole = timer(lambda _: _gpu.rows(images, STEPS, device, group=group)) / len(images)
    need = group * _gpu.picture_bytes(images[0].shape, complete(STEPS))
    kept = 4 * images.shape[1] * images.shape[2] * len(images)
    peak = torch.cuda.max_memory_allocated() - kept if timer.cuda else None
    each = {k: 1e6 * v / group for k, v in stages(images, name, group, timer, windows).items()}
    return {
        "group": group,
        "pictures_per_second": 1 / whole,
        "microseconds": 1e6 * whole,
        "stages_microseconds": each,
        "times_the_floor": whole / (least["products"] + least["memory"]),
        "work_bytes_reckoned": need,
        "work_bytes_peak": peak,
    }


def agreement(images: Stack, device: str) -> dict[str, Any]:
    """Whether neighbours and groups change bits, and how far the processor's torch is."""
    few = images[:40]
    order = np.random.default_rng(1).permutation(len(few))
    base, _ = _gpu.rows(few, STEPS, device)
    mixed, _ = _gpu.rows(few[order], STEPS, device)
    single = torch.cat([_gpu.rows(few[k : k + 1], STEPS, device)[0] for k in range(3)])
    other, _ = _gpu.rows(few, STEPS, device, group=4)
    here, _ = _gpu.rows(few[:4], STEPS, compute.TORCH_CPU, group=4)
    far = base[:4].cpu() - here
    return {
        "same_bits_in_another_order": bool(torch.equal(mixed.cpu(), base.cpu()[order])),
        "same_bits_alone": bool(torch.equal(single, base[:3])),
        "same_bits_in_groups_of_4": bool(torch.equal(other, base)),
        "largest_difference_groups_of_4": float((other - base).abs().max()),
        "largest_difference_from_torch_cpu": float(far.abs().max()),
        "least_correlation_with_torch_cpu": float((base[:4].cpu().double() * here).sum(1).min()),
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All figures of one run."""
    device = compute.choose_device(options.device)
    timer = Timer(device, options.repeats)
    images: Stack = pictures(options.count, options.side)
    rate = rates(compute.torch_device(device), timer, not timer.cuda)
    least = floor(options.side, rate)
    result: dict[str, Any] = {
        "device": describe(device),
        "torch": torch.__version__,
        "rates": rate,
        "floor_microseconds": {k: 1e6 * v for k, v in least.items()},
    }
    result["windows"] = {
        name: 1e6
        * stages(images, compute.torch_device(device), _gpu.GROUP, timer, kind)["shrink"]
        / _gpu.GROUP
        for name, kind in WINDOWS.items()
    }
    kind, plain = WINDOWS[options.windows], _gpu.shrink.__defaults__
    _gpu.shrink.__defaults__ = (kind,)
    try:
        result["groups"] = [
            by_group(images, device, group, timer, kind, least)
            for group in options.groups
            if group <= options.count
        ]
        result["agreement"] = agreement(images, device)
        host = timer(lambda _: _gpu.fingerprints(images, STEPS, device)) / len(images)
    finally:
        _gpu.shrink.__defaults__ = plain
    result["rows_on_the_host_per_second"] = 1 / host
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--device", default="cuda")
    asked.add_argument("--side", type=int, default=512)
    asked.add_argument("--count", type=int, default=512, help="pictures in the stack")
    asked.add_argument("--groups", type=numbers, default=list(GROUPS))
    asked.add_argument("--windows", choices=sorted(WINDOWS), default="square")
    asked.add_argument("--repeats", type=int, default=7)
    options = asked.parse_args(arguments)
    if options.quick:
        options.side, options.count, options.groups, options.repeats = 64, 6, [2, 4], 1
    result = measure(options)
    print(json.dumps(result, indent=2))
    names = ("device", "side", "count", "groups", "windows", "repeats")
    given = {name: getattr(options, name) for name in names}
    write("gpu.extraction", result, folder=folder_of(options), libraries=("torch",), **given)


if __name__ == "__main__":
    main()
