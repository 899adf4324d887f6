"""Evidence for an answer: computed from the case's fingerprints, said for photos and groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from samecam import compute, correlate, evidence
from samecam.arrays import Doubles, Labels, Rows
from samecam.case.extraction import kept_scene
from samecam.case.folder import Scenes, by_frame
from samecam.store import DiskStore, FingerprintStore, Record

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


@dataclass(frozen=True, slots=True)
class _FrameGroups:
    """The photos of one frame with its groups.

    Attributes
    ----------
    rows : fingerprints
    at : numbers of the photos among all
    labels : their groups, from 0
    numbers : what these are among all
    scale : the scale of chance that was clustered with
    whole : whether rows are of whole frames, not of squares
    """

    rows: FingerprintStore
    at: Rows
    labels: Labels
    numbers: Labels
    scale: float
    whole: bool


def _frames_with_groups(
    store: DiskStore, records: Sequence[Record], labels: Labels, scales: Mapping[str, float]
) -> list[_FrameGroups]:
    result = []
    for frame, at in by_frame(records).items():
        numbers, local = evidence.local_groups(labels[at])
        if len(numbers):
            scale = scales.get(frame.name) or correlate.usual_scale(frame.n_pixels)
            result.append(
                _FrameGroups(store.rows(frame), at, local, numbers, scale, store.frame is None)
            )
    return result


def weigh(
    store: DiskStore,
    records: Sequence[Record],
    labels: Labels,
    scales: Mapping[str, float],
    memory: int,
    progress: compute.Progress,
    *,
    folder: Path | None = None,
) -> Weighed | None:
    """Evidence for every photo and group; None where there is no group.

    Photos are compared with the groups of their frame; the law of chance is that of all frames
    together.

    Parameters
    ----------
    store : fingerprints of `records`
    records : the used photos
    labels : their groups, from 0 without gaps; −1 is none
    scales : of chance, that frames were clustered with, by their names
    memory : bytes for what is held at a time; the scenes of a group take up to 64 MB whatever it is
    progress : called with a phase, the photos that are done, and all of them
    folder : for a temporary file, if the comparisons do not fit in memory
    """
    frames = _frames_with_groups(store, records, labels, scales)
    if not frames:
        return None
    photos, groups, null = _compared(frames, len(labels), memory, progress, folder)
    pce, scenes = np.full(len(labels), np.nan), dict[int, Scenes | None]()
    told = [_Told(progress, phase, int(np.count_nonzero(labels >= 0))) for phase in (PEAKS, SCENES)]
    for frame in frames:
        pce[frame.at] = _peaks(frame, memory, told[0])
        some = [records[k] for k in frame.at]
        still = _all_scenes(frame.rows, some, frame.labels, frame.scale, memory, told[1])
        scenes.update(zip(frame.numbers.tolist(), still, strict=True))
        frame.rows.close()
    return Weighed(photos, pce, groups, [scenes[k] for k in range(len(groups))], null)


class _Told:
    """Progress over all frames, told in photos."""

    def __init__(self, progress: compute.Progress, phase: str, total: int) -> None:
        self._progress, self._phase, self._total, self._before = progress, phase, total, 0

    def __call__(self, done: int, total: int) -> None:
        self._progress(self._phase, self._before + done, self._total)
        if done == total:
            self._before += total


def _compared(
    frames: Sequence[_FrameGroups],
    n: int,
    memory: int,
    progress: compute.Progress,
    folder: Path | None,
) -> tuple[evidence.PhotoEvidence, list[evidence.GroupEvidence], evidence.Null]:
    """Each photo against each group of its frame, and what chance does there."""
    progress(PHASE, 0, sum(len(frame.at) for frame in frames))
    compared = evidence.compare_frames(
        [(frame.rows, frame.labels) for frame in frames],
        [frame.scale for frame in frames],
        memory=memory,
        folder=folder,
        progress=partial(progress, PHASE),
    )
    parts, groups = [], dict[int, evidence.GroupEvidence]()
    for frame, (given, null) in zip(frames, compared, strict=True):
        parts.append((frame.at, frame.numbers, evidence.photo_evidence(given, null)))
        names = np.append(frame.numbers, -1)
        for facts in evidence.group_evidence(given, null):
            group, nearest = int(names[facts.group]), int(names[facts.nearest])
            groups[group] = replace(facts, group=group, nearest=nearest)
    pairs = zip(frames, compared, strict=True)
    left_out = np.concatenate([frame.numbers[null.left_out] for frame, (_, null) in pairs])
    return (
        evidence.joined_evidence(parts, n),
        [groups[k] for k in range(len(groups))],
        replace(compared[0][1], left_out=left_out),
    )


def _peaks(frame: _FrameGroups, memory: int, progress: Callable[[int, int], None]) -> Doubles:
    """Peak-to-correlation energy of each photo; NaN where the shape of fingerprints is unknown."""
    rows = frame.rows
    width, height = rows.frame
    if frame.whole:
        return evidence.frame_pce(rows, frame.labels, memory=memory, progress=progress)
    side = round(rows.n_pixels**0.5)
    if height == 1 and side * side == rows.n_pixels:
        width = height = side  # fingerprints that somebody brought may be squares
    if height == 1:
        return np.full(len(frame.labels), np.nan)
    shape = (height, width)
    return evidence.photo_pce(rows, frame.labels, shape, memory=memory, progress=progress)


def _all_scenes(
    store: FingerprintStore,
    records: Sequence[Record],
    labels: Labels,
    null_scale: float,
    memory: int,
    progress: Callable[[int, int], None],
) -> list[Scenes | None]:
    """Unmoving scenes of each group."""
    order = np.argsort(labels, kind="stable")
    order = order[labels[order] >= 0]
    result: list[Scenes | None] = []
    done = 0
    for members in np.split(order, np.cumsum(np.bincount(labels[order]))[:-1]):
        result.append(_scenes(store, records, members[:_MOST_COMPARED], null_scale, memory))
        done += len(members)
        progress(done, len(order))
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


def rows_of(records: Sequence[Record], groups: Labels, given: Weighed | None) -> list[list[Any]]:
    """Rows of `evidence.csv` of groups that are a camera each: `COLUMNS`."""
    if given is None:
        nothing = [None] * (len(COLUMNS) - 2)
        return [[r.key, int(c), *nothing] for r, c in zip(records, groups, strict=True)]
    return [[r.key, int(groups[i]), *_facts(given, i)] for i, r in enumerate(records)]


def _facts(given: Weighed, i: int) -> list[Any]:
    """The rest of a row."""
    photos = given.photos
    nearest = int(photos.other[i])
    return [
        number(photos.correlation[i]),
        figures(photos.z[i]),
        figures(photos.p_value[i]),
        int(photos.comparisons[i]),
        figures(photos.adjusted[i]),
        nearest if nearest >= 0 else None,
        number(photos.other_correlation[i]),
        figures(photos.other_z[i]),
        number(photos.margin[i]),
        figures(given.pce[i]),
        evidence.photo_sentence(photos, i),
    ]
