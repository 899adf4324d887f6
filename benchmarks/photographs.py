"""Real photographs with known cameras, as several benchmarks take them.

A folder holds `truth.csv` (path,camera) and the photographs. A benchmark scores those of which the
top-left corner is at most 30 % saturated.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from samecam.arrays import Floats, Pixels
from samecam.fingerprint import Preset, fingerprint
from samecam.photos import Exposure, exposure

MOST_SATURATED = 0.3


@dataclass(frozen=True)
class Photograph:
    """The top-left square of a photograph, its camera, and the exposure of its corner."""

    pixels: Pixels
    camera: str
    exposure: Exposure

    @property
    def judged(self) -> bool:
        """Whether a benchmark scores it."""
        return self.exposure.saturated <= MOST_SATURATED


def load(folder: Path, side: int = 1024, corner: int = 512) -> list[Photograph]:
    """All photographs of a folder.

    Parameters
    ----------
    side : pixels of the square that is kept
    corner : pixels of the square that tells the exposure
    """
    photographs = []
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            with Image.open(folder / row["path"]) as image:
                pixels = np.asarray(image)[:side, :side].copy()
            light = exposure(pixels[:corner, :corner])
            photographs.append(Photograph(pixels, row["camera"], light))
    return photographs


def load_judged(folder: Path, side: int = 1024, corner: int = 512) -> list[Photograph]:
    """Those photographs of a folder that are scored."""
    return [photo for photo in load(folder, side, corner) if photo.judged]


def fingerprints(photographs: list[Photograph], side: int, preset: Preset) -> Floats:
    """Fingerprints of the squares of `side` pixels, (n, side²)."""
    rows = [fingerprint(photo.pixels[:side, :side], preset=preset) for photo in photographs]
    return np.stack(rows)
