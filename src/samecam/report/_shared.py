"""Do they share a camera? The table of sources and cameras as the page shows it, and its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from samecam.arrays import Labels
from samecam.case import SourceTable
from samecam.report._links import Link
from samecam.report._names import marked

# What a page shows; the rest is added up in one more column, and one more row.
_COLUMNS, _ROWS = 16, 200
_CAMERAS, _NAMES = 8, 4
NO_FOLDER = "files in no folder"


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source: its name, and its numbers under the columns; `rest`: of cameras without one.

    `source` : the name as paths have it; None for several
    `cameras` : of which it has photos
    """

    source: str | None
    name: Markup
    cells: list[int]
    rest: int
    alone: int
    unused: int
    files: int
    cameras: list[int]


@dataclass(frozen=True, slots=True)
class SharedCameras:
    """What the page shows of sources and cameras.

    Attributes
    ----------
    columns : cameras, each with whether sources share it
    rows : sources; the last may stand for all that have no row
    total : of all sources
    left_out : cameras without a column
    answers : sentences that say who shares what, or that nobody does
    """

    columns: list[tuple[int, bool]]
    rows: list[SourceRow]
    total: SourceRow
    left_out: int
    answers: list[Markup]


def shared_cameras(
    table: SourceTable,
    names: Mapping[int, Markup],
    links: Mapping[int, Link | None],
    notes: Mapping[int, Markup] | None = None,
) -> SharedCameras | None:
    """Lay out a table; None where there is one source alone.

    Parameters
    ----------
    names : of the cameras as they are shown, "camera 3"
    links : how sure it is that sources share a camera, by its number, where that is known
    notes : what else is to be said of a camera that they share
    """
    if len(table.names) < 2:
        return None
    shared = table.shared
    kept = _kept_columns(table, shared)
    rows = _kept_rows(table, shared)
    others = np.setdiff1d(np.arange(len(table.names)), rows)
    lines = [_row(table, kept, np.array([k]), table.names[k]) for k in rows]
    if len(others):
        lines.append(_row(table, kept, others, None, f"{len(others):,} more"))
    return SharedCameras(
        [(table.cameras[k], table.cameras[k] in set(shared)) for k in kept],
        lines,
        _row(table, kept, np.arange(len(table.names)), None, "All"),
        len(table.cameras) - len(kept),
        _answers(table, shared, names, links, notes or {}),
    )


def source_name(name: str) -> Markup:
    """The name of a source as the page shows it."""
    return marked(name) if name else Markup(f"<i>{NO_FOLDER}</i>")


def _kept_columns(table: SourceTable, shared: Sequence[int]) -> list[int]:
    """Numbers of columns that are shown: shared cameras first if not all are."""
    first = [table.cameras.index(camera) for camera in shared]
    sizes = np.argsort(-table.counts.sum(axis=0), kind="stable").tolist()
    return sorted(list(dict.fromkeys([*first, *sizes]))[:_COLUMNS])


def _kept_rows(table: SourceTable, shared: Sequence[int]) -> list[int]:
    at = [table.cameras.index(camera) for camera in shared]
    sharing = (table.counts[:, at] > 0).any(axis=1)
    order = np.lexsort((-table.files, ~sharing))
    return sorted(order[:_ROWS].tolist())


def _row(
    table: SourceTable, kept: Sequence[int], at: Labels, source: str | None, words: str = ""
) -> SourceRow:
    counts = table.counts[at].sum(axis=0)
    cells = [int(counts[k]) for k in kept]
    return SourceRow(
        source,
        Markup(words) if source is None else source_name(source),
        cells,
        int(counts.sum()) - sum(cells),
        int(table.alone[at].sum()),
        int(table.unused[at].sum()),
        int(table.files[at].sum()),
        [camera for camera, count in zip(table.cameras, counts, strict=True) if count],
    )


def _answers(
    table: SourceTable,
    shared: Sequence[int],
    names: Mapping[int, Markup],
    links: Mapping[int, Link | None],
    notes: Mapping[int, Markup],
) -> list[Markup]:
    if not shared:
        return [Markup("No camera is shared by two sources.")]
    result = [
        _answer(table, k, names[k], links.get(k)) + notes.get(k, Markup(""))
        for k in shared[:_CAMERAS]
    ]
    if len(shared) > _CAMERAS:
        more = len(shared) - _CAMERAS
        result.append(
            Markup(f"{more:,} more {'camera is' if more == 1 else 'cameras are'} shared.")
        )
    return result


def _answer(table: SourceTable, camera: int, name: Markup, link: Link | None) -> Markup:
    holders = table.holders(camera)
    who = listed([Markup("<b>{}</b>").format(source_name(source)) for source, _ in holders])
    many = listed([Markup(f"{count:,}") for _, count in holders])
    answer = Markup("{} share {}: {} photos.").format(who, name, many)
    if link is None:
        return answer + Markup(" No likelihood ratio between them is stated.")
    between = "The joint fingerprints of the two have "
    if len(holders) > 2:
        between = Markup("{} is the least sure: its photos and the others’ have ").format(
            source_name(link.source)
        )
    return answer + Markup(" {}{}.").format(between, link.words)


def listed(items: Sequence[Markup]) -> Markup:
    """Items as "a, b and c", the last of many as their number."""
    if len(items) > _NAMES:
        items = [*items[: _NAMES - 1], escape(f"{len(items) - _NAMES + 1:,} more")]
    if len(items) < 2:
        return Markup("").join(items)
    return Markup(", ").join(items[:-1]) + Markup(" and ") + items[-1]
