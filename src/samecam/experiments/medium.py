"""The paper's medium-scale figures: all methods, 5 to 20 cameras, of Dresden and of VISION."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from samecam import pages
from samecam.datasets import configurations
from samecam.experiments import _paper, _pictures
from samecam.experiments._experiment import Context, Experiment, Result
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
from samecam.experiments._sources import Plan, plan
from samecam.experiments._study import Study
from samecam.experiments._text import failures, standing

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
        **(of_photographs(planned, scored) if context.data is not None else {}),
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


def _sentences(result: Result) -> list[str]:
    """How ours does, how the paper's do, and where ours is behind."""
    names = result["configurations"]
    ours = [row for name in names if (row := cell(result, name, "ours")) is not None]
    sentences = []
    if ours:
        least, most = min(row["f"] for row in ours), max(row["f"] for row in ours)
        alone = sum(row["n_unclustered"] for row in ours)
        sentences = [
            f"Ours has F {pages.span(pages.share(least), pages.share(most))} and leaves "
            f"{pages.count(alone)} photos without a group in all."
        ]
    for method in ("ls-ssc", "ssc-nc"):
        rows = [row for name in names if (row := cell(result, name, method)) is not None]
        if rows:
            low = min(rows, key=lambda row: row["f"])
            high = max(rows, key=lambda row: row["f"])
            sentences.append(f"The paper's {low['label']} has F {_range(low, high)}.")
    return [*sentences, *standing(result, names)]


def _range(low: Mapping[str, Any], high: Mapping[str, Any]) -> str:
    """The lowest and the highest F of a method, with where."""
    if pages.share(low["f"]) == pages.share(high["f"]):
        return f"{pages.share(low['f'])} on all"
    least = f"{pages.with_spread(low)} ({low['configuration']})"
    return f"from {least} to {pages.with_spread(high)} ({high['configuration']})"


def _in_print(result: Result) -> list[str]:
    sentences = []
    for entry in result["printed"]:
        row = cell(result, entry["configuration"], entry["method"])
        if row is not None:
            sentences.append(
                f"In print ({entry['place']}): {row['label']} F {pages.share(entry['f'])}, "
                f"precision {pages.share(entry['precision'])}, recall "
                f"{pages.share(entry['recall'])}, ARI {pages.share(entry['ari'])}; here "
                f"{pages.with_spread(row)}, {pages.share(row['precision'])}, "
                f"{pages.share(row['recall'])}, {pages.share(row['ari'])}."
            )
    if not sentences:
        sentences = ["The paper prints no number for these: its figures alone show them."]
    return sentences


def _text(result: Result) -> str:
    names = result["configurations"]
    sentences = [*_sentences(result), *_in_print(result), *failures(result)]
    sentences += [*result["skipped"], *result["notes"]]
    rows = []
    for method, label in _ranked(result):
        line = [cell(result, name, method) for name in names]
        words = ["–" if row is None else _cell_text(row) for row in line]
        rows.append([f"**{label}**" if method == "ours" else label, *words])
    return pages.bullets(sentences) + "\n\nF, L_p/L_g:\n\n" + pages.table(["method", *names], rows)


def _cell_text(row: Mapping[str, Any]) -> str:
    return f"{pages.with_spread(row)}, {row['lp_over_lg']:.2f}"


def _experiment(collection: str, title: str) -> Experiment:
    known = configurations()
    assert all(name in known for name in _names(collection, quick=False))
    return Experiment(
        f"medium-{collection}",
        title,
        partial(_run, collection),
        partial(_score, collection),
        _plot,
        _text,
        takes_data=True,
    )


DRESDEN = _experiment(
    "dresden", "Figure: all methods on 5 to 20 cameras of Dresden; unclustered photos"
)
VISION = _experiment(
    "vision", "Figure: all methods on 5 to 20 cameras of VISION; unclustered photos"
)
