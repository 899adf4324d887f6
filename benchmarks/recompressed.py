"""Fingerprints of photographs that are saved a second time: F and P by JPEG quality.

python -m benchmarks.recompressed [--shared DIR]

Real photographs are squares of 1,024 pixels; whole frames are simulated. Every file goes in that is
not white; scored are, for every quality, those whose corner is at most 30 % saturated as it came
from the camera. The second compression halves the colours (4:2:0), as phones and services do. The
simulator's strength of patterns is its default. Rows of bits and bytes are grouped as those of a
case are, with how smooth each is; floats without.
"""

import csv
import hashlib
import io
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from benchmarks.photographs import MOST_SATURATED
from benchmarks.record import folder_of, parser, write
from samecam import correlate
from samecam.arrays import Doubles, Floats, Gram, Pixels
from samecam.cluster import ConsolidatedSSC
from samecam.fingerprint import FrameKind, FrameRow, fingerprint, frame_row
from samecam.metrics import scores
from samecam.photos import Exposure, exposure, frame_exposure, read_frame
from samecam.simulate import simulate_photos
from samecam.store import BitRows

Size = tuple[int, int]
Qualities = tuple[int | None, ...]
QUALITIES: Qualities = (None, 80, 65, 50)  # None: not saved again
QUICK_QUALITIES: Qualities = (None, 50)
SIDE, QUICK_SIDE, CORNER = 1024, 256, 512
# Simulated: width and height, and at which qualities; cameras, and photos of each.
FRAMES: dict[Size, Qualities] = {(2560, 1920): QUALITIES, (4000, 3000): (50,)}
QUICK_FRAMES: dict[Size, Qualities] = {(352, 288): QUICK_QUALITIES}
CAMERAS, QUICK_CAMERAS = (8, 12), (3, 5)
SEED = 0
_PIXELS = 2**20  # of bytes that are correlated at a time
_NAMES: dict[FrameKind, str] = {"2bits": "2 bits"}


@dataclass(frozen=True)
class File:
    """A JPEG as it came from the camera, the exposure of its square and of all of it."""

    data: bytes
    camera: str
    square: Exposure
    whole: Exposure
    judged: bool


class Correlated(NamedTuple):
    """Correlations of some files, pixels of a row, and how smooth each is, where that is known."""

    gram: Gram
    n_pixels: int
    smooth: Doubles | None = None


@dataclass(frozen=True)
class Kind:
    """One kind of fingerprint: its name, and correlations of all pairs of some files by it.

    Attributes
    ----------
    side : of the top-left square in pixels; None: the whole picture
    """

    name: str
    side: int | None
    correlate: Callable[[Sequence[bytes]], Correlated]


def load(folder: Path, side: int) -> list[File]:
    """All photographs of a folder with truth.csv."""
    files, corner = [], min(CORNER, side)
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            data = (folder / row["path"]).read_bytes()
            pixels = colours(data, side)
            judged = exposure(pixels[:corner, :corner]).saturated <= MOST_SATURATED
            whole = frame_exposure(read_frame(data).pixels)
            files.append(File(data, row["camera"], exposure(pixels), whole, judged))
    return files


def saved_again(data: bytes, quality: int | None) -> bytes:
    """A JPEG decoded and saved at a quality."""
    if quality is None:
        return data
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        picture.save(buffer, "JPEG", quality=quality, subsampling=2)
    return buffer.getvalue()


def colours(data: bytes, side: int) -> Pixels:
    """Colours of the top-left square."""
    with Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture)[:side, :side].copy()


def luma(data: bytes, side: int | None) -> Pixels:
    """Luma, as the decoder gives it, of the top-left square or of the whole picture."""
    return np.ascontiguousarray(read_frame(data).pixels[:side, :side])


def in_floats(name: str, side: int, pixels: Callable[[bytes, int], Pixels]) -> Kind:
    """Fingerprints as they were before there were whole frames."""

    def correlated(files: Sequence[bytes]) -> Correlated:
        rows: Floats = np.stack([fingerprint(pixels(data, side)) for data in files])
        return Correlated(correlate.gram(rows), rows.shape[1])

    return Kind(name, side, correlated)


def quantised(dtype: FrameKind, side: int | None) -> Kind:
    """Rows as a case keeps them of whole frames."""

    def correlated(files: Sequence[bytes]) -> Correlated:
        n_pixels = luma(files[0], side).size
        rows = [row_of(data, side, dtype) for data in files]
        smooth = np.array([row.colour for row in rows])
        return Correlated(row_gram(rows, n_pixels), n_pixels, smooth)

    return Kind(f"luma, {_NAMES.get(dtype, dtype)}", side, correlated)


def row_of(data: bytes, side: int | None, dtype: FrameKind) -> FrameRow:
    return frame_row(luma(data, side), key=hashlib.sha256(data).hexdigest(), dtype=dtype)


def row_gram(rows: Sequence[FrameRow], n_pixels: int) -> Gram:
    """Correlations of rows of bits or bytes; bytes some pixels at a time."""
    values = np.stack([row.values for row in rows])
    if values.dtype == np.uint64:
        return correlate.gram(BitRows(values, n_pixels))
    total = np.zeros((len(rows), len(rows)))
    for start in range(0, n_pixels, _PIXELS):
        block = values[:, start : start + _PIXELS].astype(np.float32)
        total += block @ block.T
    scales = np.array([row.scale for row in rows])
    G: Floats = (total * np.outer(scales, scales)).astype(np.float32)
    np.fill_diagonal(G, 1)
    return G


def measured(what: str, area: str, files: Sequence[File], kind: Kind, again: int | None) -> Any:
    """Group the files, saved again at a quality, and score."""
    lights = [file.whole if kind.side is None else file.square for file in files]
    used = [k for k, light in enumerate(lights) if light.status != "unusable"]
    G, n_pixels, smooth = kind.correlate([saved_again(files[k].data, again) for k in used])
    method = ConsolidatedSSC(metric="precomputed", n_pixels=n_pixels)
    weak = np.array([lights[k].status == "weak" for k in used])
    method.fit(G, weak=weak, colour=smooth)
    cameras = np.array([files[k].camera for k in used])
    judged = np.array([files[k].judged for k in used])
    score = scores(cameras[judged], method.labels_[judged])
    same = np.triu((cameras[:, None] == cameras) & judged & judged[:, None], 1)
    row = {
        "set": what,
        "area": area,
        "fingerprint": kind.name,
        "quality": again,
        "images": len(used),
        "scored": int(judged.sum()),
        "F": score.f,
        "P": score.precision,
        "R": score.recall,
        "clusters": score.n_clusters,
        "cameras": score.n_cameras,
        "unclustered": score.n_unclustered,
        "null_scale": method.null_scale_,
        "separation": float(np.median(G[same])) / method.null_scale_,
    }
    print(
        f"{what}, {area}, {kind.name:12} {again or 'once':>4}  F {score.f:.3f} "
        f"P {score.precision:.3f} R {score.recall:.3f} {score.n_clusters:3}/{score.n_cameras} "
        f"{score.n_unclustered:4}  {row['separation']:.2f}",
        flush=True,
    )
    return row


def real(folder: Path, qualities: Qualities, side: int) -> list[dict[str, Any]]:
    """Squares of real photographs."""
    files = load(folder, side)
    tried = (
        in_floats("RGB, float", side, colours),
        in_floats("luma, float", side, luma),
        quantised("int8", side),
        quantised("2bits", side),
        quantised("bits", side),
    )
    return [
        measured("photographs", f"{side}²", files, kind, quality)
        for quality in qualities
        for kind in tried
    ]


def simulated(size: Size, qualities: Qualities, side: int, quick: bool) -> list[dict[str, Any]]:
    """Whole frames of simulated photographs, beside their corner."""
    cameras, images = QUICK_CAMERAS if quick else CAMERAS
    given: dict[str, Any] = {"cameras": cameras, "images": images, "size": size, "seed": SEED}
    with tempfile.TemporaryDirectory() as folder:
        simulate_photos(Path(folder) / "photos", workers=1 if quick else None, **given)
        files = load(Path(folder) / "photos", side)
    name, whole = f"simulated, {size[0]}×{size[1]}", f"{size[0]}×{size[1]}"
    tried = (
        (f"{side}²", in_floats("RGB, float", side, colours)),
        (whole, quantised("int8", None)),
        (whole, quantised("2bits", None)),
        (whole, quantised("bits", None)),
    )
    return [
        measured(name, area, files, kind, quality) for quality in qualities for area, kind in tried
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    options = asked.parse_args(arguments)
    side = QUICK_SIDE if options.quick else SIDE
    tried = QUICK_QUALITIES if options.quick else QUALITIES
    rows = real(options.shared / "photos", tried, side) if options.shared else []
    for size, qualities in (QUICK_FRAMES if options.quick else FRAMES).items():
        rows += simulated(size, qualities, side, options.quick)
    cameras, images = QUICK_CAMERAS if options.quick else CAMERAS
    write(
        "recompressed",
        rows,
        folder=folder_of(options),
        quick=options.quick,
        photographs=options.shared is not None,
        cameras=cameras,
        images=images,
        seed=SEED,
    )


if __name__ == "__main__":
    main()
