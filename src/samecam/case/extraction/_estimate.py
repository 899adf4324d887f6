"""What a run will cost, before it begins: disk, and the time of each part."""

import os
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from samecam.case.folder import ExtractionSettings
from samecam.compute import format_bytes
from samecam.errors import SamecamError
from samecam.frames import Frame
from samecam.inputs import in_time, open_regular, read_some
from samecam.notebook import counted
from samecam.photos import PhotoFile, looks_like_picture
from samecam.store import frame_dtype, record_bytes

# Seconds of one core, measured by benchmarks/estimates.py: reading, hashing and decoding a
# photo takes a fixed part, one by its length, and one by the crop.
_PHOTO = 10e-3
_PHOTO_PER_MB = 20e-3
_PHOTO_PER_PIXEL = 45e-9
_LUMA_PER_PIXEL = 8e-9  # of a whole frame
_START = 2.5  # until the worker processes are ready
_RECORD_BYTES = 2048
_READ_SECONDS = 10.0  # that the first bytes of a file may take


@dataclass(frozen=True, slots=True)
class FrameCost:
    """What the photos of one frame will take.

    Attributes
    ----------
    frame : width and height
    files : not done yet
    photos : that will then be compared with one another, if every file is usable
    disk_bytes : of the fingerprints still to be made
    seconds : rough, of reading and fingerprints, with all workers
    """

    frame: Frame
    files: int
    photos: int
    disk_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """Cost of a run on so many files.

    Attributes
    ----------
    files : files that are not done yet
    photos : photos that will then be compared, if every file is usable
    input_bytes : length of the files that are not done yet, altogether
    disk_bytes : what the case may take, if every file is usable
    free_bytes : what is free where the case will be
    workers : processes
    frames : the same frame by frame, that with most photos first
    parts : rough seconds of each part of the run, with `workers` processes
    """

    files: int
    photos: int
    input_bytes: int
    disk_bytes: int
    free_bytes: int
    workers: int
    frames: tuple[FrameCost, ...] = ()
    parts: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Estimate for {counted(self.files, 'file')}: about {self.seconds:.0f} s, "
            f"{format_bytes(self.disk_bytes)} of {format_bytes(self.free_bytes)} free>"
        )

    @property
    def seconds(self) -> float:
        """Of all parts together."""
        return sum(self.parts.values())

    @property
    def fits(self) -> bool:
        """Whether there is room for it."""
        return self.disk_bytes <= self.free_bytes

    def with_parts(self, **seconds: float) -> "Estimate":
        """The same for a run that does more."""
        return replace(self, parts={**self.parts, **seconds})

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        frames = [{**asdict(cost), "frame": cost.frame.name} for cost in self.frames]
        return {**asdict(self), "frames": frames, "seconds": self.seconds, "fits": self.fits}


def disk_bytes(
    files: Sequence[PhotoFile], frames: Mapping[Frame, int], settings: ExtractionSettings, free: int
) -> int:
    """Disk that the fingerprints and records of these files take at most.

    If that is more than is free, files that do not begin like pictures are left out, where
    their headers were not looked at.
    """
    rows = sum(count * row_bytes(frame, settings) for frame, count in frames.items())
    if settings.frame is not None and rows + len(files) * _RECORD_BYTES > free:
        rows = sum(map(_begins_like_picture, files)) * row_bytes(settings.frame, settings)
    return rows + len(files) * _RECORD_BYTES


def row_bytes(frame: Frame, settings: ExtractionSettings) -> int:
    """Bytes of a fingerprint on disk."""
    return record_bytes(frame.n_pixels, frame_dtype(frame, settings.rows))


def _begins_like_picture(item: PhotoFile) -> bool:
    try:
        return looks_like_picture(in_time(_head, item.file, _READ_SECONDS))
    except OSError:
        return False


def _head(file: str) -> bytes:
    with open_regular(file) as stream:
        return read_some(stream, 32)


def free_bytes(folder: Path) -> int:
    """Bytes free where a folder is, or will be."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    usage = shutil.disk_usage(place)
    if not usage.total:  # like /proc: there is no disk behind it
        raise SamecamError(f"Nothing can be written to {str(folder)!r}: name another folder.")
    return usage.free


def estimate(
    files: Sequence[PhotoFile],
    frames: Mapping[Frame, int],
    known: Counter[Frame],
    case: Path,
    settings: ExtractionSettings,
    workers: int,
) -> Estimate:
    """Count files and bytes, time one residual on this machine, and add it up.

    Parameters
    ----------
    files : that are not done yet
    frames : of these
    known : frames of the photos of the case that are
    """
    total = 0
    for item in files:
        try:
            total += os.stat(item.file).st_size
        except OSError:
            continue
    pixel = _pixel_seconds(settings) if files else 0.0
    costs = [
        FrameCost(
            frame,
            frames.get(frame, 0),
            frames.get(frame, 0) + known[frame],
            frames.get(frame, 0) * row_bytes(frame, settings),
            frames.get(frame, 0) * (_PHOTO + pixel * frame.n_pixels) / workers,
        )
        for frame in {*frames, *known}
    ]
    free = free_bytes(case)
    plan = Estimate(
        files=len(files),
        photos=sum(cost.photos for cost in costs),
        input_bytes=total,
        disk_bytes=disk_bytes(files, frames, settings, free),
        free_bytes=free,
        workers=workers,
        frames=tuple(sorted(costs, key=lambda cost: (-cost.photos, cost.frame))),
    )
    work = sum(cost.seconds for cost in costs) + _PHOTO_PER_MB * total / 2**20 / workers
    return plan.with_parts(reading=_START + work) if files else plan


def _pixel_seconds(settings: ExtractionSettings) -> float:
    """Decoding, and the fingerprint of a made-up picture, a pixel; compiled code loaded before."""
    import numpy as np

    from samecam.fingerprint import fingerprint, frame_row

    side = min(settings.size or 512, 512)
    picture = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    seconds = []
    for part in (picture[:64, :64], picture, picture):
        began = time.perf_counter()
        if settings.size is None:
            gray = np.ascontiguousarray(part[..., 0])
            frame_row(gray, key="0" * 64, dtype="bits", **settings.filter)
        else:
            fingerprint(part, **settings.steps)
        seconds.append(time.perf_counter() - began)
    decoding = _LUMA_PER_PIXEL if settings.size is None else _PHOTO_PER_PIXEL
    return decoding + seconds[-1] / side**2


def transform_seconds(n_pixels: int) -> float:
    """Time of a Fourier transform of a fingerprint there and back, on this machine."""
    import math

    import numpy as np
    from scipy.fft import irfft2, rfft2

    side = min(512, max(8, math.isqrt(n_pixels)))
    plane = np.ones((side, side), dtype=np.float32)
    rfft2(plane)
    began = time.perf_counter()
    irfft2(rfft2(plane), s=plane.shape)
    return (time.perf_counter() - began) * n_pixels / side**2


def words_per_second() -> float:
    """Words of 64 pixels a second that are compared with others, on this machine."""
    import numpy as np

    from samecam.correlate import gram
    from samecam.store import BitRows

    words = np.random.default_rng(0).integers(0, 2**63, (64, 2**14), dtype=np.uint64)
    rows = BitRows(words, 64 * words.shape[1])
    gram(rows)
    began = time.perf_counter()
    gram(rows)
    pairs = len(words) * (len(words) + 1) / 2
    return float(pairs * words.shape[1] / (time.perf_counter() - began))


def products_per_second() -> float:
    """Multiplications and additions a second in products of matrices, on this machine."""
    import numpy as np

    a = np.ones((512, 2048), dtype=np.float32)
    a @ a.T
    began = time.perf_counter()
    a @ a.T
    return 2 * 512 * 512 * 2048 / (time.perf_counter() - began)
