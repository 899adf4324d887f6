"""The one like-for-like table in print (Phan 2017), on its four collections or their twins."""

from typing import TYPE_CHECKING, Any

from samecam.datasets import configuration, twin
from samecam.experiments import _paper, _pictures, _words
from samecam.experiments._experiment import Context, Experiment, Result
from samecam.experiments._grid import Task, cell, remarks, run_grid, score_grid, tasks
from samecam.experiments._methods import METHODS
from samecam.experiments._sources import Plan, plan
from samecam.experiments._study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = ("phan-D1", "phan-D2", "phan-D3", "phan-D4")
_UNEVEN = ("phan-D3", "phan-D4")
_TREES = {"dresden": "Dresden", "raise": "RAISE"}


def _plan(context: Context) -> Plan:
    """All four as twins, or those that can be drawn from the tree there is."""
    if context.data is None:
        return plan(context, "", _NAMES)
    tree = "raise" if any(context.data.glob("RAISE*.csv")) else "dresden"
    of = {name: configuration(name).collection for name in _NAMES}
    found = plan(
        context,
        tree,
        [name for name in _NAMES if of[name] == tree],
        {name: twin(name).sizes for name in _UNEVEN},
    )
    others = [
        f"{name} was left out: its photos are of {_TREES[of[name]]}, and this tree is not."
        for name in _NAMES
        if of[name] != tree
    ]
    return Plan(found.sources, (*others, *found.skipped))


def _todo(context: Context) -> list[Task]:
    return tasks(_plan(context), METHODS.values(), context.runs)


def _run(context: Context) -> None:
    run_grid(context, "rivals-table", _todo(context))


def _score(study: Study, context: Context) -> dict[str, Any]:
    found, scored = _plan(context), score_grid(study, _todo(context))
    said = {"skipped": list(found.skipped), "notes": remarks(found, scored)}
    return {
        "configurations": [source.name for source in found.sources],
        "printed": [_paper.as_json(entry) for entry in _paper.RIVALS_TABLE],
        **(said if context.data is not None else {}),
        **scored,
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
    names = result["configurations"]
    methods, short = _methods(result), [name.removeprefix("phan-") for name in names]
    labels = [label for _, label in methods]
    rows = [[cell(result, name, method) for name in names] for method, _ in methods]
    here = _pictures.Cells(
        [[None if row is None else row["f"] for row in line] for line in rows],
        [["–" if row is None else _words.share(row["f"]) for row in line] for line in rows],
        labels,
        short,
    )
    values = [[_in_print(result, name, method) for name in names] for method, _ in methods]
    words = [["" if v is None else _words.share(v) for v in line] for line in values]
    there = _pictures.Cells(values, words, labels, short)
    title = "F here (photographs)" if "notes" in result else "F on the twins"
    _pictures.shade(left, here, title, least=0.4, most=1.05, cmap="Blues")
    _pictures.shade(right, there, "F in print (photographs)", least=0.4, most=1.05, cmap="Blues")
    return figure


def _text(result: Result) -> str:
    names = result["configurations"]
    said = [_words.standing(result, names)]
    if "phan-D2" in names and "phan-D4" in names:
        said.append(_order(result))
    if "notes" in result:  # of photographs
        said += [*result["skipped"], *result["notes"]]
    else:
        said.append(
            "Twins of D1 and D3 are strong cameras and no problem for most methods, while "
            "photographs share patterns that the twins have not; docs/rivals.md says what was not "
            "found of each rival and chosen instead."
        )
    head = ["method", *(name.removeprefix("phan-") for name in names)]
    rows = []
    for method, label in _methods(result):
        line = [_entry(result, name, method) for name in names]
        rows.append([f"**{label}**" if method == "ours" else label, *line])
    note = "F, groups found/cameras, and in brackets F in print:"
    return " ".join(said) + f"\n\n{note}\n\n" + _words.table(head, rows)


def _order(result: Result) -> str:
    """The rivals from best to worst, here and in print."""
    order = [label for method, label in _methods(result) if _in_print(result, "phan-D2", method)]
    known = {entry["method"]: entry["label"] for entry in result["printed"]}
    printed = sorted(
        known,
        key=lambda m: -sum(_in_print(result, name, m) or 0 for name in ("phan-D2", "phan-D4")),
    )
    return (
        f"By the mean of D2 and D4, the rivals in print come in the order {', '.join(order)} here "
        f"and {', '.join(known[m] for m in printed)} in print."
    )


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
    takes_data=True,
)
