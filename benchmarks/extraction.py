"""Milliseconds a photo of 12 megapixels, by kind of work, and the whole at 1 and 2 workers.

python -m benchmarks.extraction [--photos N] [--size 512]
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.record import write
from samecam.case import ExtractionSettings, extract_photos
from samecam.compute import Resources

WIDTH, HEIGHT = 4000, 3000


def make_photos(folder, count):
    """12-megapixel JPEGs of quality 95, 4:2:0, about 5 MB each, all different."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    base = 110 + 60 * np.sin(x / 290) + 50 * np.cos(y / 170)
    noise = rng.normal(0, 6, (HEIGHT, WIDTH, 3))
    for k in range(count):
        shot = np.roll(noise, 97 * k, axis=(0, 1))
        pixels = np.clip(base[..., None] + shot, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{k:04d}.jpg", quality=95)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=60)
    parser.add_argument("--size", type=int, default=512)
    options = parser.parse_args()
    result = {}
    with tempfile.TemporaryDirectory() as scratch:
        photos = Path(scratch) / "photos"
        make_photos(photos, options.photos)
        total = sum(f.stat().st_size for f in photos.iterdir()) / options.photos
        print(f"{options.photos} photos of {WIDTH}×{HEIGHT}, {total / 2**20:.1f} MB each")
        for file in photos.iterdir():
            file.read_bytes()  # into the page cache
        settings = ExtractionSettings(size=options.size)
        extract_photos([next(photos.iterdir())], Path(scratch) / "warm", settings)
        for workers in (1, 2):
            began = time.perf_counter()
            run = extract_photos(
                [photos],
                Path(scratch) / f"c{workers}",
                settings,
                resources=Resources(workers=workers),
            )
            whole = time.perf_counter() - began
            split = {k: 1e3 * v / options.photos for k, v in run.work.items()}
            result[f"workers_{workers}"] = {
                "ms_per_photo": split,
                "whole_ms_per_photo": 1e3 * whole / options.photos,
                "photos_per_second": options.photos / whole,
            }
            words = ", ".join(f"{k} {v:.1f}" for k, v in split.items())
            rate = options.photos / whole
            print(
                f"{workers} worker(s): {words} ms of work a photo; "
                f"whole run {1e3 / rate:.1f} ms a photo, {rate:.0f} a second"
            )
    write("extraction", result, photos=options.photos, size=options.size, megabytes=total / 2**20)


if __name__ == "__main__":
    main()
