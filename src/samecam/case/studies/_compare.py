"""Several methods on one case, each in a process of its own: answers, scores, time, memory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from samecam import compute
from samecam._version import __version__
from samecam.arrays import Labels, Rows
from samecam.case.folder import ClusteringSettings, by_frame, open_case, used_photos
from samecam.case.studies import _compare_run as running
from samecam.case.studies._compare_plot import svg
from samecam.case.studies._compare_rank import (
    ComparedMethod,
    Input,
    best_first,
    remark_on_ours,
)
from samecam.case.studies._result import PICTURE, check_result
from samecam.errors import SamecamError
from samecam.files import sweep, work_folder, write_atomically
from samecam.frames import Frame
from samecam.inputs import PathLike
from samecam.metrics import Scores, match_paths, read_truth, scores
from samecam.notebook import data_frame, draw, figure, table
from samecam.provenance import versions
from samecam.store import Record

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLE = "compare.json"
# Correlations are shared in a file if, held twice, they leave this share of the memory free.
_SHARED = 0.25


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """One row a method, the best first; without a truth, in the order asked for.

    Attributes
    ----------
    case : the case folder
    truth : where the true cameras were read; None: nowhere
    photos : used photos
    scaled : what of the truth is scored, where the case has only a part of it; else empty
    rows : what became of each method
    correlating : seconds for the correlations that methods share; None: none are shared
    file : where it is written; the picture stands beside it
    """

    case: Path
    truth: str | None
    photos: int
    settings: dict[str, Any]
    rows: tuple[ComparedMethod, ...]
    correlating: float | None
    file: Path
    scaled: str = ""

    @property
    def remark(self) -> str:
        """What our own method and the first have, a sentence; empty where ours is first."""
        return remark_on_ours(self.rows)

    def __repr__(self) -> str:
        methods = ", ".join(row.method for row in self.rows)
        return f"<Comparison on {self.photos} photos of {str(self.case)!r}: {methods}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: one row a method."""
        columns = self._columns()
        head = [name.replace("_", " ") for name in columns]
        rows = [
            ["–" if cell is None else figure(cell, 4) if isinstance(cell, float) else cell
             for cell in row]
            for row in zip(*columns.values(), strict=True)
        ]  # fmt: skip
        return table(repr(self)[1:-1], head, rows, notes=[*filter(None, (self.remark,))])

    def to_frame(self) -> pandas.DataFrame:
        """One row a method, for pandas: scores, groups, seconds, memory.

        Examples
        --------
        >>> samecam.compare_methods("CASE", truth="truth.csv").to_frame().sort_values("f")
        """
        return data_frame(self._columns())

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """Draw it by `samecam.plots.comparison`."""
        return cast("Figure", draw(self, "comparison", ax=ax))

    def _columns(self) -> dict[str, list[Any]]:
        rows = self.rows
        names = ("f", "precision", "recall", "ari")
        scored = any(row.scores is not None for row in rows)
        return {
            "method": [row.method for row in rows],
            **{
                name: [None if row.scores is None else getattr(row.scores, name) for row in rows]
                for name in (names if scored else ())
            },
            "groups": [row.groups for row in rows],
            "unclustered": [row.unclustered for row in rows],
            "seconds": [row.seconds for row in rows],
            "peak_memory": [row.peak_memory for row in rows],
            "failure": [row.failure for row in rows],
        }

    @property
    def picture(self) -> Path:
        """Where the picture is written."""
        return self.file.with_suffix(PICTURE)

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `compare.json`."""
        return {
            "format": "samecam-compare",
            "version": 1,
            "samecam": __version__,
            "case": str(self.case),
            "truth": self.truth,
            "photos": self.photos,
            "scaled": self.scaled,
            "remark": self.remark,
            "settings": self.settings,
            "correlating_seconds": self.correlating,
            "versions": versions(),
            "methods": [row.as_dict() for row in self.rows],
        }


def compare_methods(
    case: PathLike,
    methods: Sequence[str] = ("all",),
    *,
    truth: PathLike | None = None,
    out: PathLike | None = None,
    preset: Literal["default", "paper"] = "default",
    seed: int = 0,
    memory: int | None = None,
    timeout: float | None = None,
    progress: compute.Progress | None = None,
) -> Comparison:
    """Run several methods on the fingerprints of a case, and write the table into it.

    Every method runs as `cluster_photos` would run it, one after another, in a process of its
    own. Correlations are computed once and shared, unless they are too large for `memory`
    or the method wants the fingerprints themselves. The answer that stands in the case is
    not touched; `compare.json` and `compare.svg` are written beside it, or where `out` says.

    Parameters
    ----------
    case : a case with fingerprints
    methods : names of `samecam.cluster.METHODS`, or "all"
    truth : CSV with the columns path and camera; scores count as `samecam evaluate` does, but
        photos of the truth that are no part of the case are left out
    out : file for the table; default compare.json in the case. The picture stands beside it.
    preset, seed : see `ClusteringSettings`
    memory : bytes that a method is told it may take; default half of what is available
    timeout : seconds a method may take; None: any time
    progress : called as progress("Comparing", done, total)

    Examples
    --------
    >>> compared = samecam.compare_methods("CASE", ["consolidated", "ssc-nc"], truth="truth.csv")
    >>> compared.to_frame()
    >>> compared.plot()
    """
    if timeout is not None and not timeout > 0:
        raise SamecamError(f"timeout is {timeout}: give seconds above 0, or leave it out.")
    wanted = [ClusteringSettings(name, {}, seed, preset) for name in chosen_methods(methods)]
    cameras = None if truth is None else read_truth(truth)
    records, used = _photos(case)
    file = Path(case) / TABLE if out is None else Path(out)
    check_result(file, file.with_suffix(PICTURE), Path(case), truth)
    if not used:
        raise SamecamError(f"{os.fspath(case)!r} holds no fingerprint: run samecam extract first.")
    scaled, positions = "", None
    if cameras is not None:
        partners = _partners(records, cameras, str(truth))
        cameras, scaled = _there(cameras, partners)
        positions = _positions(records, used, [partners[path] for path in cameras])
    progress = compute.shown_progress(progress)
    memory = memory or compute.machine().available // 2
    sweep(file.parent)
    with work_folder(file.parent) as folder:
        job = running.Job(os.fspath(case), str(folder), memory, timeout)
        correlating = _correlate(job, by_frame(used), memory)
        rows = []
        for done, settings in enumerate(wanted):
            progress("Comparing", done, len(wanted))
            answer = running.run(job, settings, shared=_shares(settings, correlating))
            rows.append(_row(settings, answer, cameras, positions, _shares(settings, correlating)))
    progress("Comparing", len(wanted), len(wanted))
    told = {"preset": preset, "seed": seed, "memory": memory, "timeout": timeout}
    where = None if truth is None else os.fspath(truth)
    result = Comparison(
        Path(case), where, len(used), told, tuple(best_first(rows)), correlating, file, scaled
    )
    text = json.dumps(result.as_dict(), indent=2, ensure_ascii=True)
    write_atomically(file, text + "\n")
    write_atomically(result.picture, svg([row.as_dict() for row in result.rows], scaled))
    return result


def chosen_methods(names: Sequence[str]) -> list[str]:
    """Methods that are meant, each once, in the order given; "all" is all of them."""
    from samecam.cluster import METHODS

    chosen: list[str] = []
    for name in names:
        if name not in ("all", *METHODS):
            raise SamecamError(f"{name!r} is no method: choose all, {', '.join(METHODS)}.")
        chosen += METHODS if name == "all" else [name]
    if not chosen:
        raise SamecamError("No method was named: name one, several, or all.")
    return list(dict.fromkeys(chosen))


def _photos(case: PathLike) -> tuple[list[Record], list[Record]]:
    """Records of all files and of the used ones, both sorted by path."""
    with open_case(case).open_store() as store:
        return list(store.records()), used_photos(store)


def _correlate(job: running.Job, frames: Mapping[Frame, Rows], memory: int) -> float | None:
    """Seconds for the files of correlations; None where they would be too large."""
    if 2 * 4 * sum(len(at) ** 2 for at in frames.values()) > (1 - _SHARED) * memory:
        return None
    answer = running.run(replace(job, timeout=None), None, shared=True)
    if answer.failure:
        raise SamecamError(f"The photos could not be correlated: {answer.failure}")
    return answer.seconds


def _shares(settings: ClusteringSettings, correlating: float | None) -> bool:
    return correlating is not None and not settings.reads_fingerprints


def _row(
    settings: ClusteringSettings,
    answer: running.MethodRun,
    cameras: Mapping[str, str] | None,
    positions: Labels | None,
    shared: bool,
) -> ComparedMethod:
    given: Input = "correlations" if shared else "fingerprints"
    if answer.labels is None:
        return ComparedMethod(
            settings.name, given, answer.failure, peak_memory=answer.peak_memory or None
        )
    found: Scores | None = None
    if cameras is not None and positions is not None:
        placed = np.where(positions >= 0, answer.labels[positions], -1)
        found = scores(list(cameras.values()), placed)
    return ComparedMethod(
        settings.name,
        given,
        groups=int(answer.labels.max(initial=-1)) + 1,
        unclustered=int(np.count_nonzero(answer.labels < 0)),
        scores=found,
        seconds=answer.seconds,
        peak_memory=answer.peak_memory,
    )


def _partners(records: Sequence[Record], cameras: Mapping[str, str], file: str) -> dict[str, str]:
    """Path of the case for each path of the truth that it has."""
    partners = match_paths([record.key for record in records], cameras)
    if not partners:
        raise SamecamError(
            f"None of the {len(records)} photos of the case has the file name of one in "
            f"{file!r}: name the truth of these photos."
        )
    return {named: path for path, named in partners.items()}


def _there(cameras: Mapping[str, str], partners: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The part of a truth that a case has, and a sentence where that is not all of it."""
    there = {path: camera for path, camera in cameras.items() if path in partners}
    if len(there) == len(cameras):
        return there, ""
    return there, (
        f"Scaled to {len(set(there.values()))} cameras, {len(there)} photos: the truth has "
        f"{len(set(cameras.values()))} cameras, {len(cameras)} photos, and what is not in the case "
        "is left out."
    )


def _positions(records: Sequence[Record], used: Sequence[Record], paths: Sequence[str]) -> Labels:
    """For each path its row among the used photos, or −1.

    A duplicate stands for the photo it has the same bytes as, a copy for the one it was made of.
    """
    row = {record.key: k for k, record in enumerate(used)}
    of_bytes = {record.sha256: k for k, record in enumerate(used)}
    for record in records:
        if original := record.meta.get("copy_of"):
            of_bytes[record.sha256] = row[record.key] = row.get(original, -1)
    for record in records:
        if record.meta["status"] == "duplicate":
            row.setdefault(record.key, of_bytes.get(record.sha256, -1))
    return np.array([row.get(path, -1) for path in paths], dtype=np.intp)
