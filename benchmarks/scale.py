"""`samecam cluster` at scale, measured as a whole: from files, or from stored rows, to the report.

    python -m benchmarks.scale                             # both of these
    python -m benchmarks.scale files                       # 2,000 photos of 12 megapixels
    python -m benchmarks.scale rows                        # 100,000 fingerprints of 64² numbers
    python -m benchmarks.scale rows --photos 1000000 --each 1000 --device cuda
    python -m benchmarks.scale files --keep DIR            # what was made stays, and is used again
    python -m benchmarks.scale files --photos 16000 --dtype bits   # 62 GB of disk
    python -m benchmarks.scale files --photos 3840 --each 12       # 320 cameras

Each is added to scale.json beside what was measured before.

The command runs as a process of its own, nothing of it computed: seconds by the clock and by the
phases that the case notes, the memory of all its processes together (their proportional share,
looked at every half second or less often), bytes on disk, and how right the answer is. Photos are
JPEGs of scenes that are all different, by cameras that do not exist, of four sizes; patterns and
noise are made from parts of a few large fields, which is quick.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.record import describe, folder_of, load, parser, write
from samecam import provenance
from samecam.arrays import Floats, Labels
from samecam.compute import choose_device, format_bytes
from samecam.metrics import read_clusters, scores

NAME = "scale"
FRAMES = ((4000, 3000), (4032, 3024), (4160, 3120), (3968, 2976))
# Photos of a camera, and what patterns and noise are: of the gray level, and gray levels.
EACH, PATTERN, NOISE = 50, 0.004, 3.0
PIXELS, MEAN, ROWS_EACH = 64**2, 0.04, 100
BLOCK = 1000
FILES, ROWS = 2_000, 100_000
USUAL = {"files": FILES, "rows": ROWS}
QUICK, QUICK_EACH, QUICK_FRAMES = 60, 15, ((400, 304), (320, 240))


@lru_cache(maxsize=4)  # of one frame: a camera has one, and photos come by cameras
def field(seed: int, width: int, height: int) -> Floats:
    """Normal numbers, half as much again as a frame is high, and twice as wide."""
    rng = np.random.default_rng([seed, width, height])
    values: Floats = rng.standard_normal((height + height // 2, 2 * width), dtype=np.float32)
    return values


def part(seed: int, frame: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Normal numbers of a frame: a part of one field, times the signs of a part of another.

    Parts of one field alone would be one another, shifted: many cameras would be views of one.
    """
    width, height = frame
    parts = []
    for which in (2 * seed, 2 * seed + 1):
        down, across = int(rng.integers(height // 2)), int(rng.integers(width))
        parts.append(field(which, width, height)[down : down + height, across : across + width])
    values: Floats = parts[0] * np.copysign(np.float32(1), parts[1])
    return values


@lru_cache(maxsize=16)
def between(count: int, size: int) -> Floats:
    """(size, count) shares of values in a row in what lies smoothly between them."""
    places = np.linspace(0, count - 1, size)
    t = np.clip(1 - np.abs(places[:, np.newaxis] - np.arange(count)), 0, 1)
    shares: Floats = (t * t * (3 - 2 * t)).astype(np.float32)
    return shares


def make_photo(path: Path, camera: int, number: int, frame: tuple[int, int]) -> None:
    """One JPEG, 4:2:0, quality 92: a scene of one tint, a camera's pattern and noise."""
    rng = np.random.default_rng([7, number])
    levels = rng.integers(30, 220, (9, 12)).astype(np.float32)
    light = between(9, frame[1]) @ levels @ between(12, frame[0]).T
    pattern = part(0, frame, np.random.default_rng([8, camera]))
    pattern *= np.float32(PATTERN)
    pattern += 1
    light *= pattern
    noise = part(1, frame, rng)
    noise *= np.float32(NOISE)
    light += noise
    light += np.float32(0.5)
    luma = Image.fromarray(np.clip(light, 0, 255, out=light).astype(np.uint8))
    tint = [Image.new("L", frame, int(level)) for level in rng.integers(100, 156, 2)]
    Image.merge("YCbCr", [luma, *tint]).save(path, "JPEG", quality=92)


def _make_photos(
    folder: Path, camera: int, numbers: range, frames: Sequence[tuple[int, int]]
) -> None:
    for number in numbers:
        path = folder / f"{number:07d}.jpg"
        if not path.exists():
            make_photo(path.with_suffix(".part"), camera, number, frames[camera % len(frames)])
            path.with_suffix(".part").rename(path)


def make_files(
    folder: Path, photos: int, frames: Sequence[tuple[int, int]], each: int = EACH
) -> list[str]:
    """All photos, in a process a core; the arguments of the command."""
    images = folder / "photos"
    images.mkdir(parents=True, exist_ok=True)
    # Those of one frame together: they share fields.
    cameras = sorted(range(-(-photos // each)), key=lambda camera: camera % len(frames))
    parts = [range(each * k, min(each * (k + 1), photos)) for k in cameras]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(_make_photos, repeat(images), cameras, parts, repeat(frames)):
            pass
    return [str(images)]


def make_rows(folder: Path, photos: int, pixels: int, each: int = ROWS_EACH) -> list[str]:
    """An array of fingerprints, float16, in a thread a core; the arguments of the command."""
    path, part_path = folder / "rows.npy", folder / "rows.part"
    if not path.exists():
        rng = np.random.default_rng(0)
        patterns = rng.standard_normal((-(-photos // each), pixels), dtype=np.float32)
        camera = rng.permutation(truth_of(photos, each))
        np.save(folder / "truth.npy", camera)
        strength = np.sqrt(MEAN) * rng.lognormal(0, 0.4, len(patterns))[camera]
        strength = np.minimum(strength * rng.gamma(4, 1 / 4, photos), 0.95).astype(np.float32)
        rows = np.lib.format.open_memmap(part_path, "w+", np.float16, (photos, pixels))

        def make(first: int) -> None:
            some = slice(first, min(first + BLOCK, photos))
            a, noise = strength[some, np.newaxis], np.random.default_rng([1, first])
            made = noise.standard_normal((some.stop - first, pixels), dtype=np.float32)
            made = made * np.sqrt(1 - a * a) + a * patterns[camera[some]]
            rows[some] = made / np.linalg.norm(made, axis=1, keepdims=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(make, range(0, photos, BLOCK)))
        rows.flush()
        part_path.rename(path)
    return ["--fingerprints", str(path)]


def truth_of(photos: int, each: int) -> Labels:
    return np.arange(photos) // each


def _children() -> dict[int, list[int]]:
    """Processes by that which started them."""
    result: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # ended in between
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
            result.setdefault(parent, []).append(int(entry.parent.name))
    return result


def memory_of(pid: int) -> int:
    """Bytes of a process and all its children: what they share counts once."""
    children, left, total = _children(), [pid], 0
    while left:
        one = left.pop()
        left += children.get(one, [])
        with suppress(OSError):
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def memory_of_gpu() -> int:
    """Bytes that are taken on the first GPU, by whomever."""
    asked = ["nvidia-smi", "--id=0", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return 2**20 * int(subprocess.run(asked, check=True, capture_output=True).stdout)


class Memory(threading.Thread):
    """Most bytes that a process and its children had at a time, and most on the GPU."""

    def __init__(self, pid: int, *, gpu: bool) -> None:
        super().__init__(daemon=True)
        self._pid, self._gpu, self._ended = pid, gpu, threading.Event()
        self.peak, self.gpu_peak = 0, 0

    def run(self) -> None:
        pause = 0.5
        while not self._ended.wait(pause):
            began = time.perf_counter()
            self.peak = max(self.peak, memory_of(self._pid))
            if self._gpu:
                self.gpu_peak = max(self.gpu_peak, memory_of_gpu())
            # While a process is looked at it gets no memory: a twentieth of the time at most.
            pause = max(0.5, 20 * (time.perf_counter() - began))

    def stop(self) -> dict[str, int]:
        self._ended.set()
        self.join()
        return {"memory": self.peak} | ({"gpu_memory": self.gpu_peak} if self._gpu else {})


def run(arguments: Sequence[str], case: Path, *, gpu: bool) -> dict[str, Any]:
    """The command, in a process of its own."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "samecam", "cluster", *arguments, "-o", str(case), "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    memory = Memory(process.pid, gpu=gpu)
    memory.start()
    told, _ = process.communicate()
    seconds, peak = time.perf_counter() - began, memory.stop()
    if process.returncode:
        raise SystemExit(f"samecam cluster ended with {process.returncode}")
    answer = json.loads(told)
    timings = json.loads((case / "case.json").read_text(encoding="utf-8"))["timings"]
    return {
        "seconds": seconds,
        "phases": {name: entry["seconds"] for name, entry in timings.items()},
        **peak,
        "report": Path(answer["report"]).stat().st_size,
        "case": sum(file.stat().st_size for file in case.rglob("*") if file.is_file()),
    }


def judged(case: Path, truth: Labels) -> dict[str, Any]:
    """How right the answer is."""
    found = read_clusters(case / "clusters.csv")
    numbers = [int("".join(filter(str.isdigit, Path(path).name))) for path in found]
    score = scores(truth[numbers], list(found.values()))
    told = {"F": score.f, "P": score.precision, "R": score.recall, "used": len(numbers)}
    return {**told, "cameras": score.n_cameras, "found": score.n_clusters}


def measure(
    kind: str, photos: int, options: argparse.Namespace, folder: Path
) -> dict[str, Any] | None:
    """Make photos or rows, and let the command group them; None: `--make`."""
    began = time.perf_counter()
    given = options.each or (QUICK_EACH if options.quick else None)
    if kind == "files":
        each = given or EACH
        arguments = make_files(folder, photos, QUICK_FRAMES if options.quick else FRAMES, each)
        truth = truth_of(photos, each)
    else:
        each = given or ROWS_EACH
        arguments = make_rows(folder, photos, 1024 if options.quick else PIXELS, each)
        truth = np.load(folder / "truth.npy")
    making = time.perf_counter() - began
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{photos} {kind}, {format_bytes(size)}, made in {making:.0f} s", flush=True)
    if options.make:
        return None
    arguments += ["--device", options.device]
    if options.memory:
        arguments += ["--memory", options.memory]
    if options.dtype:
        arguments += ["--dtype", options.dtype]
    with tempfile.TemporaryDirectory(dir=options.case or folder) as scratch:
        case = Path(scratch) / "case"
        gpu = options.device.startswith("cuda")
        facts = run(arguments, case, gpu=gpu) | judged(case, truth)
    asked = {"photos": photos, "device": options.device, "given": options.memory}
    asked["cores"] = os.cpu_count()
    facts |= {**asked, "bytes": size, "on": describe(choose_device(options.device))}
    print(json.dumps(facts), flush=True)
    return {"commit": options.commit or provenance.commit(), **facts}


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    kinds = (*USUAL, [])  # the last: what argparse takes none at all for
    asked.add_argument("kinds", choices=kinds, nargs="*", help="files and rows by default")
    asked.add_argument("--photos", type=int, help=f"{FILES} files, {ROWS} rows by default")
    asked.add_argument("--device", default="cpu")
    asked.add_argument("--memory", help="for grouping, like 8G")
    asked.add_argument("--dtype", help="of rows: bits takes half the disk of the usual 2bits")
    asked.add_argument("--keep", type=Path, metavar="DIR", help="where photos or rows stay")
    asked.add_argument("--case", type=Path, metavar="DIR", help="where the case is made")
    asked.add_argument("--each", type=int, help=f"of a camera: {EACH} files, {ROWS_EACH} rows")
    asked.add_argument("--make", action="store_true", help="only make what is not there")
    asked.add_argument("--commit", help="of the tree, where git is missing")
    options = asked.parse_args(arguments)
    out = folder_of(options)
    result = {}
    if out is not None and (out / f"{NAME}.json").exists():
        result = load(NAME, out)["result"]
    for kind in options.kinds or USUAL:
        with tempfile.TemporaryDirectory() as scratch:
            photos = options.photos or (QUICK if options.quick else USUAL[kind])
            each = f" of {options.each}" if options.each else ""
            name = f"{photos} {kind}{each}{' quick' * options.quick}"
            folder = (options.keep or Path(scratch)) / name
            folder.mkdir(parents=True, exist_ok=True)
            how = ", ".join(filter(None, (options.device, options.dtype)))
            if (facts := measure(kind, photos, options, folder)) is not None:
                result[f"{name}, {how}"] = facts
                write(NAME, result, folder=out)


if __name__ == "__main__":
    main()
