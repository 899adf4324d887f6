"""Evidence for an answer: computed from the case's fingerprints, said for photos and groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from samecam import compute, correlate, evidence
from samecam.arrays import Doubles, Labels, Rows
from samecam.case.extraction import kept_scene
from samecam.case.folder import Scenes
from samecam.store import FingerprintStore, Record

COLUMNS = (
    *("path", "cluster", "correlation", "z", "p_value", "comparisons", "adjusted_p"),
    *("nearest", "nearest_correlation", "nearest_z", "margin", "pce", "words"),
)
PHASE = "Weighing evidence"
PEAKS, SCENES = "Measuring peaks", "Comparing scenes"
_DIGITS = 6
_FIGURES = 3
_MOST_COMPARED = 2000


@dataclass(frozen=True, slots=True)
class Weighed:
    """All evidence of an answer: `photos` and `groups` in the order of records and labels."""

    photos: evidence.PhotoEvidence
    pce: Doubles
    groups: list[evidence.GroupEvidence]
    scenes: list[Scenes | None]
    null: evidence.Null


def weigh(
    store: FingerprintStore,
    records: Sequence[Record],
    labels: Labels,
    null_scale: float | None,
    memory: int,
    progress: compute.Progress,
    *,
    folder: Path | None = None,
) -> Weighed | None:
    """Evidence for every photo and group; None where there is no group.

    Parameters
    ----------
    store : rows of `records`, in their order
    records : the used photos
    labels : their groups, from 0 without gaps; −1 is none
    null_scale : the scale of chance that was clustered with
    memory : bytes for what is held at a time; the scenes of a group take up to 64 MB whatever it is
    progress : called with a phase, the photos that are done, and all of them
    folder : for a temporary file, if the comparisons do not fit in memory
    """
    if not (labels >= 0).any():
        return None
    scale = null_scale or correlate.usual_scale(store.n_pixels)
    progress(PHASE, 0, len(labels))
    given = evidence.comparisons_from_rows(
        store, labels, memory=memory, folder=folder, progress=partial(progress, PHASE)
    )
    null = evidence.measured_null(given, null_scale=scale)
    photos, groups = evidence.photo_evidence(given, null), evidence.group_evidence(given, null)
    del given  # what comes next may have all of the memory
    return Weighed(
        photos=photos,
        pce=_peaks(store, labels, memory, progress),
        groups=groups,
        scenes=_all_scenes(store, records, labels, scale, memory, progress),
        null=null,
    )


def _peaks(
    store: FingerprintStore, labels: Labels, memory: int, progress: compute.Progress
) -> Doubles:
    """Peak-to-correlation energy of each photo; NaN where fingerprints are no squares."""
    if round(store.n_pixels**0.5) ** 2 != store.n_pixels:
        return np.full(len(labels), np.nan)
    return evidence.photo_pce(store, labels, memory=memory, progress=partial(progress, PEAKS))


def _all_scenes(
    store: FingerprintStore,
    records: Sequence[Record],
    labels: Labels,
    null_scale: float,
    memory: int,
    progress: compute.Progress,
) -> list[Scenes | None]:
    """Unmoving scenes of each group."""
    order = np.argsort(labels, kind="stable")
    order = order[labels[order] >= 0]
    result: list[Scenes | None] = []
    done = 0
    for members in np.split(order, np.cumsum(np.bincount(labels[order]))[:-1]):
        result.append(_scenes(store, records, members[:_MOST_COMPARED], null_scale, memory))
        done += len(members)
        progress(SCENES, done, len(order))
    return result


def _scenes(
    store: FingerprintStore,
    records: Sequence[Record],
    rows: Rows,
    null_scale: float,
    memory: int,
) -> Scenes | None:
    """Unmoving scenes among the photos of a group; None if there is none."""
    kept = [kept_scene(records[row].meta) for row in rows]
    rows = rows[[picture is not None for picture in kept]]
    pictures = [picture for picture in kept if picture is not None]
    if len(pictures) < 2:
        return None
    alike = evidence.still_scenes(np.stack(pictures))
    scenes = evidence.scenes(alike)
    if not scenes:
        return None
    gram = correlate.gram(store, rows=rows, memory=max(memory, 2 * 4 * len(rows) ** 2 + 2**20))
    unlike = evidence.pair_evidence(gram, null_scale, alike)
    return Scenes(
        [[records[row].key for row in rows[members]] for members in scenes],
        unlike.pairs,
        number(unlike.correlation),
        figures(unlike.z),
    )


def number(value: float) -> float | None:
    """A correlation, rounded so that it does not depend on the order of adding; None for NaN."""
    return None if np.isnan(value) else round(float(value), _DIGITS)


def figures(value: float) -> float | None:
    """Three significant figures; None for NaN."""
    return None if np.isnan(value) else float(f"{value:.{_FIGURES}g}")


def rows_of(
    records: Sequence[Record], labels: Labels, given: Weighed | None
) -> Iterator[list[Any]]:
    """Rows of `evidence.csv`."""
    if given is None:
        nothing = [None] * (len(COLUMNS) - 2)
        yield from ([r.key, int(c), *nothing] for r, c in zip(records, labels, strict=True))
        return
    photos = given.photos
    for i, record in enumerate(records):
        nearest = int(photos.other[i])
        yield [
            record.key,
            int(labels[i]),
            number(photos.correlation[i]),
            figures(photos.z[i]),
            figures(photos.p_value[i]),
            photos.comparisons,
            figures(photos.adjusted[i]),
            nearest if nearest >= 0 else None,
            number(photos.other_correlation[i]),
            figures(photos.other_z[i]),
            number(photos.margin[i]),
            figures(given.pce[i]),
            evidence.photo_sentence(photos, i),
        ]
