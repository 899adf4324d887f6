"""Evidence for an answer: computed from the case's fingerprints, said for photos and groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from samecam import compute, correlate, evidence
from samecam.arrays import Doubles, Gram, Labels, Rows
from samecam.case.extraction import kept_scene
from samecam.case.folder import Scenes, by_frame
from samecam.case.grouping._chances import Chances, FrameGroups, chances_of
from samecam.store import DiskStore, FingerprintStore, Record

COLUMNS = (
    *("path", "cluster", "correlation", "score", "log10_lr", "log10_lr_same_model", "doubtful"),
    *("p_value", "comparisons", "adjusted_p"),
    *("nearest", "nearest_correlation", "nearest_score", "nearest_log10_lr"),
    *("margin", "pce", "score_without", "words"),
)
PHASE = "Weighing evidence"
CHANCE, SCENES = "Measuring chance", "Comparing members"
_DIGITS = 6
_FIGURES = 3
_MOST_COMPARED = 2000


@dataclass(frozen=True, slots=True)
class Weighed:
    """All evidence of an answer: `photos` and `groups` in the order of records and labels.

    `shared` has what groups share with groups of other cameras, by their numbers.
    """

    photos: evidence.PhotoEvidence
    pce: Doubles
    groups: list[evidence.GroupEvidence]
    scenes: list[Scenes | None]
    divisions: list[evidence.Division | None]
    shared: dict[int, evidence.SharedPattern]
    law: evidence.Law
    comparisons: int


def _frames_with_groups(
    store: DiskStore,
    records: Sequence[Record],
    labels: Labels,
    grouping: Mapping[str, Mapping[str, Any]],
    kept: correlate.KeptGrams | None,
) -> list[FrameGroups]:
    result = []
    for frame, at in by_frame(records).items():
        numbers, local = evidence.local_groups(labels[at])
        if len(numbers):
            known = grouping.get(frame.name, {})
            scale = known.get("null_scale") or correlate.usual_scale(frame.n_pixels)
            boxes = [tuple(box) for box in known.get("left_out", ())]
            gram = None if kept is None else kept.get(frame.name)
            result.append(FrameGroups(store.rows(frame), at, local, numbers, scale, boxes, gram))
    return result


def weigh(
    store: DiskStore,
    records: Sequence[Record],
    labels: Labels,
    grouping: Mapping[str, Mapping[str, Any]],
    memory: int,
    progress: compute.Progress,
    *,
    cameras: Labels | None = None,
    folder: Path | None = None,
    kept: correlate.KeptGrams | None = None,
) -> Weighed | None:
    """Evidence for every photo and group; None where there is no group.

    Photos are compared with the groups of their frame; the law of chance is that of all frames
    together.

    Parameters
    ----------
    store : fingerprints of `records`
    records : the used photos
    labels : their groups, from 0 without gaps; −1 is none
    grouping : what it said of frames, by their names: their scales of chance, and whether
        places were left out
    memory : bytes for what is held at a time; the scenes of a group take up to 64 MB whatever it is
    progress : called with a phase, the photos that are done, and all of them
    cameras : of the photos, as far as groups are known to be of one; default: each is one
    folder : for a temporary file, if the comparisons do not fit in memory
    kept : correlations of the photos of some frames; the evidence does not depend on them
    """
    frames = _frames_with_groups(store, records, labels, grouping, kept)
    if not frames:
        return None
    weak = np.array([record.meta.get("status") == "weak" for record in records], dtype=bool)
    compared = _compared(frames, memory, progress, folder)
    total = sum(int(np.count_nonzero(part.labels >= 0)) for part in frames)
    told = _Told(progress, CHANCE, total)
    chances = [
        chances_of(frame, given, null, memory, told, cameras)
        for frame, (given, null) in zip(frames, compared, strict=True)
    ]
    law = _law(compared, chances)
    pce, parts, groups = np.full(len(labels), np.nan), [], dict[int, evidence.GroupEvidence]()
    shared = dict[int, evidence.SharedPattern]()
    for frame, (given, null), chance in zip(frames, compared, chances, strict=True):
        pixels = frame.rows.n_pixels
        scores, own = chance.scores, chance.own
        photos = evidence.photo_evidence(
            given, scores, pixels, law=law, weak=weak[frame.at], without=chance.without
        )
        parts.append((frame.at, frame.numbers, photos))
        pce[frame.at] = own.peaks(given.own)
        names = np.append(frame.numbers, -1)
        for facts in evidence.group_evidence(given, null, scores[0], pixels, own=own, law=law):
            group, nearest = int(names[facts.group]), int(names[facts.nearest])
            groups[group] = replace(facts, group=group, nearest=nearest)
        for group, pattern in enumerate(chance.patterns):
            if pattern is not None:
                others, all_over = (
                    tuple(int(names[other]) for other in some)
                    for some in (pattern.groups, pattern.everywhere)
                )
                shared[int(names[group])] = replace(pattern, groups=others, everywhere=all_over)
    told = _Told(progress, SCENES, total)
    inside = dict[int, tuple[Scenes | None, evidence.Division | None]]()
    for frame in frames:
        some = [records[k] for k in frame.at]
        each = _all_inside(frame.rows, some, frame.labels, frame.scale, memory, told)
        inside.update(zip(frame.numbers.tolist(), each, strict=True))
        frame.rows.close()
    ordered = range(len(groups))
    return Weighed(
        evidence.joined_evidence(parts, len(labels)),
        pce,
        [groups[k] for k in ordered],
        [inside[k][0] for k in ordered],
        [inside[k][1] for k in ordered],
        shared,
        law,
        sum(len(given.labels) * given.n_groups for given, _ in compared),
    )


class _Told:
    """Progress over all frames, told in photos."""

    def __init__(self, progress: compute.Progress, phase: str, total: int) -> None:
        self._progress, self._phase, self._total, self._before = progress, phase, total, 0

    def __call__(self, done: int, total: int) -> None:
        self._progress(self._phase, self._before + done, self._total)
        if done == total:
            self._before += total


Compared = tuple[evidence.Comparisons, evidence.Null]


def _compared(
    frames: Sequence[FrameGroups], memory: int, progress: compute.Progress, folder: Path | None
) -> list[Compared]:
    """Each photo against each group of its frame, and what strangers do there."""
    progress(PHASE, 0, sum(len(frame.at) for frame in frames))
    return evidence.compare_frames(
        [(frame.rows, frame.labels) for frame in frames],
        [frame.scale for frame in frames],
        memory=memory,
        folder=folder,
        progress=partial(progress, PHASE),
        grams=[frame.gram for frame in frames],
    )


def _law(compared: Sequence[Compared], chances: Sequence[Chances]) -> evidence.Law:
    """The law of strangers, as this case has it."""
    scores = [chance.scores[1][chance.sample] for chance in chances]
    groups = [
        np.full(len(chance.sample), given.n_groups - 1)
        for (given, _), chance in zip(compared, chances, strict=True)
    ]
    fewest = min((chance.own.shifts for chance in chances if chance.own.shifts), default=0)
    law = evidence.STRANGERS.measured_on(fewest) if fewest else evidence.STRANGERS
    return evidence.law_of_case(np.concatenate(scores), np.concatenate(groups), law)


_Inside = tuple[Scenes | None, evidence.Division | None, int]


def _all_inside(
    store: FingerprintStore,
    records: Sequence[Record],
    labels: Labels,
    null_scale: float,
    memory: int,
    progress: Callable[[int, int], None],
) -> list[tuple[Scenes | None, evidence.Division | None]]:
    """Unmoving scenes of each group, and its best division in two."""
    order = np.argsort(labels, kind="stable")
    order = order[labels[order] >= 0]
    each = np.split(order, np.cumsum(np.bincount(labels[order]))[:-1])
    largest = min(max(map(len, each)), _MOST_COMPARED)
    need = 2 * 4 * largest**2 + 2**20
    at_a_time = max(1, memory // need)
    share = max(memory // min(compute.thread_count(), at_a_time), need)
    done = 0

    def inside(members: Rows) -> _Inside:
        some = members[:_MOST_COMPARED]
        gram = correlate.gram(store, rows=some, memory=share)
        scenes = _scenes([records[row] for row in some], gram, null_scale)
        return scenes, evidence.best_division(gram, null_scale), len(members)

    def told(answer: _Inside) -> None:
        nonlocal done
        done += answer[2]
        progress(done, len(order))

    answers = compute.side_by_side(inside, each, most=at_a_time, done=told)
    return [(scenes, division) for scenes, division, _ in answers]


def _scenes(records: Sequence[Record], gram: Gram, null_scale: float) -> Scenes | None:
    """Unmoving scenes among the photos of a group; None if there is none."""
    kept = [kept_scene(record.meta) for record in records]
    there = np.flatnonzero([picture is not None for picture in kept])
    pictures = [picture for picture in kept if picture is not None]
    if len(pictures) < 2:
        return None
    alike = evidence.still_scenes(np.stack(pictures))
    scenes = evidence.scenes(alike)
    if not scenes:
        return None
    unlike = evidence.pair_evidence(gram[np.ix_(there, there)], null_scale, alike)
    return Scenes(
        [[records[k].key for k in there[members]] for members in scenes],
        unlike.pairs,
        number(unlike.correlation),
        figures(unlike.score),
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
    shared = _models_of_several(records, given.photos.group)
    rows = []
    for i, record in enumerate(records):
        same = int(given.photos.group[i]) in shared
        rows.append([record.key, int(groups[i]), *_facts(given, i, same_model=same)])
    return rows


def _models_of_several(records: Sequence[Record], groups: Labels) -> set[int]:
    """Groups whose files name a camera model that those of another group name too."""
    named: dict[tuple[str, str], set[int]] = {}
    for record, group in zip(records, groups.tolist(), strict=True):
        model = str(record.meta.get("make") or ""), str(record.meta.get("model") or "")
        if group >= 0 and model[1]:
            named.setdefault(model, set()).add(group)
    return {group for several in named.values() if len(several) > 1 for group in several}


def _facts(given: Weighed, i: int, *, same_model: bool) -> list[Any]:
    """The rest of a row; `same_model`: see `evidence.photo_sentence`."""
    photos = given.photos
    nearest = int(photos.other[i])
    placed = photos.group[i] >= 0
    return [
        number(photos.correlation[i]),
        figures(photos.score[i]),
        figures(photos.log_ratio[i]),
        figures(photos.model_ratio[i]),
        ("yes" if photos.doubtful[i] else "no") if placed else None,
        figures(photos.p_value[i]),
        int(photos.comparisons[i]),
        figures(photos.adjusted[i]),
        nearest if nearest >= 0 else None,
        number(photos.other_correlation[i]),
        figures(photos.other_score[i]),
        figures(photos.other_ratio[i]),
        number(photos.margin[i]),
        figures(given.pce[i]),
        figures(photos.without[i]),
        evidence.photo_sentence(photos, i, same_model=same_model),
    ]
