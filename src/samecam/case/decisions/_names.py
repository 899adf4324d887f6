"""Names that stay: `cameras.csv`, and how names go on when cameras change."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samecam.arrays import Labels
from samecam.case.decisions._decision import OWN_NAME
from samecam.case.folder import CAMERAS, csv_rows, csv_text
from samecam.errors import SamecamError
from samecam.files import file_hash, read_own

COLUMNS = ("path", "sha256", "camera", "machine", "before", "decision")


@dataclass(frozen=True, slots=True)
class Base:
    """Where photos stood after the last run, the decisions up to then honoured.

    Attributes
    ----------
    names : name of each photo's camera by SHA-256; "": none
    machine : name of the camera that the machine alone put it in, likewise
    before : name of the camera it stood in before that run, decisions counted, likewise
    decision : number of the decision that put it there, by SHA-256; 0: none did
    described : numbers of the decisions that say something of a camera, by its name
    clusters : SHA-256 of the `clusters.csv` it was made from
    honoured : numbers of the decisions it honours
    next : number of the next camera that has no name yet
    """

    names: Mapping[str, str]
    machine: Mapping[str, str]
    before: Mapping[str, str]
    decision: Mapping[str, int]
    described: Mapping[str, Mapping[str, Any]]
    clusters: str
    honoured: frozenset[int]
    next: int


def read_base(folder: Path, info: Mapping[str, Any]) -> Base | None:
    """What `cameras.csv` says, if it is as it was written; None if there is none."""
    entry = names_entry(folder, info)
    if entry is None:
        return None
    path = folder / CAMERAS
    if not entry:
        raise SamecamError(
            f"{str(path)!r} is not as it was written: restore it from a copy, or run samecam "
            "cluster, which names the cameras anew."
        )
    try:
        rows = csv_rows(read_own(path), COLUMNS)
        decision = {row["sha256"]: int(row["decision"] or 0) for row in rows}
    except (OSError, ValueError) as error:
        raise SamecamError(f"{str(path)!r} cannot be read ({error}).") from None
    return Base(
        names={row["sha256"]: row["camera"] for row in rows},
        machine={row["sha256"]: row["machine"] for row in rows},
        before={row["sha256"]: row["before"] for row in rows},
        decision=decision,
        described=entry["described"],
        clusters=entry["clusters"],
        honoured=frozenset(entry["honoured"]),
        next=entry["next"],
    )


def names_entry(folder: Path, info: Mapping[str, Any]) -> dict[str, Any] | None:
    """What `case.json` says of the `cameras.csv` that is there.

    None if it was never written; empty if it was changed since. A run that was killed in the midst
    of writing left the one of before or the one that was to come.
    """
    entry = info.get("names")
    if entry is None:
        return None
    digest = file_hash(folder / CAMERAS)
    both = (entry, entry.get("coming") or {})
    return next((dict(each) for each in both if each.get("sha256") == digest), {})


def last_base(folder: Path, info: Mapping[str, Any]) -> Base | None:
    """The same for a run that names cameras; None where the table was changed or taken away."""
    with contextlib.suppress(SamecamError):
        return read_base(folder, info)
    return None


def names_text(rows: Iterable[Sequence[object]]) -> str:
    """Text of `cameras.csv`: `COLUMNS` of the used photos."""
    return csv_text(COLUMNS, rows)


@dataclass(frozen=True, slots=True)
class NameChanges:
    """What became of names.

    Attributes
    ----------
    ended : names that no camera has any more, with that of the camera that holds most of their
        photos now, or "" if none does
    parted : names whose photos are in several cameras now, with the names of these
    """

    ended: dict[str, str]
    parted: dict[str, list[str]]


def carry_names(
    before: Sequence[str], after: Labels, following: int, also: Sequence[str] = ()
) -> list[str]:
    """Names for cameras: an old one goes on in the camera that has most of its photos.

    The name and camera with most photos in common first; each once. A camera without a name gets
    "camera-" and the next number, in the order of cameras: the first time, its own number.

    Parameters
    ----------
    before : (n,) the name each photo's camera had; "": none
    after : (n,) cameras now, −1 for none
    following : number of the next camera that has no name yet
    also : (n,) other names, for cameras that have none of these
    """
    count = int(after.max(initial=-1)) + 1
    names: dict[int, str] = {}
    taken: set[str] = set()
    now = after.tolist()
    for name, camera in (*_most_first(before, now), *(_most_first(also, now) if also else ())):
        if camera not in names and name not in taken:
            names[camera] = name
            taken.add(name)
    for camera in range(count):
        if camera not in names:
            names[camera], following = f"camera-{following}", following + 1
    return [names[camera] for camera in range(count)]


def name_changes(before: Sequence[str], after: Sequence[str]) -> NameChanges:
    """What became of the names that photos' cameras had; "": none."""
    there = [name or -1 for name in after]
    where: dict[str, list[str]] = {}
    for name, now in _most_first(before, there):
        where.setdefault(name, []).append(str(now))
    lost = sorted({name for name in before if name} - set(after))
    return NameChanges(
        {name: where.get(name, [""])[0] for name in lost},
        {name: some for name, some in sorted(where.items()) if len(some) > 1},
    )


def _most_first(before: Sequence[str], after: Sequence[Any]) -> list[tuple[str, Any]]:
    """Names and where their photos are, those with most photos in common first."""
    pairs = zip(before, after, strict=True)
    shared = Counter((name, now) for name, now in pairs if name and now != -1)
    return [pair for pair, _ in sorted(shared.items(), key=lambda item: (-item[1], *item[0][::-1]))]


def next_number(names: Iterable[str]) -> int:
    """The number after all that names of "camera-" and a number have."""
    found = (OWN_NAME.fullmatch(name) for name in names)
    numbers = (int(match[0].partition("-")[2]) for match in found if match and len(match[0]) < 17)
    return max(numbers, default=-1) + 1


def labels_of_names(names: Sequence[str]) -> tuple[Labels, list[str]]:
    """Cameras of photos by the names of these, in the order of their first photo."""
    order: dict[str, int] = {}
    labels = [order.setdefault(name, len(order)) if name else -1 for name in names]
    return np.array(labels, dtype=np.intp), list(order)
