"""Widths and heights of photos, from their headers alone."""

import threading
from collections import Counter, deque
from collections.abc import Sequence

from samecam import compute
from samecam.case.extraction import _worker
from samecam.frames import Frame
from samecam.photos import MOST_PIXELS, SMALLEST, PhotoFile

_BATCH = 32
_WORKER_BYTES = 2**20
PHASE = "Measuring"


def measure_photos(
    files: Sequence[PhotoFile],
    resources: compute.Resources,
    progress: compute.Progress,
    stop: threading.Event,
) -> Counter[Frame]:
    """How many files have which frame, of those whose header can be read; no pixel is decoded.

    Done in other processes: a file that makes the decoder hang or crash costs itself alone.
    """
    if not files:  # as of a case that is done: the server of workers would load all for nothing
        return Counter()
    names = [item.file for item in files]
    batches = deque(tuple(names[k : k + _BATCH]) for k in range(0, len(names), _BATCH))
    pool = compute.LocalPool(
        min(resources.n_workers, len(batches)),
        timeout=resources.timeout,
        memory=compute.worker_memory(_WORKER_BYTES),
        preload="samecam._preload",
    )
    frames: Counter[Frame] = Counter()
    done = 0
    for batch, future in compute.completed(pool, _worker.measure, batches, stop):
        try:
            frames.update(Frame(*size) for size in future.result() if size is not None)
        except (compute.TaskTimeoutError, compute.WorkerDiedError):
            if len(batch) > 1:  # one of them is to blame: each is taken by itself
                batches.extend((file,) for file in batch)
                continue
        done += len(batch)
        progress(PHASE, done, len(names))
    return frames


def usable_frames(frames: Counter[Frame]) -> Counter[Frame]:
    """Those that are neither too small nor too large to be read: others take nothing."""
    return Counter(
        {
            frame: count
            for frame, count in frames.items()
            if min(frame) >= SMALLEST and frame.n_pixels <= MOST_PIXELS
        }
    )
