"""The CSV files of a case: written so that any string survives, and read again."""

import csv
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from samecam.arrays import Rows
from samecam.case.folder._names import COLUMNS, FIRST_COLUMNS, USED
from samecam.frames import Frame
from samecam.store import DiskStore, Record

_SPECIAL = re.compile(r'[,"\r\n]')


def csv_text(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """CSV with LF, floats by `repr`, nothing for None; any string survives.

    (Python's own writer leaves a lone carriage return unquoted before 3.13.)
    """
    lines = [",".join(map(_cell, row)) for row in (header, *rows)]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def csv_rows(data: bytes, needed: Collection[str] = ()) -> list[dict[str, str]]:
    """Rows of a table of ours, by column; `ValueError` if it is damaged.

    Parameters
    ----------
    needed : columns that it must have, others may stand beside them
    """
    text = data.decode("utf-8", "surrogateescape")
    # A lone carriage return inside a cell is no end of a line.
    lines = [line + "\n" for line in text.removesuffix("\n").split("\n")]
    try:
        header, *rows = csv.reader(lines, strict=True)
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if len(set(header)) < len(header):
        raise ValueError("a column stands there twice")
    for name in needed:
        if name not in header:
            raise ValueError(f"there is no column {name!r}")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells and not {len(header)}")
    return [dict(zip(header, row, strict=True)) for row in rows]


def group_number(text: str, most: int) -> int:
    """The number of a group, −1 for none; `ValueError` for what is none of `most` groups."""
    number = int(text)
    if not -1 <= number < most:
        raise ValueError(f"there is no group {text[:20]}")
    return number


def images_csv(records: Iterable[Record]) -> str:
    """Text of `images.csv`: one row per file, sorted by path."""
    rows, ordered = [], sorted(records, key=lambda record: record.key)
    photos = any("modified" in record.meta for record in ordered)
    earlier = photos and not any("mode" in record.meta for record in ordered)
    columns = FIRST_COLUMNS if earlier else COLUMNS
    for record in ordered:
        row: Mapping[str, Any] = {**record.meta, "path": record.key, "sha256": record.sha256}
        rows.append([row.get(name) for name in columns])
    return csv_text(columns, rows)


def used_photos(store: DiskStore) -> list[Record]:
    """The photos that are grouped, sorted by path."""
    return [r for r in store.records() if r.meta["status"] in USED and r.has_row]


def frame_name(photo: Record) -> str | None:
    """Width and height of what is compared of a photo; None if fingerprints were brought."""
    frame = photo.frame
    return None if frame is None or frame.height == 1 else frame.name


def by_frame(photos: Sequence[Record]) -> dict[Frame, Rows]:
    """Numbers of the photos of each frame, that with most photos first, whatever their order."""
    frames: dict[Frame, list[int]] = {}
    for k, photo in enumerate(photos):
        if photo.frame is not None:
            frames.setdefault(photo.frame, []).append(k)
    ordered = sorted(frames.items(), key=lambda item: (-len(item[1]), item[0]))
    return {frame: np.array(rows, dtype=np.intp) for frame, rows in ordered}
