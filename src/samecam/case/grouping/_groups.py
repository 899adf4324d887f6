"""What can be said of every camera and group, from evidence and the files' own data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from samecam import evidence
from samecam.arrays import Labels
from samecam.case.folder import (
    Camera,
    Division,
    ExifCamera,
    Group,
    PlacedPhoto,
    Scenes,
    frame_name,
)
from samecam.case.grouping._cameras import Seen
from samecam.case.grouping._evidence import Weighed, figures, number
from samecam.case.grouping._shared import shared_pattern, shared_warning
from samecam.register import Cameras
from samecam.store import Record

# Share of what members have in common that is there at shifts too, from which a reader is warned.
_REPEATS = 0.05


def describe_cameras(
    records: Sequence[Record], cameras: Cameras, weighed: Weighed | None, *, views: bool
) -> list[Camera]:
    """Cameras from 0 on; `records` are the used photos in the order of `cameras.labels`.

    Parameters
    ----------
    views : whether cameras can be seen in several ways: not those of squares
    """
    if weighed is None:
        return []
    seen = Seen(records, cameras)
    members: list[list[Group]] = [[] for _ in cameras.first]
    for group in describe_groups(records, cameras.groups, weighed):
        camera = seen.camera(group.id)
        group = replace(group, camera=camera)
        members[camera].append(_joined(group, seen, cameras) if views else group)
    placed: list[list[PlacedPhoto]] = [[] for _ in cameras.first]
    for k, view in cameras.alone.items():
        photo, words = records[k], seen.photo_words(k)
        one = PlacedPhoto(photo.key, photo.sha256, frame_name(photo), view, *words)
        placed[int(cameras.labels[k])].append(one)
    result = []
    for k, first in enumerate(cameras.first):
        ordered = sorted(members[k], key=lambda group: (group.id != first, group.id))
        size = sum(group.size for group in ordered) + len(placed[k])
        warnings = _camera_warnings(records, cameras, k) if size > ordered[0].size else []
        result.append(Camera(k, size, ordered, placed[k], warnings))
    return result


def _joined(group: Group, seen: Seen, cameras: Cameras) -> Group:
    """A group with its view; a group of its own camera is no other one."""
    words, why = seen.group_words(group.id)
    group = replace(group, view=cameras.views[group.id], words=words, why_joined=why)
    if group.nearest is None or seen.camera(group.nearest) != group.camera:
        return group
    sentence = evidence.joined_sentence(group.id, group.nearest)
    return replace(group, apart="joined", why_apart=sentence)


def _camera_warnings(records: Sequence[Record], cameras: Cameras, camera: int) -> list[str]:
    inside = np.flatnonzero(cameras.labels == camera)
    return evidence.view_warnings([_texts(records[int(row)]) for row in inside])


def describe_groups(
    records: Sequence[Record], labels: Labels, weighed: Weighed | None
) -> list[Group]:
    """Groups from 0 on; `records` are the used photos in the order of `labels`."""
    if weighed is None:
        return []
    result = []
    for k, facts in enumerate(weighed.groups):
        members = np.flatnonzero(labels == k)
        rows = [records[int(row)] for row in members]
        group = _describe(
            rows,
            facts,
            weighed.scenes[k],
            weighed.divisions[k],
            same_mode=_same_mode(records, labels, k, facts.nearest),
        )
        frame = rows[0].frame
        shared = None if frame is None else shared_pattern(weighed, k, members, frame)
        if shared is not None:
            warnings = [*group.warnings, shared_warning(shared, group.size)]
            group = replace(group, shared=shared, warnings=warnings)
        result.append(group)
    return result


def _same_mode(records: Sequence[Record], labels: Labels, group: int, other: int) -> bool:
    """Whether the files of two groups name the same focal lengths, zooms and orientations.

    What no file names does not agree.
    """
    modes = [
        {
            tuple(records[int(row)].meta.get(name) for name in ("focal", "zoom", "orientation"))
            for row in np.flatnonzero(labels == each)
        }
        for each in (group, other)
    ]
    return modes[0] == modes[1] and all(mode[0] is not None for mode in modes[0])


def _describe(
    rows: list[Record],
    facts: evidence.GroupEvidence,
    scenes: Scenes | None,
    division: evidence.Division | None,
    *,
    same_mode: bool,
) -> Group:
    warnings = evidence.exif_warnings([_texts(row) for row in rows])
    if scenes is not None:
        warnings.append(_still(facts, scenes))
    if facts.repeats > _REPEATS:
        warnings.append(evidence.repeats_sentence(facts.repeats))
    if division is not None and division.falls_apart:
        warnings.append(evidence.division_sentence(len(division.second), division))
    apart = facts.apart if same_mode or facts.apart != "different" else "not shown"
    return Group(
        id=facts.group,
        size=facts.size,
        frame=frame_name(rows[0]),
        paths=[row.key for row in rows],
        hashes=[row.sha256 for row in rows],
        correlation=number(facts.intra_correlation),
        quality=number(facts.quality),
        score=figures(facts.score),
        weakest=figures(facts.weakest),
        repeats=figures(facts.repeats),
        division=None if division is None else _division(rows, division),
        cameras=_exif_cameras(rows),
        nearest=facts.nearest if facts.nearest >= 0 else None,
        nearest_correlation=number(facts.nearest_correlation),
        nearest_score=figures(facts.nearest_score),
        nearest_log10_lr=figures(facts.nearest_ratio),
        expected=number(facts.expected),
        apart=apart,
        why_apart=evidence.apart_sentence(facts, same_mode=same_mode),
        scenes=scenes,
        warnings=warnings,
    )


def _division(rows: Sequence[Record], division: evidence.Division) -> Division:
    """The division of a group in two, as it is written."""
    return Division(
        [rows[int(k)].key for k in np.flatnonzero(division.second)],
        number(division.correlation),
        number(division.expected),
        figures(division.score),
        division.falls_apart,
    )


def _still(facts: evidence.GroupEvidence, scenes: Scenes) -> str:
    """What unmoving scenes mean for the group."""
    pairs = facts.size * (facts.size - 1) // 2
    return evidence.still_sentence(
        sum(map(len, scenes.paths)),
        facts.size,
        evidence.PairEvidence(pairs, facts.intra_correlation, facts.score),
        evidence.PairEvidence(scenes.pairs, _nan(scenes.correlation), _nan(scenes.score)),
    )


def _texts(record: Record) -> dict[str, str]:
    return {name: "" if value is None else str(value) for name, value in record.meta.items()}


def _nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _exif_cameras(rows: Sequence[Record]) -> list[ExifCamera]:
    """Make and model with counts, most frequent first."""
    seen = Counter((row.meta.get("make") or "", row.meta.get("model") or "") for row in rows)
    ordered = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
    return [ExifCamera(make, model, count) for (make, model), count in ordered]


def about_evidence(weighed: Weighed, count: int) -> dict[str, Any]:
    """What scores and ratios rest on, and what they do not say."""
    law = weighed.law
    return {
        "comparisons": weighed.comparisons,
        "groups": count,
        "law": {
            "version": evidence.LAW_VERSION,
            "freedom": figures(law.freedom),
            "scale": figures(law.scale),
        },
        "words": [
            evidence.law_sentence(law),
            evidence.SENSOR,
            evidence.MODEL,
            evidence.ABSENCE,
        ],
    }
