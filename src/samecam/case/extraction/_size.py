"""`size="auto"`: the largest crop that nearly all photos allow, from their headers."""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from samecam import compute
from samecam.case.extraction import _worker
from samecam.case.folder import ExtractionSettings
from samecam.errors import SamecamError
from samecam.photos import SMALLEST, PhotoFile

SIZES = (256, 512, 768, 1024)
_SHARE = 19, 20  # 95 %
_BATCH = 32
_WORKER_SIZE = 64
PHASE = "Measuring"

Dimensions = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SizeChoice:
    """How the side of the crop was chosen.

    Attributes
    ----------
    size : the choice
    photos : photos whose header could be read
    allowing : for each size that may be chosen, how many of them are large enough
    """

    size: int
    photos: int
    allowing: dict[int, int]

    @property
    def excluded(self) -> int:
        """Photos that are too small for the choice."""
        return self.photos - self.allowing[self.size]

    def as_dict(self) -> dict[str, Any]:
        """For `case.json` and `--json`."""
        allowing = {str(size): count for size, count in self.allowing.items()}
        return {"size": self.size, "photos": self.photos, "allowing": allowing}


def choose_size(dimensions: Sequence[Dimensions], settings: ExtractionSettings) -> SizeChoice:
    """Choose the largest of 256, 512, 768 and 1024 that 95 % of the photos allow.

    If fewer than 95 % allow 256, it is 256 all the same and the others are left out.

    Parameters
    ----------
    dimensions : stored (width, height) of every photo
    settings : for `offset` and `portrait`; a photo allows a size if the crop lies inside

    Raises
    ------
    SamecamError
        if no photo allows 256; the sentence names the size that most do allow
    """
    sides = sorted(_largest_side(width, height, settings) for width, height in dimensions)
    allowing = {size: sum(side >= size for side in sides) for size in SIZES}
    share, whole = _SHARE
    fitting = [size for size in SIZES if whole * allowing[size] >= share * len(sides)]
    if allowing[SIZES[0]]:
        return SizeChoice(max(fitting, default=SIZES[0]), len(sides), allowing)
    median = sides[len(sides) // 2] if sides else 0
    best = median // SMALLEST * SMALLEST
    advice = f"give a smaller one, like {best}" if best else "there is nothing to compare"
    raise SamecamError(
        f"None of the {len(sides)} photos allows a crop of {SIZES[0]}×{SIZES[0]}, the smallest "
        f"size that is chosen by itself: {advice}."
    )


def _largest_side(width: int, height: int, settings: ExtractionSettings) -> int:
    """Side of the largest crop at the offset, as `read_photo` would place it."""
    x, y = settings.offset
    turned = settings.portrait == "rotate" and height > width
    across, down = (height, width) if turned else (width, height)
    return min(across - x, down - y)


def measure_photos(
    files: Sequence[PhotoFile],
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
) -> list[Dimensions]:
    """Stored (width, height) of all files whose header can be read; no pixel is decoded.

    Done in other processes: a file that makes the decoder hang or crash costs itself alone.
    """
    names = [item.file for item in files]
    batches = deque(tuple(names[k : k + _BATCH]) for k in range(0, len(names), _BATCH))
    pool = compute.LocalPool(
        min(resources.n_workers, max(len(batches), 1)),
        timeout=resources.timeout,
        memory=compute.worker_memory(_WORKER_SIZE),
        preload="samecam._preload",
    )
    sizes: list[Dimensions] = []
    done = 0
    for batch, future in compute.completed(pool, _worker.measure, batches, stop):
        try:
            sizes += [size for size in future.result() if size is not None]
        except (compute.TaskTimeoutError, compute.WorkerDiedError):
            if len(batch) > 1:  # one of them is to blame: each is taken by itself
                batches.extend((file,) for file in batch)
                continue
        done += len(batch)
        progress(PHASE, done, len(names))
    return sizes
