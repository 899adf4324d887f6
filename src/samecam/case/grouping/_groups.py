"""What can be said of every camera and group, from evidence and the files' own data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from samecam import evidence
from samecam.arrays import Labels
from samecam.case.folder import Camera, ExifCamera, Group, PlacedPhoto, Scenes, frame_name
from samecam.case.grouping._cameras import Seen
from samecam.case.grouping._evidence import Weighed, figures, number
from samecam.register import Cameras
from samecam.store import Record


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
    return [
        _describe([records[int(row)] for row in np.flatnonzero(labels == k)], facts, scenes)
        for k, (facts, scenes) in enumerate(zip(weighed.groups, weighed.scenes, strict=True))
    ]


def _describe(rows: list[Record], facts: evidence.GroupEvidence, scenes: Scenes | None) -> Group:
    warnings = evidence.exif_warnings([_texts(row) for row in rows])
    if scenes is not None:
        warnings.append(_still(facts, scenes))
    return Group(
        id=facts.group,
        size=facts.size,
        frame=frame_name(rows[0]),
        paths=[row.key for row in rows],
        hashes=[row.sha256 for row in rows],
        correlation=number(facts.intra_correlation),
        quality=number(facts.quality),
        z=figures(facts.z),
        cameras=_exif_cameras(rows),
        nearest=facts.nearest if facts.nearest >= 0 else None,
        nearest_correlation=number(facts.nearest_correlation),
        expected=number(facts.expected),
        apart=facts.apart,
        why_apart=evidence.apart_sentence(facts),
        scenes=scenes,
        warnings=warnings,
    )


def _still(facts: evidence.GroupEvidence, scenes: Scenes) -> str:
    """What unmoving scenes mean for the group."""
    pairs = facts.size * (facts.size - 1) // 2
    return evidence.still_sentence(
        sum(map(len, scenes.paths)),
        facts.size,
        evidence.PairEvidence(pairs, facts.intra_correlation, facts.z),
        evidence.PairEvidence(scenes.pairs, _nan(scenes.correlation), _nan(scenes.z)),
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


def about_evidence(null: evidence.Null, count: int) -> dict[str, Any]:
    """What the error rates rest on, and what they do not say."""
    return {
        "comparisons": null.comparisons,
        "groups": count,
        "smallest_rate": figures(null.floor),
        "scale": figures(null.scale),
        "words": [
            evidence.null_sentence(null),
            evidence.SENSOR,
            evidence.MODEL,
            evidence.ABSENCE,
        ],
    }
