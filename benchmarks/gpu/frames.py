"""Rows of whole pictures on a GPU: pictures a second after decoding, and agreement with the CPU.

    python -m benchmarks.gpu.frames                          # a GPU, 4000×3000
    python -m benchmarks.gpu.frames --device torch-cpu --width 400 --height 300 --count 4

Pictures are bytes in plain host memory; rows are on the host at the end. Stages are timed alone,
with waiting between them, so that their sum is more than the whole. What goes through the device's
memory, as the code is written, is about 1.1 kB a pixel: 13 GB a picture of 12 megapixels, 3.3 ms
at 4 TB/s, or 300 pictures a second; that rate is measured on this very device by a copy.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.record import describe, folder_of, numbers, parser, write
from samecam import compute
from samecam.arrays import Pixels
from samecam.fingerprint import FrameKind, FrameRow, _frames_gpu, _gpu, frame_row, frame_rows
from samecam.fingerprint._weigh_gpu import weigh

WIDTH, HEIGHT, COUNT, GROUPS = 4000, 3000, 64, (1, 2, 4, 8, 16)
CHECKED = 2
KINDS: tuple[FrameKind, ...] = ("bits", "2bits", "int8")
TRAFFIC = 1100  # bytes a pixel through the device's memory


def pictures(count: int, width: int, height: int) -> list[Pixels]:
    """Luma of shading, edges, noise and a clipped corner, all different."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:height, :width]
    base = (110 + 60 * np.sin(x / 290) + 50 * np.cos(y / 170) + 40 * (x > y)).astype(np.float32)
    base[: height // 4, : width // 4] = 400
    noise = rng.normal(0, 3, (height, width)).astype(np.float32)
    made = []
    for k in range(count):
        shot = base + np.roll(noise, 97 * k, axis=(0, 1))
        made.append(np.clip(shot, 0, 255).astype(np.uint8))
    return made


def waited(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(compute.torch_device(device))


def seconds(function: Callable[[], object], device: str, repeats: int) -> float:
    """Least seconds of some calls, to the end of what the device does."""
    function()
    least = float("inf")
    for _ in range(repeats):
        waited(device)
        began = time.perf_counter()
        function()
        waited(device)
        least = min(least, time.perf_counter() - began)
    return least


def stages(shots: Sequence[Pixels], device: str, group: int, repeats: int) -> dict[str, float]:
    """Milliseconds a picture of the parts of the work."""
    some = list(shots[:group])
    name = compute.torch_device(device)
    stack = next(iter(_gpu.uploads(some, name, len(some))))[:, :, :, 0]
    residual = _frames_gpu.residuals(stack, 3.0)
    source = stack.to(torch.float32)
    work: dict[str, Callable[[], object]] = {
        "copy": lambda: list(_gpu.uploads(some, name, len(some))),
        "one level there": lambda: _frames_gpu.split(
            torch.stack(_frames_gpu.split(source, 1), dim=1), 3
        ),
        "windows of one band": lambda: _gpu.least_mean(source[:, None, ::2, ::2].square()),
        "residual": partial(_frames_gpu.residuals, stack, 3.0),
        "weighed": lambda: weigh(residual.clone(), stack),
        "two bits a pixel": lambda: [
            _frames_gpu.quantised(residual[k].clone(), 1, "2bits") for k in range(len(some))
        ],
    }
    made = [(_frames_gpu.quantised(residual[k].clone(), 1, "2bits"), 0.0) for k in range(len(some))]
    shape = (some[0].shape[0], some[0].shape[1])
    work["smoothness, on the host"] = lambda: [
        _frames_gpu.measured(part, shape, "2bits") for part in made
    ]
    return {what: 1e3 * seconds(do, device, repeats) / len(some) for what, do in work.items()}


def agreement(shots: Sequence[Pixels], device: str) -> dict[str, Any]:
    """Rows of the device beside those of the processor."""
    keys = [f"{k:016x}" * 4 for k in range(1, len(shots) + 1)]
    answer: dict[str, Any] = {}
    for dtype in KINDS:
        rows = frame_rows(shots, keys, dtype=dtype, device=device)
        again = frame_rows(shots[::-1], keys[::-1], dtype=dtype, device=device)[::-1]
        exact = [
            frame_row(shot, key=key, dtype=dtype) for shot, key in zip(shots, keys, strict=True)
        ]
        shares = [share(a, b, shots[0].size) for a, b in zip(rows, exact, strict=True)]
        answer[dtype] = {
            "least_share_of_equal_pixels": min(shares),
            "same_in_another_order": all(
                a is not None and b is not None and np.array_equal(a.values, b.values)
                for a, b in zip(rows, again, strict=True)
            ),
        }
    return answer


def share(row: FrameRow | None, exact: FrameRow, pixels: int) -> float:
    assert row is not None
    if row.values.dtype == np.uint64:
        apart = row.values ^ exact.values
        if 64 * len(apart) >= 2 * pixels:  # two bits a pixel
            apart = apart[::2] | apart[1::2]
        return 1 - int(np.bitwise_count(apart).sum()) / pixels
    return float(np.mean(row.values == exact.values))


def copy_rate(device: str) -> float:
    """Bytes a second that a copy within the device reads and writes."""
    source = torch.empty(2**26 if device.startswith("cuda") else 2**22, dtype=torch.float32)
    source = source.to(compute.torch_device(device))
    target = torch.empty_like(source)
    return float(8 * source.numel() / seconds(lambda: target.copy_(source), device, 5))


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--device", default="cuda")
    asked.add_argument("--width", type=int, default=WIDTH)
    asked.add_argument("--height", type=int, default=HEIGHT)
    asked.add_argument("--count", type=int, default=COUNT)
    asked.add_argument("--groups", type=numbers, default=list(GROUPS))
    asked.add_argument("--repeats", type=int, default=5)
    options = asked.parse_args(arguments)
    if options.quick:
        options.width, options.height, options.count = 200, 150, 4
        options.groups, options.repeats = [2], 1
    device = compute.choose_device(options.device)
    shots = pictures(options.count, options.width, options.height)
    keys = [f"{k:016x}" * 4 for k in range(1, len(shots) + 1)]
    rate = copy_rate(device)
    floor = 1e3 * TRAFFIC * options.width * options.height / rate
    print(f"{describe(device)}: {rate / 1e12:.2f} TB/s, a floor of {floor:.2f} ms a picture")
    groups = []
    for group in options.groups:
        _frames_gpu.GROUP = group
        for dtype in KINDS:
            run = partial(frame_rows, shots, keys, dtype=dtype, device=device)
            took = seconds(run, device, options.repeats) / len(shots)
            groups.append({"group": group, "dtype": dtype, "ms": 1e3 * took, "a_second": 1 / took})
            print(f"groups of {group:2}, {dtype}: {1e3 * took:.2f} ms, {1 / took:.0f} a second")
    parts = stages(shots, device, min(8, len(shots)), options.repeats)
    print(", ".join(f"{name} {ms:.2f} ms" for name, ms in parts.items()))
    agrees = agreement(shots[:CHECKED], device)
    print(agrees)
    result = {"device": describe(device), "bytes_a_second": rate, "floor_ms": floor}
    result |= {"groups": groups, "stages_ms": parts, "agreement": agrees}
    if device.startswith("cuda"):
        result["peak_bytes"] = torch.cuda.max_memory_allocated(device)
    settings = {name: getattr(options, name) for name in ("width", "height", "count", "repeats")}
    write("gpu.frames", result, folder=folder_of(options), libraries=("torch",), **settings)


if __name__ == "__main__":
    main()
