"""One run of a method on a set, in a process of its own: only what it needs goes there."""

import pickle
from collections.abc import Mapping
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
from samecam.files import read_own, write_atomically

_GRAM, _ROWS, _LABELS, _ESTIMATOR = "gram.npy", "rows.npy", "labels.npy", "estimator.pickle"


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
        if method.pickled:
            write_atomically(folder / _ESTIMATOR, method.pickled)
        if method.input == "fingerprints":
            task["fingerprints"] = loaded.fingerprints()
    facts = {
        "method": method.key,
        "options": options,
        "seed": planned.seed,
        "device": "cpu",
        "input": "fingerprints" if "fingerprints" in task else "correlations",
    }
    told = compute.run_alone(f"{__name__}:work", task, folder, timeout=limit)
    facts["peak_memory"] = told.peak_memory
    if told.failure:
        over = {"timed_out": limit} if told.timed_out else {}
        return Run({}, {**facts, "failed": told.failure, **over})
    arrays = {"labels": np.load(folder / _LABELS), "truth": loaded.truth.astype(np.int32)}
    return Run(arrays, {**facts, **told.facts})


def work(task: Mapping[str, Any]) -> dict[str, Any]:
    """What the process does: labels to their file; seconds and the like."""
    folder, n_pixels, seed = Path(task["folder"]), task["n_pixels"], task["seed"]
    given = _given(task.get("fingerprints"), folder)
    if task["name"]:
        more = {"metric": "precomputed", "n_pixels": n_pixels, "device": "cpu"}
        estimator = make_estimator(task["name"], task["options"], seed, **more)
        labels, facts = fit_labels(estimator, given)
    else:
        spec = task["spec"]
        estimator = load_spec(spec) if spec else pickle.loads(read_own(folder / _ESTIMATOR))
        prepare(estimator, seed, n_pixels)
        labels, facts = fit_labels(estimator, given)
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
