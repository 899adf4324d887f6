"""Evidence for an answer: computed from the case's fingerprints, said for photos and groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecam import compute, correlate, evidence
from samecam.arrays import Doubles, Labels
from samecam.case.extraction import kept_scene
from samecam.case.folder import Scenes
from samecam.store import FingerprintStore, Record

COLUMNS = (
    *("path", "cluster", "correlation", "z", "p_value", "comparisons", "adjusted_p"),
    *("nearest", "nearest_correlation", "nearest_z", "margin", "pce", "words"),
)
PHASE = "Weighing evidence"
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
) -> Weighed | None:
    """Evidence for every photo and group; None where there is no group.

    Parameters
    ----------
    store : rows of `records`, in their order
    records : the used photos
    labels : their groups, from 0 without gaps; −1 is none
    null_scale : the scale of chance that was clustered with
    memory : bytes for what is held at a time
    """
    count = int(labels.max(initial=-1)) + 1
    if count == 0:
        return None
    progress(PHASE, 0, 3)
    scale = null_scale or correlate.usual_scale(store.n_pixels)
    sums = evidence.sums_from_rows(store, labels, memory=memory)
    null = evidence.measured_null(sums, null_scale=scale)
    progress(PHASE, 1, 3)
    square = round(store.n_pixels**0.5) ** 2 == store.n_pixels
    pce = (
        evidence.photo_pce(store, labels, memory=memory) if square else np.full(len(labels), np.nan)
    )
    progress(PHASE, 2, 3)
    weighed = Weighed(
        photos=evidence.photo_evidence(sums, null),
        pce=pce,
        groups=evidence.group_evidence(sums, null),
        scenes=[_scenes(store, records, labels, c, scale, memory) for c in range(count)],
        null=null,
    )
    progress(PHASE, 3, 3)
    return weighed


def _scenes(
    store: FingerprintStore,
    records: Sequence[Record],
    labels: Labels,
    group: int,
    null_scale: float,
    memory: int,
) -> Scenes | None:
    """Unmoving scenes of a group, of its first 2,000 photos; None if there is none."""
    rows = np.flatnonzero(labels == group)[:_MOST_COMPARED]
    kept = [kept_scene(records[row].meta) for row in rows]
    rows = rows[[picture is not None for picture in kept]]
    pictures = [picture for picture in kept if picture is not None]
    if len(pictures) < 2:
        return None
    alike = evidence.still_scenes(np.stack(pictures))
    found = evidence.scenes(alike)
    if not found:
        return None
    gram = correlate.gram(store, rows=rows, memory=max(memory, 2 * 4 * len(rows) ** 2 + 2**20))
    unlike = evidence.pair_evidence(gram, null_scale, alike)
    return Scenes(
        [[records[row].key for row in rows[members]] for members in found],
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


def rows_of(records: Sequence[Record], labels: Labels, given: Weighed | None) -> list[list[Any]]:
    """Rows of `evidence.csv`."""
    if given is None:
        nothing = [None] * (len(COLUMNS) - 2)
        return [[r.key, int(c), *nothing] for r, c in zip(records, labels, strict=True)]
    photos = given.photos
    rows = []
    for i, record in enumerate(records):
        nearest = int(photos.other[i])
        rows.append(
            [
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
        )
    return rows
