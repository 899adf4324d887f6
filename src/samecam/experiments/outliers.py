"""The paper's test with strangers: 20 cameras, and 50 photos of which no two share a camera."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import comb
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from samecam import pages
from samecam.experiments import _paper, _pictures
from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._grid import (
    GridRun,
    best_first,
    cell,
    grid_runs,
    of_photographs,
    rounded,
    run_grid,
    score_grid,
)
from samecam.experiments._methods import METHODS
from samecam.experiments._sources import Plan, plan
from samecam.experiments._study import Study
from samecam.experiments._text import bold, failures, standing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAME = "Va20-strangers"
# Our default for a photo of another camera to join any of the groups.
_JOIN_RATE = 0.01
_METHODS = ("ours", "ls-ssc", "ssc-nc", "lin-ls", "lin-ls-measured", "mrf", "hdbscan")


def _plan(context: Context) -> Plan:
    return plan(context, "vision", [_NAME])


def _todo(context: Context) -> list[GridRun]:
    return grid_runs(_plan(context), [METHODS[key] for key in _METHODS], context.runs)


def _run(context: Context) -> None:
    run_grid(context, "outliers", _todo(context))


def strangers(truth: Sequence[int], labels: Sequence[int]) -> tuple[int, int, int]:
    """Strangers, those left without a group, and groups that hold a stranger.

    A stranger is a photo whose camera took no other of these.
    """
    sizes = Counter(truth)
    alone = [k for k, camera in enumerate(truth) if sizes[camera] == 1]
    left = sum(labels[k] < 0 for k in alone)
    return len(alone), left, len({labels[k] for k in alone if labels[k] >= 0})


def _score(study: Study, context: Context) -> dict[str, Any]:
    planned = _plan(context)
    scored = score_grid(study, _todo(context))
    _count_strangers(study, scored)
    names = [source.name for source in planned.sources]
    return {
        "configurations": names,
        "printed": [_paper.as_json(_paper.OUTLIERS)] if _NAME in names else [],
        **of_photographs(context, planned, scored),
        **scored,
    }


def _count_strangers(study: Study, scored: Mapping[str, Any]) -> None:
    """Add to runs and rows what became of the strangers."""
    for run in scored["runs"]:
        arrays = study.load(run["key"]).arrays
        if arrays:
            counts = strangers(arrays["truth"].tolist(), arrays["labels"].tolist())
            run["strangers"], run["strangers_left"], run["groups_with_strangers"] = counts
    for row in scored["rows"]:
        own = [r for r in scored["runs"] if r["method"] == row["method"] and "strangers" in r]
        for name in ("strangers", "strangers_left", "groups_with_strangers"):
            values = [float(run[name]) for run in own]
            row[name] = rounded(fmean(values)) if values else None
            row[f"{name}_spread"] = rounded(stdev(values)) if len(values) > 1 else 0.0


def _shown(result: Result) -> list[Mapping[str, Any]]:
    """Rows of the methods in their order or, on photographs, the best first."""
    (name,) = result["configurations"]
    keys: Sequence[str] = _METHODS
    if result.get("best_first"):
        keys = [method for method, _ in best_first(result, [name])]
    return [row for key in keys if (row := cell(result, name, key)) is not None]


def _plot(result: Result) -> "Figure":
    figure = _pictures.blank(10.5, 3.4)
    there = pages.count(_shown(result)[0]["strangers"])
    panels = (
        ("f", "F", pages.share),
        ("n_unclustered", "photos left without a group", pages.count),
        ("strangers_left", f"of these, strangers (there are {there})", pages.count),
    )
    _pictures.bar_panels(figure, _shown(result), panels, result["printed"])
    if result["printed"]:
        _pictures.note(figure, "Star: what the paper prints of LS-SSC.")
    return figure


_ABOUT = "A stranger is a photo whose camera took no other of these."


def _tell(result: Result) -> Told:
    rows = {row["method"]: row for row in _shown(result)}
    sentences = [
        f"In print LS-SSC has F {pages.share(entry['f'])} and leaves {entry['n_unclustered']} "
        f"photos alone, {entry['strangers_left']} of the strangers among them."
        for entry in result["printed"]
    ]
    sentences.append(standing(result, result["configurations"]))
    if "ours" in rows:
        sentences += _let_in(rows)
    sentences += [*failures(result), *result.get("skipped", []), *result.get("notes", [])]
    head = ["method", "F", "left alone", "strangers left alone", "groups with a stranger"]
    lines = [
        [
            bold(row),
            pages.with_spread(row),
            pages.count(row["n_unclustered"]),
            f"{pages.count(row['strangers_left'])} of {pages.count(row['strangers'])}",
            pages.count(row["groups_with_strangers"]),
        ]
        for row in rows.values()
    ]
    return Told(sentences, pages.table(head, lines))


def _let_in(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """How many strangers ours lets in, against its `join_rate` and against others."""
    ours = rows["ours"]
    there, left = round(ours["strangers"]), round(ours["strangers_left"])
    joined = there - left
    if not joined:
        return []
    chance = at_least(joined, there, _JOIN_RATE)
    better = [row["label"] for row in rows.values() if row["strangers_left"] > left]
    fewer = f"; **fewer get in with {pages.listed(better)}**" if better else ""
    return [
        f"Ours lets in {joined} of {there} strangers, where its `join_rate` of 1 % would be "
        f"{pages.count(_JOIN_RATE * there)} on average and {joined} or more come up in "
        f"{pages.percent(chance)} of all draws{fewer}."
    ]


def at_least(count: int, of: int, rate: float) -> float:
    """Probability of `count` or more among `of`, each with probability `rate`."""
    below = sum(comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(count))
    return 1 - below


EXPERIMENT = Experiment(
    "outliers",
    "Text, presence of outliers: 20 cameras of VISION and 50 photos of strangers",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
