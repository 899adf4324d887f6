"""Photos of several frames against the groups of their own, with one law of chance for all."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from samecam import correlate
from samecam.arrays import Labels
from samecam.evidence._comparisons import Comparisons, comparisons_from_rows
from samecam.evidence._null import Null, measured_nulls
from samecam.store import FingerprintStore


def compare_frames(
    frames: Sequence[tuple[FingerprintStore, Labels]],
    null_scales: Sequence[float | None],
    *,
    memory: int = correlate.DEFAULT_MEMORY,
    folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    grams: Sequence[correlate.KeptGram | None] | None = None,
) -> list[tuple[Comparisons, Null]]:
    """Comparisons within each frame, and chance measured on the strangers of all of them.

    Rows are closed after they were read: of thousands of frames, not all can be open.

    Parameters
    ----------
    frames : rows, and their groups from 0 without gaps, −1 for none; each has a group
    null_scales : of each frame, see `measured_null`
    memory, folder : see `comparisons_from_rows`
    progress : called with photos done and all photos of all frames
    grams : correlations of each frame's photos, of those that are kept
    """
    total, done, left = sum(len(rows) for rows, _ in frames), 0, memory
    givens = []
    for (rows, labels), gram in zip(frames, grams or [None] * len(frames), strict=True):

        def told(count: int, _: int, before: int = done) -> None:
            if progress is not None:
                progress(before + count, total)

        given = comparisons_from_rows(
            rows, labels, memory=left, folder=folder, progress=told, gram=gram
        )
        rows.close()
        givens.append(given)
        left = max(correlate.LEAST_MEMORY, min(left, given.memory))
        done += len(rows)
    # With one frame alone there is nothing to compare its units with.
    units = [float(np.sqrt(rows.n_pixels)) if len(frames) > 1 else 1.0 for rows, _ in frames]
    return list(zip(givens, measured_nulls(givens, units, null_scales), strict=True))


def local_groups(labels: Labels) -> tuple[Labels, Labels]:
    """Numbers of the groups that some photos are in, and these photos' groups counted from 0."""
    numbers = np.unique(labels[labels >= 0])
    return numbers, np.where(labels >= 0, np.searchsorted(numbers, labels), -1)
