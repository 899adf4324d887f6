"""Milliseconds a photo of 12 megapixels, by kind of work, and the whole at 1 and 2 workers.

python -m benchmarks.extraction [--photos N]

Whole frames (as by default: of 12 megapixels in two bits a pixel) and squares of 1024 and 512
pixels, side by side: from a file in the page cache to a stored row.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.record import folder_of, parser, timed, write
from samecam.case import ExtractionSettings, extract_photos
from samecam.compute import Resources
from samecam.store import Frame, frame_dtype

WIDTH, HEIGHT = 4000, 3000
QUICK = (200, 160)
SIDES = (1024, 512)


def make_photos(folder: Path, count: int, width: int = WIDTH, height: int = HEIGHT) -> None:
    """JPEGs of quality 95, 4:2:0, of scenes that are all different; about 5 MB at 12 megapixels.

    Of one scene each would be looked at as a copy of the others.
    """
    folder.mkdir()
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 6, (height, width, 3))
    for k in range(count):
        scene = Image.fromarray(rng.integers(30, 220, (9, 12), dtype=np.uint8))
        base = np.asarray(scene.resize((width, height), Image.Resampling.BICUBIC))
        shot = np.roll(noise, 97 * k, axis=(0, 1))
        pixels = np.clip(base[..., None] + shot, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{k:04d}.jpg", quality=95)


def measure(photos: Path, case: Path, settings: ExtractionSettings, workers: int) -> dict[str, Any]:
    """Milliseconds of one extraction of all photos into a new case."""
    count = len(list(photos.iterdir()))
    run, whole = timed(
        extract_photos, [photos], case, settings, resources=Resources(workers=workers)
    )
    split = {kind: 1e3 * seconds / count for kind, seconds in run.work.items()}
    parts = ", ".join(f"{kind} {ms:.1f}" for kind, ms in split.items())
    print(
        f"{workers} worker(s): {parts} ms of work a photo; "
        f"whole run {1e3 * whole / count:.1f} ms a photo, {count / whole:.0f} a second"
    )
    return {
        "ms_per_photo": split,
        "whole_ms_per_photo": 1e3 * whole / count,
        "photos_per_second": count / whole,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--photos", type=int, default=60)
    options = asked.parse_args(arguments)
    count, sides = (4, (128,)) if options.quick else (options.photos, SIDES)
    width, height = QUICK if options.quick else (WIDTH, HEIGHT)
    with tempfile.TemporaryDirectory() as scratch:
        photos = Path(scratch) / "photos"
        make_photos(photos, count, width, height)
        megabytes = sum(len(file.read_bytes()) for file in photos.iterdir()) / count / 2**20
        print(f"{count} photos of {width}×{height}, {megabytes:.1f} MB each, in the page cache")
        result = {}
        for side in (None, *sides):
            name, settings = "whole" if side is None else str(side), ExtractionSettings(size=side)
            print(f"{name}:")
            extract_photos([next(photos.iterdir())], Path(scratch) / f"warm {name}", settings)
            result[name] = {
                f"workers_{many}": measure(photos, Path(scratch) / f"{name} {many}", settings, many)
                for many in (1, 2)
            }
    dtype = frame_dtype(Frame(width, height), ExtractionSettings().rows)
    folder = folder_of(options)
    write("extraction", result, folder=folder, photos=count, megabytes=megabytes, dtype=dtype)


if __name__ == "__main__":
    main()
