"""One run of a method on a set, in a process of its own: only what it needs goes there."""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_info

from samecam import compute
from samecam.datasets import fixed_sets
from samecam.errors import SamecamError
from samecam.experiments._grid import GridRun
from samecam.experiments._methods import fit_labels, make_estimator
from samecam.experiments._sources import Correlations, Source
from samecam.experiments._study import Run
from samecam.experiments.benchmarking._entrants import Entrant, load_spec, prepare

_GRAM, _ROWS, _LABELS = "gram.npy", "rows.npy", "labels.npy"


class Loaded:
    """A set whose correlations, and fingerprints where they are asked for, others can take.

    Parameters
    ----------
    source : where they come from
    folder : for what passes to other processes
    """

    def __init__(self, source: Source, folder: Path, correlations: Correlations) -> None:
        self.source, self.folder, self.truth = source, folder, correlations.truth
        np.save(folder / _GRAM, correlations.gram)
        self._rows: dict[str, str] | None = None

    def fingerprints(self) -> dict[str, str]:
        """Where another process finds them."""
        if self.source.extract is None:
            return {"set": self.source.name}
        if self._rows is None:
            found = self.source.extract()
            np.save(self.folder / _ROWS, found.rows)
            self._rows = {"case": str(found.case)}
        return self._rows


def run_one(planned: GridRun, loaded: Loaded, limit: float | None) -> Run:
    """Run a method to its end, or to its limit of seconds; one that fails says why."""
    method, folder = planned.method, loaded.folder
    options = method.settings(planned.source.wanted)
    task: dict[str, Any] = {
        "folder": str(folder),
        "seed": planned.seed,
        "n_pixels": planned.source.n_pixels,
        "name": method.name,
        "options": options,
    }
    if isinstance(method, Entrant):
        task["spec"] = method.spec
        if method.input == "fingerprints":
            task["fingerprints"] = loaded.fingerprints()
    facts = {
        "method": method.key,
        "options": options,
        "seed": planned.seed,
        "device": "cpu",
        "input": "fingerprints" if "fingerprints" in task else "correlations",
    }
    if isinstance(method, Entrant) and not method.spec:
        return _run_here(method.estimator, task, facts, loaded)
    told = compute.run_alone(f"{__name__}:work", task, folder, timeout=limit)
    facts["peak_memory"] = told.peak_memory
    if told.failure:
        over = {"timed_out": limit} if told.timed_out else {}
        return Run({}, {**facts, "failed": told.failure, **over})
    return _answered(facts, told.facts, loaded)


def _run_here(
    estimator: Any, task: Mapping[str, Any], facts: dict[str, Any], loaded: Loaded
) -> Run:
    """An object stays in the process that made it: there is nothing to load it from elsewhere."""
    try:
        return _answered(facts, _labelled(deepcopy(estimator), task), loaded)
    except Exception as error:  # anything, of a class that nobody here wrote
        return Run({}, {**facts, "failed": f"{type(error).__name__}: {error}"})


def _answered(facts: dict[str, Any], told: Mapping[str, Any], loaded: Loaded) -> Run:
    labels = np.load(loaded.folder / _LABELS)
    return Run({"labels": labels, "truth": loaded.truth.astype(np.int32)}, {**facts, **told})


def work(task: Mapping[str, Any]) -> dict[str, Any]:
    """What the process does: labels to their file; seconds and the like."""
    if not task["name"]:
        return _labelled(load_spec(task["spec"]), task)
    more = {"metric": "precomputed", "n_pixels": task["n_pixels"], "device": "cpu"}
    return _labelled(make_estimator(task["name"], task["options"], task["seed"], **more), task)


def _labelled(estimator: Any, task: Mapping[str, Any]) -> dict[str, Any]:
    folder = Path(task["folder"])
    if not task["name"]:
        prepare(estimator, task["seed"], task["n_pixels"])
    labels, facts = fit_labels(estimator, _given(task.get("fingerprints"), folder))
    if not task["name"]:
        labels = _without_singles(labels)
    np.save(folder / _LABELS, labels.astype(np.int32))
    return {**facts, "threads": max((one["num_threads"] for one in threadpool_info()), default=1)}


def _given(where: Mapping[str, str] | None, folder: Path) -> npt.NDArray[np.floating]:
    """Correlations, or the fingerprints that were asked for."""
    if where is None:
        gram: npt.NDArray[np.floating] = np.load(folder / _GRAM)
        return gram
    if "set" in where:
        return fixed_sets()[where["set"]].fingerprints().X
    from samecam.case import open_store

    wanted = np.load(folder / _ROWS)
    with open_store(where["case"]) as store:
        rows = store.rows()
        X = np.empty((len(wanted), rows.frame.n_pixels), dtype=np.float32)
        rows.read_into(wanted, X)
    return X


def _without_singles(labels: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """A group of one photo links nothing to anything: it is no group, as for our rivals."""
    groups, place, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    numbers = np.where((groups >= 0) & (sizes > 1), np.arange(groups.size), -1)
    return np.asarray(numbers[place])


def load(source: Source, folder: Path) -> Loaded | str:
    """A set ready to be run on, or why it cannot be: a fixed one may come out different."""
    try:
        return Loaded(source, folder, source.load())
    except SamecamError as error:
        if source.extract is not None:
            raise
        return str(error)
