"""What a run will cost, before it begins: disk, and the time of each part."""

import math
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from samecam.case.extraction._size import SizeChoice
from samecam.case.folder import ExtractionSettings
from samecam.errors import SamecamError
from samecam.inputs import in_time, open_regular, read_some
from samecam.photos import PhotoFile, looks_like_picture
from samecam.store import record_bytes

# Seconds of one core, measured by benchmarks/estimates.py: reading, hashing and decoding a
# photo takes a fixed part, one by its length, and one by the crop.
_PHOTO = 10e-3
_PHOTO_PER_MB = 20e-3
_PHOTO_PER_PIXEL = 45e-9
_START = 2.5  # until the worker processes are ready
_RECORD_BYTES = 2048
_READ_SECONDS = 10.0  # that the first bytes of a file may take


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cost of a run on so many files.

    Attributes
    ----------
    files : files that are not done yet
    photos : photos that will then be compared, if every file is usable
    input_bytes : length of the files that are not done yet, altogether
    disk_bytes : what the case may take, if every file is usable
    free_bytes : what is free where the case will be
    parts : rough seconds of each part of the run, with `workers` processes
    size : side of the crop, as given, as the case has it, or as chosen
    choice : how the size was chosen, if it was chosen now
    """

    files: int
    photos: int
    input_bytes: int
    disk_bytes: int
    free_bytes: int
    workers: int
    size: int
    choice: SizeChoice | None = None
    parts: dict[str, float] = field(default_factory=dict)

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
        choice = None if self.choice is None else self.choice.as_dict()
        return {**asdict(self), "choice": choice, "seconds": self.seconds, "fits": self.fits}


def disk_bytes(files: Sequence[PhotoFile], settings: ExtractionSettings, free: int) -> int:
    """Disk that the fingerprints and records of these files take at most.

    If that is more than is free, files that do not begin like pictures are left out.
    """
    row = record_bytes(settings.n_pixels, settings.dtype)
    pictures = len(files)
    if pictures * (row + _RECORD_BYTES) > free:
        pictures = sum(map(_begins_like_picture, files))
    return pictures * row + len(files) * _RECORD_BYTES


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
    known: int,
    case: Path,
    settings: ExtractionSettings,
    workers: int,
    choice: SizeChoice | None = None,
) -> Estimate:
    """Count files and bytes, time one residual on this machine, and add it up.

    Parameters
    ----------
    files : that are not done yet
    known : photos of the case that are
    """
    total = 0
    for item in files:
        try:
            total += os.stat(item.file).st_size
        except OSError:
            continue
    each = _PHOTO + _PHOTO_PER_PIXEL * settings.n_pixels
    each += _residual_seconds(settings) if files else 0.0
    work = len(files) * each + _PHOTO_PER_MB * total / 2**20
    free = free_bytes(case)
    plan = Estimate(
        files=len(files),
        photos=known + len(files),
        input_bytes=total,
        disk_bytes=disk_bytes(files, settings, free),
        free_bytes=free,
        workers=workers,
        size=settings.side,
        choice=choice,
    )
    return plan.with_parts(reading=_START + work / workers) if files else plan


def _residual_seconds(settings: ExtractionSettings) -> float:
    """Time of one fingerprint of a made-up picture, compiled code loaded before."""
    import numpy as np

    from samecam.fingerprint import fingerprint

    side = min(settings.side, 512)
    picture = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    fingerprint(picture[:64, :64], **settings.steps)
    fingerprint(picture, **settings.steps)
    began = time.perf_counter()
    fingerprint(picture, **settings.steps)
    return (time.perf_counter() - began) * (settings.side / side) ** 2


def transform_seconds(n_pixels: int) -> float:
    """Time of a Fourier transform of a fingerprint there and back, on this machine."""
    import numpy as np
    from scipy.fft import irfft2, rfft2

    side = min(512, max(8, math.isqrt(n_pixels)))
    plane = np.ones((side, side), dtype=np.float32)
    rfft2(plane)
    began = time.perf_counter()
    irfft2(rfft2(plane), s=plane.shape)
    return (time.perf_counter() - began) * n_pixels / side**2


def products_per_second() -> float:
    """Multiplications and additions a second in products of matrices, on this machine."""
    import numpy as np

    a = np.ones((512, 2048), dtype=np.float32)
    a @ a.T
    began = time.perf_counter()
    a @ a.T
    return 2 * 512 * 512 * 2048 / (time.perf_counter() - began)
