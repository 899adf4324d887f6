"""The paper's medium-scale figures: all methods, 5 to 20 cameras, of Dresden and of VISION."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from samecam import pages
from samecam.datasets import configurations
from samecam.experiments import _paper, _pictures
from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._grid import (
    GridRun,
    best_first,
    cell,
    grid_runs,
    mean_of,
    of_photographs,
    run_grid,
    score_grid,
)
from samecam.experiments._methods import METHODS
from samecam.experiments._sources import Plan, plan
from samecam.experiments._study import Study
from samecam.experiments._text import bold, failures, standing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "dresden": ("Ds", "Da", "Dsm", "Dam"),
    "vision": ("Vs", "Va"),
}
_CAMERAS = (5, 10, 15, 20)
# Of 10 cameras and more the asymmetric ones of Dresden take a minute or more each; VISION's of 20
# is in print.
_QUICK: Mapping[str, tuple[str, ...]] = {
    "dresden": ("Ds5", "Ds20", "Da5", "Dsm5", "Dsm20", "Dam5"),
    "vision": ("Vs5", "Vs20", "Va5", "Va20"),
}


def _names(collection: str, quick: bool) -> Sequence[str]:
    everything = [f"{family}{n}" for family in _FAMILIES[collection] for n in _CAMERAS]
    return _QUICK[collection] if quick else everything


def _todo(collection: str, context: Context) -> tuple[Plan, list[GridRun]]:
    planned = plan(context, collection, _names(collection, context.quick))
    return planned, grid_runs(planned, METHODS.values(), context.runs)


def _run(collection: str, context: Context) -> None:
    run_grid(context, f"medium-{collection}", _todo(collection, context)[1])


def _score(collection: str, study: Study, context: Context) -> dict[str, Any]:
    planned, todo = _todo(collection, context)
    names = [source.name for source in planned.sources]
    scored = score_grid(study, todo)
    return {
        "collection": collection,
        "configurations": names,
        "skipped": [],
        "notes": [],
        **of_photographs(context, planned, scored),
        "printed": [_paper.as_json(_paper.VA20)] if "Va20" in names else [],
        **scored,
    }


def _ranked(result: Result) -> list[tuple[str, str]]:
    """Methods with their labels: ours, then by mean F, best first; on photographs, best first."""
    if result.get("best_first"):
        return best_first(result, result["configurations"])
    means: dict[tuple[str, str], list[float]] = {}
    for row in result["rows"]:
        means.setdefault((row["method"], row["label"]), []).append(row.get("f", 0.0))
    return sorted(means, key=lambda k: (k[0] != "ours", -sum(means[k]) / len(means[k]), k))


def cells(
    result: Result, word: Callable[[Mapping[str, Any]], str], measure: Callable[[Any], float]
) -> _pictures.Cells:
    """A shaded table of a measure, methods down, configurations across."""
    ranked, names = _ranked(result), result["configurations"]
    rows = [[cell(result, name, method) for name in names] for method, _ in ranked]
    return _pictures.Cells(
        [[None if row is None else measure(row) for row in line] for line in rows],
        [["–" if row is None else word(row) for row in line] for line in rows],
        [label for _, label in ranked],
        names,
    )


def _with_print(result: Result, shown: _pictures.Cells, *, show: bool) -> _pictures.Cells:
    """The table with a row below LS-SSC for what is printed of it, empty where nothing is."""
    if not result["printed"] or "LS-SSC" not in shown.rows:
        return shown
    entry, at = result["printed"][0], shown.rows.index("LS-SSC") + 1
    value = [entry["f"] if show and n == entry["configuration"] else None for n in shown.columns]
    words = ["" if v is None else pages.share(v) for v in value]
    rows = list(shown.rows)
    return shown._replace(
        values=[*shown.values[:at], value, *shown.values[at:]],
        words=[*shown.words[:at], words, *shown.words[at:]],
        rows=[*rows[:at], "LS-SSC in print", *rows[at:]],
    )


def _plot(result: Result) -> "Figure":
    wide = max(len(result["configurations"]), 4)
    figure = _pictures.blank(3.2 + 1.16 * wide, 4.9)
    left, right = figure.subplots(1, 2, sharey=True)
    f = cells(result, lambda row: pages.share(row["f"]), lambda row: float(row["f"]))
    f = _with_print(result, f, show=True)
    _pictures.shade(left, f, "F: darker is better", least=0.4, most=1.05, cmap="Blues")
    alone = cells(
        result,
        lambda row: pages.count(row["n_unclustered"]),
        lambda row: float(row["n_unclustered"] / row["n_images"]),
    )
    alone = _with_print(result, alone, show=False)
    _pictures.shade(
        right, alone, "photos left without a group", least=0.0, most=1.0, cmap="Oranges"
    )
    return figure


_ABOUT = "F over all collections, and photos left without a group; the picture has each."


def _tell(result: Result) -> Told:
    names = result["configurations"]
    sentences = [standing(result, names), *_in_print(result), *failures(result)]
    sentences += [*result["skipped"], *result["notes"]]
    head = ["method", "mean F", "lowest F", "left alone"]
    rows = [line for method, label in _ranked(result) if (line := _line(result, method, label))]
    return Told(sentences, pages.table(head, rows))


def _line(result: Result, method: str, label: str) -> list[str]:
    """A method over all collections; one that it could not do counts as F 0."""
    names = result["configurations"]
    rows = [row for name in names if (row := cell(result, name, method)) is not None]
    if not rows:
        return []
    low = min(rows, key=lambda row: row["f"])
    where = f" ({low['configuration']})" if low["f"] < 1 and len(rows) > 1 else ""
    return [
        bold({"method": method, "label": label}),
        pages.share(mean_of(result, names, method, "f"), 3),
        f"{pages.with_spread(low)}{where}",
        pages.count(sum(row["n_unclustered"] for row in rows)),
    ]


def _in_print(result: Result) -> list[str]:
    sentences = []
    for entry in result["printed"]:
        row = cell(result, entry["configuration"], entry["method"])
        if row is not None:
            sentences.append(
                f"{row['label']} on {entry['configuration']}: in print ({entry['place']}) F "
                f"{pages.share(entry['f'])}, precision {pages.share(entry['precision'])}, recall "
                f"{pages.share(entry['recall'])}; here {pages.with_spread(row)}, "
                f"{pages.share(row['precision'])}, {pages.share(row['recall'])}."
            )
    return sentences


def _experiment(collection: str, title: str, about: str) -> Experiment:
    known = configurations()
    assert all(name in known for name in _names(collection, quick=False))
    return Experiment(
        f"medium-{collection}",
        title,
        partial(_run, collection),
        partial(_score, collection),
        _plot,
        about,
        _tell,
        takes_data=True,
    )


DRESDEN = _experiment(
    "dresden", "Figure: all methods on 5 to 20 cameras of Dresden; unclustered photos", _ABOUT
)
VISION = _experiment(
    "vision",
    "Figure: all methods on 5 to 20 cameras of VISION; unclustered photos",
    "As [medium-dresden](#medium-dresden).",
)
