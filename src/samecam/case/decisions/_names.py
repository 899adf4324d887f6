"""Names that stay: `cameras.csv`, and how names go on when cameras change."""

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samecam.arrays import Labels
from samecam.case.folder import CAMERAS, csv_rows, csv_text
from samecam.errors import SamecamError
from samecam.files import file_hash, read_own

COLUMNS = ("path", "sha256", "camera")


@dataclass(frozen=True, slots=True)
class Base:
    """Where photos stood after the last run, the decisions up to then honoured.

    Attributes
    ----------
    names : name of each photo's camera by SHA-256; "": none
    clusters : SHA-256 of the `clusters.csv` it was made from
    honoured : numbers of the decisions it honours
    next : number of the next camera that has no name yet
    """

    names: Mapping[str, str]
    clusters: str
    honoured: frozenset[int]
    next: int


def read_base(folder: Path, info: Mapping[str, Any]) -> Base | None:
    """What `cameras.csv` says, if it is as it was written; None if there is none."""
    entry = info.get("names")
    if entry is None:
        return None
    path = folder / CAMERAS
    if file_hash(path) not in (entry["sha256"], entry.get("coming")):
        raise SamecamError(
            f"{str(path)!r} is not as it was written: restore it from a copy, or run samecam "
            "cluster, which names the cameras anew."
        )
    try:
        rows = csv_rows(read_own(path), COLUMNS)
    except (OSError, ValueError) as error:
        raise SamecamError(f"{str(path)!r} cannot be read ({error}).") from None
    names = {row["sha256"]: row["camera"] for row in rows}
    return Base(names, entry["clusters"], frozenset(entry["honoured"]), entry["next"])


def last_base(folder: Path, info: Mapping[str, Any]) -> Base | None:
    """The same for a run that names cameras; None where the table was changed or taken away."""
    with contextlib.suppress(SamecamError):
        return read_base(folder, info)
    return None


def names_text(keys: Sequence[tuple[str, str]], names: Sequence[str]) -> str:
    """Text of `cameras.csv`; `keys` are path and SHA-256 of the used photos."""
    rows = [[*key, name] for key, name in zip(keys, names, strict=True)]
    return csv_text(COLUMNS, rows)


@dataclass(frozen=True, slots=True)
class Named:
    """Names of cameras, and what became of those before.

    Attributes
    ----------
    names : of each camera
    next : number of the next one that has no name yet
    ended : names that no camera has any more, with the camera that holds most of their photos, or
        "" if none does
    parted : names whose photos are in several cameras now, with the names of these
    """

    names: list[str]
    next: int
    ended: dict[str, str]
    parted: dict[str, list[str]]


def carry_names(before: Sequence[str], after: Labels, following: int | None) -> Named:
    """Names for cameras: an old one goes on in the camera that has most of its photos.

    The name and camera with most photos in common first; each once. A camera without a name gets
    "camera-" and the next number, in the order of cameras; the first time, its own number.

    Parameters
    ----------
    before : (n,) the name each photo's camera had; "": none
    after : (n,) cameras now, −1 for none
    following : number of the next camera that has no name yet; None: nothing was named before
    """
    count = int(after.max(initial=-1)) + 1
    pairs = zip(before, after.tolist(), strict=True)
    shared = Counter((name, camera) for name, camera in pairs if name and camera >= 0)
    ranked = sorted(shared.items(), key=lambda item: (-item[1], item[0][1], item[0][0]))
    names: dict[int, str] = {}
    for (name, camera), _ in ranked:
        if camera not in names and name not in names.values():
            names[camera] = name
    number = 0 if following is None else following
    for camera in range(count):
        if camera not in names:
            names[camera], number = f"camera-{number}", number + 1
    where: dict[str, list[str]] = {}
    for (name, camera), _ in ranked:
        where.setdefault(name, []).append(names[camera])
    old, now = {name for name in before if name}, set(names.values())
    return Named(
        [names[camera] for camera in range(count)],
        number,
        {name: where.get(name, [""])[0] for name in sorted(old - now)},
        {name: some for name, some in sorted(where.items()) if len(some) > 1},
    )


def labels_of_names(names: Sequence[str]) -> tuple[Labels, list[str]]:
    """Cameras of photos by the names of these, in the order of their first photo."""
    order: dict[str, int] = {}
    labels = [order.setdefault(name, len(order)) if name else -1 for name in names]
    return np.array(labels, dtype=np.intp), list(order)
