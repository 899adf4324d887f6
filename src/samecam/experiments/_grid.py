"""Every method on every collection: running, and scoring what was run."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from samecam import compute
from samecam.experiments._experiment import Context
from samecam.experiments._methods import Method, run_method
from samecam.experiments._sources import Plan, Source
from samecam.experiments._study import Study
from samecam.metrics import scores

# What of a score is kept of every run, and as mean and spread of each method.
MEASURES = (
    *("f", "precision", "recall", "ari", "n_clusters", "lp_over_lg", "ld_over_lg"),
    *("n_unclustered", "n_images", "n_cameras"),
)


class GridRun(NamedTuple):
    """One run to make: a method on a source with a seed."""

    source: Source
    method: Method
    seed: int

    @property
    def key(self) -> str:
        """Its name in the study."""
        return f"{self.source.name}/{self.method.key}/{self.seed}"


def grid_runs(plan: Plan, methods: Iterable[Method], runs: int) -> list[GridRun]:
    """All runs, source by source."""
    chosen = list(methods)
    return [GridRun(s, m, seed) for s in plan.sources for m in chosen for seed in m.seeds(runs)]


def run_grid(context: Context, name: str, todo: Sequence[GridRun]) -> None:
    """Make the runs that are not saved yet.

    Correlations are loaded once for a source, and what a method does before it comes to its seed
    is done once for all of its runs on a source.
    """
    device = compute.choose_device(context.device)
    loaded: tuple[Source, Any] | None = None
    steps = compute.SharedSteps()
    for done, planned in enumerate(todo):
        context.progress(name, done, len(todo))
        if planned[:2] != todo[done - 1][:2]:
            steps = compute.SharedSteps()

        def make(planned: GridRun = planned, steps: compute.SharedSteps = steps) -> Any:
            nonlocal loaded
            if loaded is None or loaded[0] is not planned.source:
                loaded = None  # the old one goes before the new one comes
                loaded = (planned.source, planned.source.load())
            gram, truth = loaded[1]
            return run_method(
                planned.method,
                gram,
                truth,
                n_pixels=planned.source.n_pixels,
                wanted=planned.source.wanted,
                seed=planned.seed,
                steps=steps,
                device=device,
            )

        options = planned.method.settings(planned.source.wanted)
        parameters = {**planned.source.parameters, "options": options}
        context.study.run(planned.key, make, parameters=parameters)
    context.progress(name, len(todo), len(todo))


def score_grid(study: Study, todo: Sequence[GridRun]) -> dict[str, Any]:
    """Scores of every run ("runs"), and their mean and spread by source and method ("rows")."""
    runs = [_scored(study, planned) for planned in todo]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["configuration"], run["method"]), []).append(run)
    return {"runs": runs, "rows": [_row(group) for group in groups.values()]}


def _scored(study: Study, planned: GridRun) -> dict[str, Any]:
    run = study.load(planned.key)
    about: dict[str, Any] = {
        "key": planned.key,
        "configuration": planned.source.name,
        "method": planned.method.key,
        "label": planned.method.label,
        "seed": planned.seed,
        "commit": study.provenance(planned.key)["commit"],
        "device": run.facts.get("device", "cpu"),
    }
    if "failed" in run.facts:
        return {**about, "failed": run.facts["failed"]}
    score = scores(run.arrays["truth"].tolist(), run.arrays["labels"]).as_dict()
    return {
        **about,
        "seconds": round(run.facts["seconds"], 3),
        **{name: rounded(score[name]) for name in MEASURES},
    }


def _row(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation over runs (0 for one run)."""
    first = runs[0]
    row = {name: first[name] for name in ("configuration", "method", "label")}
    good = [run for run in runs if "failed" not in run]
    if not good:
        return {**row, "runs": 0, "failed": first["failed"]}
    row["runs"] = len(good)
    for name in (*MEASURES, "seconds"):
        values = [float(run[name]) for run in good]
        row[name] = rounded(statistics.fmean(values))
        row[f"{name}_spread"] = rounded(statistics.stdev(values) if len(values) > 1 else 0.0)
    return row


def remarks(plan: Plan, scored: Mapping[str, Any]) -> list[str]:
    """Sentences on what is not as in print, and on photos that could not be used."""
    sentences = {note: None for source in plan.sources for note in source.notes}
    for source in plan.sources:
        there = source.parameters["images"]
        used = [run["n_images"] for run in scored["runs"]
                if run["configuration"] == source.name and "n_images" in run]  # fmt: skip
        if used and used[0] < there:
            sentences[
                f"Of {source.name}, {used[0]} of {there} photos could be used; the others are "
                "over-exposed, flat, doubles, too small, or cannot be read: the study's "
                f"case-{source.parameters['side']}/images.csv has the reason of each."
            ] = None
    return list(sentences)


def rounded(value: float) -> float:
    """Six digits after the point, which is more than any text shows."""
    return round(value, 6)


def cell(result: Mapping[str, Any], configuration: str, method: str) -> Mapping[str, Any] | None:
    """The row of a configuration and a method, if both were run and it did not fail."""
    for row in result["rows"]:
        if (row["configuration"], row["method"]) == (configuration, method) and row["runs"]:
            chosen: Mapping[str, Any] = row
            return chosen
    return None


def best_first(result: Mapping[str, Any], configurations: Sequence[str]) -> list[tuple[str, str]]:
    """Methods with their labels, the best first: by mean F, then precision, then time."""

    def rank(item: tuple[str, str]) -> tuple[float, float, float]:
        f, precision, seconds = (
            mean_of(result, configurations, item[0], name) for name in ("f", "precision", "seconds")
        )
        return -rounded(f), -rounded(precision), seconds

    known = {row["method"]: row["label"] for row in result["rows"]}
    return sorted(known.items(), key=rank)


def mean_of(
    result: Mapping[str, Any], configurations: Sequence[str], method: str, name: str
) -> float:
    """Mean of a measure over configurations; one that the method could not do counts as 0."""
    cells = [cell(result, place, method) for place in configurations]
    values = [0.0 if row is None else float(row.get(name, 0.0)) for row in cells]
    return sum(values) / max(len(values), 1)


def of_photographs(context: Context, plan: Plan, scored: Mapping[str, Any]) -> dict[str, Any]:
    """What a result on real photographs has beside its scores, ready for JSON; of twins, nothing.

    Its key "best_first" says that methods are listed by their scores, whoever comes first.
    """
    if context.data is None:
        return {}
    return {
        "skipped": list(plan.skipped),
        "notes": remarks(plan, scored),
        "best_first": True,
    }


def behind(result: Mapping[str, Any], margin: float = 0.0) -> list[dict[str, Any]]:
    """Where another method's mean F is above ours by more than `margin`: both, largest first."""
    ahead = []
    for row in result["rows"]:
        ours = cell(result, row["configuration"], "ours")
        if ours is None or row["method"] == "ours" or not row["runs"]:
            continue
        if row["f"] - ours["f"] > margin:
            ahead.append({**row, "ours": ours["f"]})
    return sorted(ahead, key=lambda row: row["ours"] - row["f"])
