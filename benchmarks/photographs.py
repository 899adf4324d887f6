"""Real photographs with known cameras, as several benchmarks take them.

A folder holds `truth.csv` (path,camera) and the photographs. A benchmark scores those of which the
top-left corner is at most 30 % saturated.
"""

import csv
import hashlib
import io
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from samecam.arrays import Doubles, Floats, Mask, Pixels, Rows
from samecam.fingerprint import FrameRow, NoResidualError, Preset, fingerprint, frame_row
from samecam.photos import Exposure, exposure, frame_exposure, read_frame
from samecam.store import ByteRows, Frame

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


def load(
    folder: Path, side: int = 1024, corner: int = 512, most: int | None = None
) -> list[Photograph]:
    """All photographs of a folder.

    Parameters
    ----------
    side : pixels of the square that is kept
    corner : pixels of the square that tells the exposure
    most : photographs that are looked at; None: all
    """
    photographs = []
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        for row in islice(csv.DictReader(stream), most):
            data = (folder / row["path"]).read_bytes()
            with Image.open(io.BytesIO(data)) as image:
                pixels = np.asarray(image)[:side, :side].copy()
            light, luma = exposure(pixels[:corner, :corner]), read_frame(data).pixels
            digest = hashlib.sha256(data).hexdigest()
            photographs.append(Photograph(pixels, luma, row["camera"], light, digest))
    return photographs


def load_judged(
    folder: Path, side: int = 1024, corner: int = 512, most: int | None = None
) -> list[Photograph]:
    """Those photographs of a folder that are scored."""
    return [photo for photo in load(folder, side, corner, most) if photo.judged]


class WholeFrames(NamedTuple):
    """Fingerprints as `samecam cluster` makes them of photographs below 4 megapixels.

    Attributes
    ----------
    rows : of the photographs that are used, a byte a pixel
    used : which these are, among those given
    weak : (n,) whether each may found no group
    dark : (n,) whether each is dark
    colours : (n,) how smooth each row is
    """

    rows: ByteRows
    used: Rows
    weak: Mask
    dark: Mask
    colours: Doubles


def whole_frames(photographs: list[Photograph]) -> WholeFrames:
    """Fingerprints of whole frames of one size; photographs of no use are left out."""
    made = {k: row for k, photo in enumerate(photographs) if (row := frame_fingerprint(photo))}
    rows, light = zip(*made.values(), strict=True)
    height, width = photographs[0].luma.shape
    values, scales = np.stack([row.values for row in rows]), [row.scale for row in rows]
    return WholeFrames(
        ByteRows(values, scales, Frame(width, height)),
        np.array(list(made)),
        np.array([one.status == "weak" for one in light]),
        np.array([one.is_dark for one in light]),
        np.array([row.colour for row in rows]),
    )


def frame_fingerprint(photo: Photograph) -> tuple[FrameRow, Exposure] | None:
    """Row and exposure of a whole frame; None if it is white or flat."""
    light = frame_exposure(photo.luma)
    if light.status == "unusable":
        return None
    try:
        row = frame_row(photo.luma, key=photo.sha256, dtype="int8")
    except NoResidualError:
        return None
    light = replace(light, flat=row.flat)
    return None if light.status == "unusable" else (row, light)


def fingerprints(photographs: list[Photograph], side: int, preset: Preset) -> Floats:
    """Fingerprints of the squares of `side` pixels, (n, side²)."""
    rows = [fingerprint(photo.pixels[:side, :side], preset=preset) for photo in photographs]
    return np.stack(rows)
