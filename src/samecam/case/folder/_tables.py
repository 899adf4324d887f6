"""The CSV files of a case: written so that any string survives, and read again."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samecam.arrays import Labels
from samecam.case.folder._names import COLUMNS, USED
from samecam.store import FingerprintStore, Record


@dataclass(frozen=True, slots=True)
class Place:
    """Where a photo stands in a table of groups: its hash and its group."""

    sha256: str
    group: int


def csv_text(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """CSV with LF, floats by `repr`, nothing for None; any string survives.

    (Python's own writer leaves a lone carriage return unquoted before 3.13.)
    """
    lines = [",".join(map(_cell, row)) for row in (header, *rows)]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = repr(float(value)) if isinstance(value, float) else str(value)
    if any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def csv_rows(data: bytes) -> list[dict[str, str]]:
    """Rows of a table of ours, by column; `ValueError` or `csv.Error` if it is damaged."""
    text = data.decode("utf-8", "surrogateescape")
    # A lone carriage return inside a cell is no end of a line.
    lines = [line + "\n" for line in text.removesuffix("\n").split("\n")]
    return list(csv.DictReader(lines, strict=True))


def images_csv(records: Iterable[Record]) -> str:
    """Text of `images.csv`: one row per file, sorted by path."""
    rows = []
    for record in sorted(records, key=lambda record: record.key):
        row: Mapping[str, Any] = {**record.meta, "path": record.key, "sha256": record.sha256}
        rows.append([row.get(name) for name in COLUMNS])
    return csv_text(COLUMNS, rows)


def used_photos(store: FingerprintStore) -> list[Record]:
    """The photos that are grouped, sorted by path."""
    return [r for r in store.records() if r.meta["status"] in USED and r.has_row]


def read_places(path: Path) -> dict[str, Place]:
    """Rows of `clusters.csv`, or of a table like it, by path."""
    return {
        row["path"]: Place(row["sha256"], int(row["cluster"]))
        for row in csv_rows(path.read_bytes())
    }


def labels_of(photos: Sequence[Record], places: Mapping[str, Place]) -> Labels:
    """Groups of photos; −1 for one that is not there, or was another file."""
    none = Place("", -1)
    pairs = ((photo, places.get(photo.key, none)) for photo in photos)
    labels = [place.group if place.sha256 == photo.sha256 else -1 for photo, place in pairs]
    return np.array(labels, dtype=np.intp)
