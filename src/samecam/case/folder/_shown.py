"""What a notebook shows of a case, its cameras and its groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from samecam.case.folder._answer import CasePhoto
from samecam.case.folder._groups import Camera, cameras_phrase
from samecam.notebook import data_frame, figure, table

if TYPE_CHECKING:
    import pandas

# Columns of `images.csv` that follow, as text, and of `evidence.csv`, as numbers.
_TEXTS = ("make", "model", "serial", "software", "taken", "service")
_WHOLE = ("width", "height", "bytes")
_FIGURES = (
    *("score", "log10_lr", "log10_lr_same_model", "adjusted_p"),
    *("nearest_score", "nearest_log10_lr", "pce"),
)


def photos_frame(photos: Sequence[CasePhoto], cameras: Sequence[Camera]) -> pandas.DataFrame:
    """One row a file: where it stands, how sure that is, and what the file says of itself."""
    words = {path: group.words for c in cameras for group in c.groups for path in group.paths}
    words |= {photo.path: photo.words for c in cameras for photo in c.placed}
    columns: dict[str, list[Any]] = {
        "path": [p.path for p in photos],
        "status": [p.status for p in photos],
        "camera": [p.cluster for p in photos],
        "group": [p.group for p in photos],
        "view": [words.get(p.path, "") for p in photos],
        "frame": [p.frame for p in photos],
        "doubtful": [p.doubtful for p in photos],
        "correlation": [p.correlation for p in photos],
        "margin": [p.margin for p in photos],
        "p_value": [p.p_value for p in photos],
        **{name: [p.figure(name) for p in photos] for name in _FIGURES},
        "nearest": [_whole(p.evidence.get("nearest", "")) for p in photos],
        "copy_of": [p.copy_of for p in photos],
        "duplicate_of": [p.duplicate_of for p in photos],
        "reason": [p.reason for p in photos],
        **{name: [p.image[name] for p in photos] for name in _TEXTS},
        **{name: [_whole(p.image[name]) for p in photos] for name in _WHOLE},
        "sha256": [p.sha256 for p in photos],
    }
    return data_frame(columns)


def _whole(text: str) -> int | None:
    return int(float(text)) if text else None


def cameras_html(
    words: str, cameras: Sequence[Camera], unclustered: int, notes: Sequence[str] = ()
) -> str:
    """A table of cameras, largest first.

    Parameters
    ----------
    words : what it is of: "64 photos of 'CASE'"
    cameras : of the answer
    unclustered : used photos of no camera
    notes : sentences below
    """
    found = f"{words}: {cameras_phrase(cameras)}, {unclustered} of no camera."
    head = ("camera", "photos", "groups", "views", "EXIF says", "weakest score")
    rows = [
        (c.id, c.size, len(c.groups), ", ".join(filter(None, c.views)), ", ".join(c.exif_names),
         figure(min((g.weakest for g in c.groups if g.weakest is not None), default=None)))
        for c in cameras
    ]  # fmt: skip
    return table(found, head, rows, notes=notes)
