"""What a benchmark found: methods in order, every set, every run; for people and for notebooks."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from samecam import pages
from samecam.experiments import _pictures
from samecam.experiments._grid import best_first, cell, mean_of, rounded
from samecam.experiments._methods import Method
from samecam.notebook import data_frame, figure, table

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMAT, VERSION = "samecam-benchmark", 1
FILE = "benchmark.json"
_MEANS = ("f", "precision", "recall", "ari")
_COLUMNS = (
    *("f", "f_spread", "precision", "recall", "ari", "n_clusters", "n_unclustered"),
    *("seconds", "seconds_spread", "runs"),
)


@dataclass(frozen=True, slots=True, repr=False)
class Benchmark:
    """Methods, the best first, on all sets.

    Attributes
    ----------
    folder : holds `benchmark.json`, and the runs
    content : what `benchmark.json` holds
    """

    folder: Path
    content: Mapping[str, Any]

    @property
    def file(self) -> Path:
        """Where it is written."""
        return self.folder / FILE

    @property
    def ranking(self) -> list[dict[str, Any]]:
        """One entry a method, the best first: means over the sets."""
        ranked: list[dict[str, Any]] = self.content["ranking"]
        return ranked

    @property
    def failures(self) -> list[str]:
        """Sentences: which method gives no answer on which sets, and why."""
        told: list[str] = self.content["failures"]
        return told

    @property
    def different(self) -> list[str]:
        """Sentences on fixed sets that came out different on this machine, and were not used."""
        return [one["failed"] for one in self.content["sets"] if one["failed"]]

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        used = len(self.content["result"]["configurations"])
        first = f": {self.ranking[0]['label']} first" if self.ranking else ""
        return f"<Benchmark of {len(self.ranking)} methods on {used} sets{first}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: one row a method."""
        head = ["method", "F", "precision", "recall", "ARI", "groups", "unclustered", "seconds"]
        rows = [
            [
                one["label"],
                *(figure(one[name], 4) for name in ("f", "precision", "recall", "ari")),
                f"{pages.count(one['groups'])}/{one['cameras']}",
                pages.count(one["unclustered"]),
                figure(one["seconds"]),
            ]
            for one in self.ranking
        ]
        return table(repr(self)[1:-1], head, rows, notes=[*self.different, *self.failures])

    def to_frame(self) -> pandas.DataFrame:
        """One row a set and method, for pandas: mean scores, their spread, seconds."""
        rows = self.content["result"]["rows"]
        return data_frame(
            {
                "set": [row["configuration"] for row in rows],
                "method": [row["label"] for row in rows],
                **{name: [row.get(name) for row in rows] for name in _COLUMNS},
                "failure": [row.get("failed", "") for row in rows],
            }
        )

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """F of every method on every set, the best first, as a shaded table."""
        result = self.content["result"]
        names = result["configurations"]
        rows = [[cell(result, name, one["method"]) for name in names] for one in self.ranking]
        cells = _pictures.Cells(
            [[None if row is None else float(row["f"]) for row in line] for line in rows],
            [["–" if row is None else pages.share(row["f"]) for row in line] for line in rows],
            [one["label"] for one in self.ranking],
            names,
        )
        if ax is None:
            width, height = 2.6 + 0.82 * len(names), 1.2 + 0.3 * len(rows)
            ax = _pictures.blank(width, height).subplots()
        _pictures.shade(ax, cells, "F: darker is better", least=0.0, most=1.05, cmap="Blues")
        return cast("Figure", ax.figure)

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `benchmark.json`."""
        return dict(self.content)


def ranking(
    result: Mapping[str, Any], methods: Sequence[Method], sets: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Means over the sets, the best method first: by F, then precision, then time.

    On a set that a method gives no answer on, its scores count as 0; groups, unclustered photos
    and seconds are of the sets that it has done.
    """
    known = {method.key: method for method in methods}
    names = result["configurations"]
    size = {one["name"]: one for one in sets}
    ranked = []
    for key, label in best_first(result, names):
        done = {name: row for name in names if (row := cell(result, name, key)) is not None}
        one: dict[str, Any] = {"method": key, "label": label, "whose": known[key].whose}
        one |= {name: rounded(mean_of(result, names, key, name)) for name in _MEANS}
        one["f_spread"] = _spread(result, key, list(done))
        one["seconds"] = rounded(_mean([row["seconds"] for row in done.values()]))
        one["groups"] = rounded(sum(row["n_clusters"] for row in done.values()))
        one["cameras"] = sum(size[name]["cameras"] for name in done)
        one["unclustered"] = rounded(sum(row["n_unclustered"] for row in done.values()))
        one["strangers"] = sum(size[name]["strangers"] for name in done)
        one["sets"] = len(done)
        one["runs"] = max((row["runs"] for row in done.values()), default=0)
        ranked.append(one)
    return ranked


def _spread(result: Mapping[str, Any], key: str, names: Sequence[str]) -> float:
    """Standard deviation, over the seeds, of the mean F over the sets that were done."""
    seeds: dict[int, list[float]] = {}
    for run in result["runs"]:
        if run["method"] == key and run["configuration"] in names and "f" in run:
            seeds.setdefault(run["seed"], []).append(run["f"])
    means = [_mean(values) for values in seeds.values() if len(values) == len(names)]
    return rounded(statistics.stdev(means) if len(means) > 1 else 0.0)


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0
