"""The one like-for-like table in print (Phan 2017), on the twins of its four collections."""

from typing import TYPE_CHECKING, Any

from samecam.datasets import twin
from samecam.experiments import _paper, _pictures, _words
from samecam.experiments._experiment import Context, Experiment, Result
from samecam.experiments._grid import Task, cell, run_grid, score_grid, tasks
from samecam.experiments._methods import METHODS
from samecam.experiments._sources import Plan, twin_source
from samecam.experiments._study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = ("phan-D1", "phan-D2", "phan-D3", "phan-D4")


def _todo(context: Context) -> list[Task]:
    found = Plan([twin_source(twin(name)) for name in _NAMES], ())
    return tasks(found, METHODS.values(), context.runs)


def _run(context: Context) -> None:
    run_grid(context, "rivals-table", _todo(context))


def _score(study: Study, context: Context) -> dict[str, Any]:
    return {
        "configurations": list(_NAMES),
        "printed": [_paper.as_json(entry) for entry in _paper.RIVALS_TABLE],
        **score_grid(study, _todo(context)),
    }


def _methods(result: Result) -> list[tuple[str, str]]:
    """Ours first, then by mean F on D2 and D4, the two that tell methods apart."""

    def hard(method: str) -> float:
        found = [cell(result, name, method) for name in ("phan-D2", "phan-D4")]
        return sum(float(row["f"]) for row in found if row is not None)

    known = {row["method"]: row["label"] for row in result["rows"]}
    return sorted(known.items(), key=lambda item: (item[0] != "ours", -hard(item[0])))


def _in_print(result: Result, name: str, method: str) -> float | None:
    for entry in result["printed"]:
        if (entry["configuration"], entry["method"]) == (name, method):
            found: float = entry["f"]
            return found
    return None


def _plot(result: Result) -> "Figure":
    figure = _pictures.blank(9.4, 4.7)
    left, right = figure.subplots(1, 2, sharey=True)
    methods, short = _methods(result), [name.removeprefix("phan-") for name in _NAMES]
    labels = [label for _, label in methods]
    rows = [[cell(result, name, method) for name in _NAMES] for method, _ in methods]
    here = _pictures.Cells(
        [[None if row is None else row["f"] for row in line] for line in rows],
        [["–" if row is None else _words.share(row["f"]) for row in line] for line in rows],
        labels,
        short,
    )
    values = [[_in_print(result, name, method) for name in _NAMES] for method, _ in methods]
    words = [["" if v is None else _words.share(v) for v in line] for line in values]
    there = _pictures.Cells(values, words, labels, short)
    _pictures.shade(left, here, "F on the twins", least=0.4, most=1.05, cmap="Blues")
    _pictures.shade(right, there, "F in print (photographs)", least=0.4, most=1.05, cmap="Blues")
    return figure


def _text(result: Result) -> str:
    said = [_words.standing(result, list(_NAMES))]
    order = [label for method, label in _methods(result) if _in_print(result, "phan-D2", method)]
    known = {entry["method"]: entry["label"] for entry in result["printed"]}
    printed = sorted(
        known,
        key=lambda m: -sum(_in_print(result, name, m) or 0 for name in ("phan-D2", "phan-D4")),
    )
    said.append(
        f"By the mean of D2 and D4, the rivals in print come in the order {', '.join(order)} here "
        f"and {', '.join(known[m] for m in printed)} in print."
    )
    said.append(
        "Twins of D1 and D3 are strong cameras and no problem for most methods, while photographs "
        "share patterns that the twins have not; docs/rivals.md says what was not found of each "
        "rival and chosen instead."
    )
    head = ["method", *(name.removeprefix("phan-") for name in _NAMES)]
    rows = []
    for method, label in _methods(result):
        line = [_entry(result, name, method) for name in _NAMES]
        rows.append([f"**{label}**" if method == "ours" else label, *line])
    note = "F, groups found/cameras, and in brackets F in print:"
    return " ".join(said) + f"\n\n{note}\n\n" + _words.table(head, rows)


def _entry(result: Result, name: str, method: str) -> str:
    row, value = cell(result, name, method), _in_print(result, name, method)
    if row is None:
        return "–"
    groups = f"{_words.count(row['n_clusters'])}/{_words.count(row['n_cameras'])}"
    also = "" if value is None else f" ({_words.share(value)})"
    return f"{_words.with_spread(row)}, {groups}{also}"


EXPERIMENT = Experiment(
    "rivals-table",
    "Phan 2017, the like-for-like table: F and groups of each method",
    _run,
    _score,
    _plot,
    _text,
)
