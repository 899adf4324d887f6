"""The one like-for-like table in print (Phan 2017), on its four collections or their twins."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from samecam import pages
from samecam.datasets import configuration, open_collection, twin
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
from samecam.experiments._methods import METHODS, NCUTS_PHAN
from samecam.experiments._sources import Plan, plan
from samecam.experiments._study import Study
from samecam.experiments._text import bold, failures, standing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = ("phan-D1", "phan-D2", "phan-D3", "phan-D4")
# The two that tell methods apart.
_HARD = ("phan-D2", "phan-D4")
_UNEVEN = ("phan-D3", "phan-D4")
_TREES = {"dresden": "Dresden", "raise": "RAISE"}


def _plan(context: Context) -> Plan:
    """All four as twins, or those that can be drawn from the tree there is."""
    if context.data is None:
        return plan(context, "", _NAMES)
    tree = open_collection(context.data, "dresden").name.lower()
    of = {name: configuration(name).collection for name in _NAMES}
    # A tree that is neither Dresden nor RAISE can be like both.
    fit = [name for name in _NAMES if of[name] == tree] or _NAMES
    expected = tree if tree in _TREES else "dresden"
    planned = plan(context, expected, fit, {name: twin(name).sizes for name in _UNEVEN})
    others = [
        f"{name} was left out: its photos are of {_TREES[of[name]]}, and this tree is not."
        for name in _NAMES
        if name not in fit
    ]
    return Plan(planned.sources, (*others, *planned.skipped))


def _todo(context: Context) -> list[GridRun]:
    methods = [NCUTS_PHAN if key == "ncuts" else method for key, method in METHODS.items()]
    return grid_runs(_plan(context), methods, context.runs)


def _run(context: Context) -> None:
    run_grid(context, "rivals-table", _todo(context))


def _score(study: Study, context: Context) -> dict[str, Any]:
    planned, scored = _plan(context), score_grid(study, _todo(context))
    return {
        "configurations": [source.name for source in planned.sources],
        "printed": [_paper.as_json(entry) for entry in _paper.RIVALS_TABLE],
        **of_photographs(context, planned, scored),
        **scored,
    }


def _methods(result: Result) -> list[tuple[str, str]]:
    """Ours first, then by mean F on D2 and D4, or on all there is where these are not there.

    On photographs the best is first, whoever it is.
    """
    there = result["configurations"]
    judged = _HARD if set(_HARD) <= set(there) else there
    if result.get("best_first"):
        return best_first(result, there)

    def mean(method: str) -> float:
        cells = [cell(result, name, method) for name in judged]
        return sum(float(row["f"]) for row in cells if row is not None) / len(judged)

    known = {row["method"]: row["label"] for row in result["rows"]}
    return sorted(known.items(), key=lambda item: (item[0] != "ours", -mean(item[0])))


def _in_print(result: Result, name: str, method: str) -> Mapping[str, Any] | None:
    for entry in result["printed"]:
        if (entry["configuration"], entry["method"]) == (name, method):
            printed: Mapping[str, Any] = entry
            return printed
    return None


def _groups(name: str, clusters: float, cameras: float | None = None) -> str:
    """Groups found over cameras, as the table in print has them."""
    there = configuration(name).cameras if cameras is None else cameras
    return f"{pages.count(clusters)}/{pages.count(there)}"


def _plot(result: Result) -> "Figure":
    names, methods = result["configurations"], _methods(result)
    short, labels = [name.removeprefix("phan-") for name in names], [label for _, label in methods]
    rows = [[cell(result, name, method) for name in names] for method, _ in methods]
    here = _pictures.Cells(
        [[None if row is None else row["f"] for row in line] for line in rows],
        [["–" if row is None else _here(row) for row in line] for line in rows],
        labels,
        short,
    )
    printed = [[_in_print(result, name, method) for name in names] for method, _ in methods]
    there = _pictures.Cells(
        [[None if p is None else p["f"] for p in line] for line in printed],
        [["" if p is None else _printed(p) for p in line] for line in printed],
        labels,
        short,
    )
    title = f"F, groups/cameras: {'photographs' if 'notes' in result else 'twins'}, here"
    panels = [(here, title)]
    if any(p is not None for line in printed for p in line):
        panels.append((there, "F, groups/cameras: photographs, in print"))
    figure = _pictures.blank(2.0 + (0.6 + 0.95 * max(len(names), 3)) * len(panels), 4.7)
    for ax, (cells, words) in zip(
        figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True
    ):
        _pictures.shade(ax, cells, words, least=0.4, most=1.05, cmap="Blues")
    return figure


_ABOUT = (
    "F, in brackets in print; [rivals](rivals.md) says what was not found of a method. Twins of D1 "
    "and D3 are strong cameras, and no problem for most."
)


def _tell(result: Result) -> Told:
    names = result["configurations"]
    sentences = [standing(result, names), *failures(result)]
    sentences += [*result.get("skipped", []), *result.get("notes", [])]
    head = ["method", *(name.removeprefix("phan-") for name in names)]
    rows = []
    for method, label in _methods(result):
        line = [_entry(result, name, method) for name in names]
        rows.append([bold({"method": method, "label": label}), *line])
    return Told(sentences, pages.table(head, rows))


def _here(row: Mapping[str, Any]) -> str:
    groups = _groups(row["configuration"], row["n_clusters"], row["n_cameras"])
    return f"{pages.share(row['f'])}, {groups}"


def _printed(entry: Mapping[str, Any]) -> str:
    groups = _groups(entry["configuration"], entry["n_clusters"])
    return f"{pages.share(entry['f'])}, {groups}"


def _entry(result: Result, name: str, method: str) -> str:
    row, entry = cell(result, name, method), _in_print(result, name, method)
    also = "" if entry is None else f" ({pages.share(entry['f'])})"
    return f"{'–' if row is None else pages.with_spread(row)}{also}"


EXPERIMENT = Experiment(
    "rivals-table",
    "Phan 2017, the like-for-like table: F and groups of each method",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
