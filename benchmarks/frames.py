"""A whole picture of 12 megapixels to its row, beside a square of 1024 pixels: time and memory.

python -m benchmarks.frames [--repeats N]

Rows are of two bits a pixel, the default at 12 megapixels, where nothing else is said.

Floor of the whole picture, a pixel: 32 operations each for analysis and synthesis of a level and 31
for shrinkage, 4/3 of that for all levels, 127 in all; sums and quantisation are 15 more. Through
memory go one byte of luma, four of the residual written and read again, a quarter of the row. At
100 Gflop/s and 10 GB/s, one core, that is 17 ms and 11 ms of 12 megapixels. Decoding is libjpeg's,
and its codes are walked through once more, because libjpeg does not tell of damage.
"""

import io
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.extraction import make_photos
from benchmarks.record import folder_of, parser, write
from samecam.arrays import Pixels
from samecam.fingerprint import SPINS, fingerprint, frame_row
from samecam.fingerprint import _frame as frame
from samecam.fingerprint._rings import BLOCK, residual_rows
from samecam.photos import read_frame, read_header, read_photo
from samecam.photos._intact import check

WIDTH, HEIGHT, QUICK = 4000, 3000, (400, 300)
LARGEST, QUICK_LARGEST = (16320, 12240), (800, 600)
KEY = "0123456789abcdef" * 4

PEAK = """
import re, sys
from samecam.fingerprint import frame_row
from samecam.photos import frame_exposure, read_frame
from samecam.store import Frame, frame_dtype

def row_of(path):
    pixels = read_frame(open(path, "rb").read()).pixels
    frame_exposure(pixels)
    frame = Frame(pixels.shape[1], pixels.shape[0])
    frame_row(pixels, key="0" * 64, dtype=frame_dtype(frame, "auto"))

def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

row_of(sys.argv[1])
before = peak()
row_of(sys.argv[2])
print(before, peak())
"""


def measured(
    functions: Mapping[str, Callable[[], object]], repeats: int
) -> dict[str, dict[str, float]]:
    """Median milliseconds by the clock and of the processor, all called in turn.

    On a busy machine the second are what an idle core would take, but for what is shared.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in functions}
    for k in range(repeats + 1):
        for name, function in functions.items():
            wall, processor = time.perf_counter(), time.process_time()
            function()
            took = time.perf_counter() - wall, time.process_time() - processor
            if k:  # the first warms up
                times[name].append(took)
    return {
        name: {
            "ms": 1e3 * statistics.median(wall for wall, _ in values),
            "processor_ms": 1e3 * statistics.median(processor for _, processor in values),
        }
        for name, values in times.items()
    }


def steps(data: bytes, side: int) -> dict[str, Callable[[], object]]:
    """What is timed: the square and the frame of one file, and parts of the latter."""
    info = read_header(data)
    box = (0, 0, info.width or 0, info.height or 0)
    square, luma = read_photo(data, size=side).pixels, read_frame(data).pixels
    source = frame.Residual(luma, 3.0, SPINS, True)
    means = frame.subtracted(source)
    block = np.empty((BLOCK, luma.shape[1]), dtype=np.float32)

    def decode() -> None:
        image = Image.open(io.BytesIO(data))
        image.draft("L", None)
        image.load()

    def residual() -> None:
        for _ in residual_rows(luma, 3.0, block, SPINS):
            pass

    return {
        "square": lambda: fingerprint(read_photo(data, size=side).pixels),
        "frame": lambda: frame_row(read_frame(data).pixels, key=KEY, dtype="2bits"),
        "square, reading": partial(read_photo, data, size=side),
        "square, fingerprint": partial(fingerprint, square),
        "frame, reading": partial(read_frame, data),
        "frame, decoding alone": decode,
        "frame, looking for damage alone": partial(check, data, info, box),
        "frame, row of bits": partial(frame_row, luma, key=KEY, dtype="bits"),
        "frame, row of two bits": partial(frame_row, luma, key=KEY, dtype="2bits"),
        "frame, row of bytes": partial(frame_row, luma, key=KEY, dtype="int8"),
        "frame, residual alone": residual,
        "frame, sums alone": partial(frame.subtracted, source),
        "frame, quantising alone": partial(frame.to_bits, source, means, 1, "2bits"),
    }


def gray_jpeg(path: Path, width: int, height: int) -> Path:
    """A gray JPEG of any size, of one picture again and again."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:1020, :1020]
    tile: Pixels = np.clip(110 + 50 * np.sin(x / 29 + y / 41) + rng.normal(0, 4, x.shape), 0, 255)
    image = Image.new("L", (width, height))
    for top in range(0, height, 1020):
        for left in range(0, width, 1020):
            image.paste(Image.fromarray(tile.astype(np.uint8)), (left, top))
    image.save(path, quality=75)
    return path


def peak_memory(folder: Path, sizes: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Most bytes of a process of its own for a frame: all, and above those for a tiny one."""
    tiny = gray_jpeg(folder / "tiny.jpg", 64, 64)
    rows = []
    for width, height in sizes:
        large = gray_jpeg(folder / "large.jpg", width, height)
        command = [sys.executable, "-c", PEAK, str(tiny), str(large)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        before, peak = map(int, re.findall(r"\d+", run.stdout))
        row = {"width": width, "height": height, "file_bytes": large.stat().st_size}
        rows.append(row | {"peak_bytes": peak, "above_a_tiny_one": peak - before})
        print(
            f"{width}×{height}: {peak / 1e6:.0f} MB, {(peak - before) / 1e6:.0f} MB for the frame"
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--repeats", type=int, default=15)
    options = asked.parse_args(arguments)
    width, height = QUICK if options.quick else (WIDTH, HEIGHT)
    side, repeats = (128, 2) if options.quick else (1024, options.repeats)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_photos(folder / "photos", 1, width, height)
        data = next((folder / "photos").iterdir()).read_bytes()
        times = measured(steps(data, side), repeats)
        for name, row in times.items():
            print(f"{name:32} {row['ms']:7.1f} ms, {row['processor_ms']:7.1f} ms of the processor")
        ratio = times["frame"]["processor_ms"] / times["square"]["processor_ms"]
        print(f"the whole frame takes {ratio:.2f} times the square's time")
        largest = QUICK_LARGEST if options.quick else LARGEST
        memory = peak_memory(folder, [(width, height), largest])
    result = {"times": times, "frame_over_square": ratio, "memory": memory}
    settings: dict[str, Any] = {"width": width, "height": height, "megabytes": len(data) / 1e6}
    settings |= {"side": side, "repeats": repeats, "dtype": "2bits"}
    write("frames", result, folder=folder_of(options), **settings)


if __name__ == "__main__":
    main()
