"""Where photos stand: tables of cameras and groups, read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samecam.arrays import Labels
from samecam.case.folder._tables import by_frame, csv_rows, group_number
from samecam.case.folder._views import VIEW_COLUMNS, cell_view
from samecam.errors import SamecamError
from samecam.files import read_own
from samecam.frames import Frame
from samecam.register import Cameras, GroupedRows, View
from samecam.store import DiskStore, Record


@dataclass(frozen=True, slots=True)
class Place:
    """Where a photo stands.

    Attributes
    ----------
    sha256 : of the photo
    camera : number of its camera; −1: none
    group : number of its group; −1: none
    view : how it sees its camera; None where that is not told
    """

    sha256: str
    camera: int
    group: int
    view: View | None = None


def row_place(row: Mapping[str, str], most: int) -> Place:
    """The place that a row of a table gives; `ValueError` if there can be no such place.

    A table without the column `group`, of squares, has a group for every camera; one without
    columns of views says nothing of these.

    Parameters
    ----------
    most : how many cameras and groups there can be
    """
    camera = group_number(row["cluster"], most)
    group = group_number(row["group"], most) if "group" in row else camera
    view = cell_view(row) if all(name in row for name in VIEW_COLUMNS) else None
    return Place(row["sha256"], camera, group, view)


def read_places(path: Path) -> dict[str, Place]:
    """Rows of `clusters.csv`, or of a table like it, by path, or an error that says why not."""
    try:
        rows = csv_rows(read_own(path), ("path", "sha256", "cluster"))
        places = {row["path"]: row_place(row, len(rows)) for row in rows}
    except OSError as error:
        raise SamecamError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise SamecamError(
            f"{str(path)!r} cannot be read ({error}): restore it from a copy, or run samecam "
            "cluster, which makes it anew."
        ) from None
    return places


def labels_of(photos: Sequence[Record], places: Mapping[str, Place]) -> tuple[Labels, Labels]:
    """Cameras and groups of photos; −1 for one that is not there, or was another file."""
    none = Place("", -1, -1)
    pairs = ((photo, places.get(photo.key, none)) for photo in photos)
    known = [place if place.sha256 == photo.sha256 else none for photo, place in pairs]
    cameras = np.array([place.camera for place in known], dtype=np.intp)
    return cameras, np.array([place.group for place in known], dtype=np.intp)


def cameras_of(places: Sequence[Place]) -> Cameras:
    """The cameras that the places of photos, in their order, amount to.

    `ValueError` if they are none: a group of two cameras, a camera that no group shows, …
    Places without views are of groups that are a camera each.
    """
    labels = np.array([place.camera for place in places], dtype=np.intp)
    groups = np.array([place.group for place in places], dtype=np.intp)
    views: dict[int, tuple[int, View]] = {}
    alone: dict[int, View] = {}
    for k, place in enumerate(places):
        view = place.view or View()
        if place.group >= 0:
            if place.camera < 0 or views.setdefault(place.group, (place.camera, view)) != (
                place.camera,
                view,
            ):
                raise ValueError(f"group {place.group} is not of one camera and one view")
        elif place.camera >= 0:
            if view.score is None:
                raise ValueError("a photo in no group is of a camera, and nothing says why")
            alone[k] = view
        elif place.view is not None:
            raise ValueError("a photo of no camera has a view")
    first: dict[int, int] = {}
    for group, (camera, view) in sorted(views.items()):
        if view.score is None and first.setdefault(camera, group) != group:
            raise ValueError(f"camera {camera} is seen in two frames at once")
    count, n_groups = int(labels.max(initial=-1)) + 1, int(groups.max(initial=-1)) + 1
    if len(views) != n_groups or len(first) != count:
        raise ValueError("groups or cameras are missing")
    return Cameras(
        labels,
        groups,
        tuple(views[group][1] for group in range(n_groups)),
        tuple(first[camera] for camera in range(count)),
        alone,
    )


def grouped_rows(
    store: DiskStore,
    photos: Sequence[Record],
    groups: Labels,
    frames: Mapping[str, Mapping[str, Any]],
) -> list[GroupedRows]:
    """The fingerprints of photos, frame by frame, with their groups and zooms; to be closed.

    Parameters
    ----------
    photos : the used photos of the store, sorted by path
    groups : theirs; −1: none
    frames : what grouping said of frames, by their names: places that it left out
    """
    zooms = [photo.meta.get("zoom") for photo in photos]
    zoom = np.array([np.nan if each is None else each for each in zooms], dtype=np.float64)

    def left_out(frame: Frame) -> list[tuple[int, int, int, int]]:
        boxes = frames.get(frame.name, {}).get("left_out", ())
        return [(box[0], box[1], box[2], box[3]) for box in boxes if len(box) == 4]

    return [
        GroupedRows(frame, store.rows(frame), at, groups[at], zoom[at], left_out(frame))
        for frame, at in by_frame(photos).items()
    ]
