"""Real photographs with known cameras, as several benchmarks take them.

A folder holds `truth.csv` (path,camera) and the photographs. A benchmark scores those of which the
top-left corner is at most 30 % saturated.
"""

import csv
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from samecam.arrays import Floats, Pixels
from samecam.fingerprint import Preset, fingerprint, frame_row
from samecam.photos import Exposure, exposure, read_frame

MOST_SATURATED = 0.3


@dataclass(frozen=True)
class Photograph:
    """A photograph.

    Attributes
    ----------
    pixels : its top-left square
    luma : of the whole file
    camera : that took it
    exposure : of its corner
    sha256 : of the file
    """

    pixels: Pixels
    luma: Pixels
    camera: str
    exposure: Exposure
    sha256: str

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
            data = (folder / row["path"]).read_bytes()
            with Image.open(io.BytesIO(data)) as image:
                pixels = np.asarray(image)[:side, :side].copy()
            light, luma = exposure(pixels[:corner, :corner]), read_frame(data).pixels
            digest = hashlib.sha256(data).hexdigest()
            photographs.append(Photograph(pixels, luma, row["camera"], light, digest))
    return photographs


def load_judged(folder: Path, side: int = 1024, corner: int = 512) -> list[Photograph]:
    """Those photographs of a folder that are scored."""
    return [photo for photo in load(folder, side, corner) if photo.judged]


def whole_frames(photographs: list[Photograph]) -> Floats:
    """Fingerprints of whole frames of one size, a byte a pixel, (n, d)."""
    rows = [frame_row(photo.luma, key=photo.sha256, dtype="int8") for photo in photographs]
    return np.stack([row.values * np.float32(row.scale) for row in rows])


def fingerprints(photographs: list[Photograph], side: int, preset: Preset) -> Floats:
    """Fingerprints of the squares of `side` pixels, (n, side²)."""
    rows = [fingerprint(photo.pixels[:side, :side], preset=preset) for photo in photographs]
    return np.stack(rows)
