"""The paper's large-scale figures: LS-SSC, Lin-LS and ours on more photos than one batch holds."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from samecam import pages
from samecam.datasets import configuration
from samecam.experiments import _paper, _pictures
from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._grid import (
    GridRun,
    best_first,
    cell,
    grid_runs,
    of_photographs,
    run_grid,
    score_grid,
)
from samecam.experiments._methods import METHODS
from samecam.experiments._sources import Plan, Source, plan
from samecam.experiments._study import Study
from samecam.experiments._text import failures, standing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES: Mapping[str, tuple[str, ...]] = {
    "dresden": tuple(f"LDa{n}" for n in (30, 35, 40, 45, 50, 55, 60, 65, 70, 74)),
    "vision": tuple(f"LVa{n}" for n in (21, 24, 27, 30, 33)),
}
_QUICK: Mapping[str, tuple[str, ...]] = {
    "dresden": ("LDa30", "LDa74"),
    "vision": ("LVa21", "LVa33"),
}
_METHODS = ("ours", "ls-ssc", "lin-ls")
# Collections of which the table has every one.
_MOST_LISTED = 5
# Runs of these take longest; a quick study leaves them out.
_SLOWEST = (("LDa74", "lin-ls"), ("LVa33", "lin-ls"))


def _todo(collection: str, context: Context) -> tuple[Plan, list[GridRun]]:
    names = _QUICK[collection] if context.quick else _NAMES[collection]
    planned = plan(context, collection, names)
    todo = grid_runs(planned, [METHODS[key] for key in _METHODS], context.runs)
    if context.quick:
        todo = [run for run in todo if (run.source.name, run.method.key) not in _SLOWEST]
    return planned, todo


def _run(collection: str, context: Context) -> None:
    run_grid(context, f"large-{collection}", _todo(collection, context)[1])


def _score(collection: str, study: Study, context: Context) -> dict[str, Any]:
    planned, todo = _todo(collection, context)
    names = [source.name for source in planned.sources]
    scored = score_grid(study, todo)
    return {
        "collection": collection,
        "configurations": names,
        "cameras": [_cameras(source) for source in planned.sources],
        "skipped": [],
        "notes": [],
        **of_photographs(context, planned, scored),
        "printed": [_paper.as_json(p) for p in _paper.LARGE if p.configuration in names],
        **scored,
    }


def _cameras(source: Source) -> int | None:
    """Cameras of a configuration that is as in print."""
    wanted = source.wanted
    return None if wanted is None or wanted.name != source.name else wanted.cameras


def _rows(result: Result, method: str) -> list[tuple[float, Mapping[str, Any]]]:
    """Number of cameras and row of a method, where it was run."""
    cells = [cell(result, name, method) for name in result["configurations"]]
    return [(float(row["n_cameras"]), row) for row in cells if row is not None]


def _plot(result: Result) -> "Figure":
    figure = _pictures.blank(10.5, 3.9)
    panels = (
        ("f", "F"),
        ("lp_over_lg", "groups found / cameras"),
        ("n_unclustered", "photos left alone"),
    )
    axes = figure.subplots(1, 3)
    for ax, (measure, title) in zip(axes, panels, strict=True):
        for method in _METHODS:
            points = _rows(result, method)
            if points:
                xs = [x for x, _ in points]
                ys = [row[measure] for _, row in points]
                spread = [row[f"{measure}_spread"] for _, row in points]
                _pictures.line(ax, method, points[0][1]["label"], xs, ys, spread)
        _pictures.tidy(ax, title, "cameras")
        _pictures.at_cameras(ax, [x for key in _METHODS for x, _ in _rows(result, key)])
    axes[0].set_ylim(0, 1.04)
    axes[1].axhline(1, color="#888888", linewidth=0.8)
    axes[1].set_ylim(bottom=0)
    top = max(1, axes[2].get_ylim()[1])
    axes[2].set_ylim(-0.03 * top, top)  # what lies at 0 is seen
    _pictures.whole_numbers(axes[2])
    for entry in result["printed"]:
        above = "f_above" in entry
        value = entry.get("f", entry.get("f_above"))
        word = f"print: {'> ' * above}{pages.share(value)}"
        cameras = configuration(entry["configuration"]).cameras
        _pictures.printed(axes[0], cameras, value, entry["method"], word, above=above)
    axes[0].legend(loc="lower left", frameon=False, fontsize=8.5)
    return figure


_ABOUT = (
    "F, groups, photos left without one; the picture has each collection. Ours takes all "
    "correlations at once, LS-SSC batches of 4,000."
)


def _tell(result: Result) -> Told:
    names = result["configurations"]
    sentences = [standing(result, names), *_in_print(result), *failures(result)]
    sentences += [*result["skipped"], *result["notes"]]
    return Told(sentences, _table(result, _some(names)))


def _some(names: Sequence[str]) -> Sequence[str]:
    """All collections, or of more than five the first, the middle and the last."""
    return names if len(names) <= _MOST_LISTED else [names[0], names[len(names) // 2], names[-1]]


def _in_print(result: Result) -> list[str]:
    words = []
    for entry in result["printed"]:
        row = cell(result, entry["configuration"], entry["method"])
        value = entry.get("f", entry.get("f_above"))
        above = "above " * ("f_above" in entry)
        here = "not run" if row is None else pages.with_spread(row)
        words.append(
            f"{entry['label']} F {above}{pages.share(value)} on {entry['configuration']} "
            f"(here {here})"
        )
    return [f"In print: {pages.listed(words)}."] if words else []


def _table(result: Result, names: Sequence[str]) -> str:
    methods: Sequence[str] = _METHODS
    if result.get("best_first"):
        methods = [method for method, _ in best_first(result, names)]
    head = ["collection", "photos", *(METHODS[key].label for key in methods)]
    rows = []
    for name in names:
        line = [cell(result, name, key) for key in methods]
        images = next((pages.count(row["n_images"]) for row in line if row is not None), "–")
        words = ["–" if row is None else _cell_text(row) for row in line]
        rows.append([name, images, *words])
    return pages.table(head, rows)


def _cell_text(row: Mapping[str, Any]) -> str:
    alone = pages.count(row["n_unclustered"])
    return f"{pages.with_spread(row)}, {pages.count(row['n_clusters'])}, {alone}"


def _experiment(collection: str, title: str, about: str) -> Experiment:
    return Experiment(
        f"large-{collection}",
        title,
        partial(_run, collection),
        partial(_score, collection),
        _plot,
        about,
        _tell,
        takes_data=True,
    )


DRESDEN = _experiment(
    "dresden", "Figure: LS-SSC, Lin-LS and ours on 30 to 74 cameras of Dresden", _ABOUT
)
VISION = _experiment(
    "vision",
    "Figure: LS-SSC, Lin-LS and ours on 21 to 33 cameras of VISION",
    "As [large-dresden](#large-dresden).",
)
