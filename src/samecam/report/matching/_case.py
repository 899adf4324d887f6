"""Photos in question against the cameras of a case."""

import math
from collections.abc import Mapping

from samecam.case import Match, Matches, SavedCase
from samecam.report._names import shown
from samecam.report.matching import _photos
from samecam.report.matching._chart import Chart
from samecam.report.matching._content import (
    Content,
    Part,
    counted,
    few,
    limits,
    members,
    software,
    text,
)

# Cameras that have a part of their own; photos of others stand in the table.
_MOST = 60


def case_content(result: Matches, saved: SavedCase) -> Content:
    """The page of photos and a case."""
    numbered = list(enumerate(result.photos, start=1))
    files = saved.sources().files
    taken: dict[int, list[tuple[int, Match]]] = {}
    for number, match in numbered:
        if match.camera is not None:
            taken.setdefault(match.camera, []).append((number, match))
    parts: list[Part] = []
    used = 0
    for camera in sorted(taken, key=lambda c: (-len(taken[c]), c))[:_MOST]:
        parts.append(_camera(result, saved, camera, taken[camera], files, used))
        used += len(parts[-1].pictures)
    chart = _photos.none_chart(numbered, result.rate)
    name = shown(saved.folder.resolve().name or "case")
    there = counted(len(saved.cameras), "camera")
    return Content(
        question="Which camera took these photos?",
        about=f"{counted(len(result.photos), 'photo')} · case {name}, {there}",
        summary=f"{result.summary}.",
        parts=[*parts, *_photos.none_part(result, numbered, used, chart)],
        rows=[_photos.photo_row(k, match) for k, match in numbered],
        hashes=_photos.hashes(numbered),
        sheets=[software(), ("Comparison", _photos.comparison(result)), _sheet(saved, name)],
        limits=limits(result.measured),
    )


def _camera(
    result: Matches,
    saved: SavedCase,
    camera: int,
    taken: _photos.Numbered,
    files: Mapping[str, str],
    used: int,
) -> Part:
    """A camera that photos match, with its strongest members; `used` pictures stand before it."""
    groups = sorted({m.group for _, m in taken if m.group is not None})
    charts = [_group_chart(result, saved, group, taken) for group in groups]
    own = saved.cameras[camera].groups
    scored = [
        (photo.path, photo.sha256, math.nan if score is None else score)
        for group in own
        for photo in saved.members(group)
        for score in [photo.telling_score]
    ]
    strongest, total = members(scored, files)
    kept, left_out = few(_photos.pictures(result, taken), used)
    return Part(
        title=f"Camera {camera}",
        about=f"{counted(len(taken), 'photo')} of {len(result.photos)} match it.",
        charts=[chart for chart in charts if chart is not None],
        pictures=kept,
        members=strongest,
        of_members=f"The strongest of its {counted(total, 'photo')} in the case",
        left_out=left_out,
        remarks=[shown(warning) for warning in saved.cameras[camera].warnings],
    )


def _group_chart(
    result: Matches, saved: SavedCase, group: int, taken: _photos.Numbered
) -> Chart | None:
    """Photos that match one group, over the scores of its members."""
    some, own = [(k, m) for k, m in taken if m.group == group], saved.groups[group]
    known = [s for photo in saved.members(own) if (s := photo.telling_score) is not None]
    if any(m.frame not in (own.frame, None) for _, m in some):
        known = []  # on smaller squares members have other scores
    title = f"Group {group}" + (f", {shown(own.words)}" if own.words else "")
    return _photos.photo_chart(title, some, result.rate, frame=own.frame, known=known)


def _sheet(saved: SavedCase, name: str) -> tuple[str, list[tuple[str, str]]]:
    """Which case it was."""
    rows = [
        ("folder", name),
        ("samecam", text(saved.info.get("samecam"))),
        ("begun", text(saved.info.get("created"))),
        ("photos used", str(len(saved.used))),
        ("cameras", str(len(saved.cameras))),
        *((f"{file}, SHA-256", digest) for file, digest in saved.hashes.items()),
    ]
    return "Case", rows
