"""Run methods on the fixed sets and on a real collection, and write what came out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from samecam import compute
from samecam._version import __version__
from samecam.datasets import FixedSet, fixed_sets, fixed_version
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context
from samecam.experiments._grid import GridRun, grid_runs, remarks, score_grid
from samecam.experiments._methods import METHODS, Method
from samecam.experiments._results import document_text, each, each_version
from samecam.experiments._sources import Correlations, Plan, Source, whole_source
from samecam.experiments._study import Run, Study, write_file
from samecam.experiments._text import failures
from samecam.experiments.benchmarking._entrants import Entrant, entrants
from samecam.experiments.benchmarking._result import FORMAT, VERSION, Benchmark, ranking
from samecam.experiments.benchmarking._run import load, run_one
from samecam.files import work_folder
from samecam.inputs import PathLike

NONE = "none"
_LIMIT = 600.0
_RUNS, _QUICK_RUNS = 5, 2
# Sets that take little time, of different kinds; --quick.
_QUICK = ("dresden-5", "few", "strangers", "weak-010")
# As CITATION.cff has it.
_CITE = (
    "The samecam developers: samecam: which photographs were taken by the same camera? Version "
    "{version}, 2026. Fixed sets, version {sets}.",
    "Q.-T. Phan, G. Boato, F. G. B. De Natale: Accurate and Scalable Image Clustering Based On "
    "Sparse Representation of Camera Fingerprint. IEEE Transactions on Information Forensics and "
    "Security, 2019.",
)


def benchmark(
    *methods: Any,
    out: PathLike = "benchmark",
    data: PathLike | None = None,
    sets: Sequence[str] | None = None,
    quick: bool = False,
    runs: int | None = None,
    limit: float | None = _LIMIT,
    progress: compute.Progress | None = None,
) -> Benchmark:
    """Run methods on fixed simulated sets, and on a real collection, and score them.

    Every run is made in a process of its own and kept in `out`; the same call goes on with those
    that are not there yet. A method that fails or takes too long is listed with the reason. The
    fixed sets (`samecam.datasets.fixed_sets`) are drawn here and checked by their SHA-256; one
    that comes out different is said to, and not used. `benchmark.json` is written into `out`;
    `samecam.write_benchmark` makes a page of it.

    Parameters
    ----------
    methods : "ours" (the default), "ls-ssc", "ssc-nc", "ssc", a rival's name, "all"; or estimators
        in scikit-learn's manner, also as "module:Class" or "file.py:Class". Such a one has
        `fit_predict`, or `fit` and then `labels_`: a whole number for each photo, −1 for no group.
        If its parameter `metric` (or `affinity`) is "precomputed" it is given the correlations
        of all photos, an array (n, n) with 1 on the diagonal, else the fingerprints, (n, n_pixels)
        float32. With a parameter `random_state` it runs several times, with seeds 0, 1, …; a
        parameter `n_pixels` that is None is told the length of a fingerprint.
    out : folder of the runs and of the result
    data : root of a real collection, see `samecam.datasets.open_collection`
    sets : names of the fixed sets to run on; none: with `data` alone. Default all of them
    quick : fewer sets and runs
    runs : of a method with chance in it; default 5, or 2 if quick
    limit : seconds that one run may take, with all it loads; None: any time
    progress : called as progress("Benchmark", done, total)

    Examples
    --------
    >>> from samecam.cluster import SSCNC  # or a class of your own
    >>> result = samecam.benchmark("ours", SSCNC(metric="precomputed"), sets=["few"], runs=2)
    >>> result.to_frame()  # one row a set and method
    >>> result.plot()
    """
    if limit is not None and not limit > 0:
        raise SamecamError(f"limit is {limit}: give seconds above 0, or None.")
    chosen = entrants(methods)
    context = Context(
        Study(out),
        quick=quick,
        data=None if data is None else Path(data),
        progress=compute.shown_progress(progress),
        repeats=runs or (_QUICK_RUNS if quick else _RUNS),
    )
    fixed = _fixed(sets, quick=quick)
    sources = [_source(one) for one in fixed]
    if data is not None:
        sources.append(whole_source(context))
    if not sources:
        raise SamecamError("There is no set to run on: name one, or give a real collection.")
    todo = grid_runs(Plan(sources, ()), chosen, context.runs)
    different = _run(context, sources, todo, limit)
    kept = [one for one in todo if one.source.name not in different and context.study.has(one.key)]
    asked = _command(chosen, context, sets, runs, limit)
    content = _document(context, kept, sources, different, chosen, limit, asked)
    result = Benchmark(Path(out), content)
    write_file(result.file, document_text(content))
    return result


def _fixed(names: Sequence[str] | None, *, quick: bool) -> list[FixedSet]:
    """Fixed sets that are meant, in their own order."""
    known = fixed_sets()
    wanted = list(names or (_QUICK if quick else known))
    if wanted == [NONE]:
        return []
    for name in wanted:
        if name not in known:
            raise SamecamError(
                f"{name!r} is no set: choose from {', '.join(known)}, or {NONE} with a real "
                "collection."
            )
    return [one for name, one in known.items() if name in wanted]


def _source(fixed: FixedSet) -> Source:
    parameters = {"set": fixed.name, "sha256": fixed.sha256, "images": fixed.n_images}
    return Source(
        fixed.name,
        None,
        fixed.n_pixels,
        parameters,
        lambda: Correlations(*fixed.gram()),
    )


def _run(
    context: Context, sources: Sequence[Source], todo: Sequence[GridRun], limit: float | None
) -> dict[str, str]:
    """Make the runs that are not there yet; which sets cannot be used, and why."""
    study, done = context.study, 0
    different: dict[str, str] = {}
    study.hold()
    with work_folder(study.folder) as folder:
        for source in sources:
            loaded = load(source, folder)
            failed: set[str] = set()
            for planned in (one for one in todo if one.source is source):
                context.progress("Benchmark", done, len(todo))
                done += 1
                method = planned.method
                if isinstance(loaded, str):
                    different[source.name] = loaded
                elif method.key not in failed:
                    options = method.settings(source.wanted)
                    run = study.run(
                        planned.key,
                        partial(run_one, planned, loaded, limit),
                        parameters={**source.parameters, "options": options},
                        again=partial(_deserves_more, limit),
                    )
                    if "failed" in run.facts:
                        failed.add(method.key)  # another seed would take as long
    context.progress("Benchmark", len(todo), len(todo))
    return different


def _deserves_more(limit: float | None, run: Run) -> bool:
    """Whether a run was ended by a lower limit than there is now."""
    over = run.facts.get("timed_out")
    return over is not None and (limit is None or limit > over)


def _document(
    context: Context,
    todo: Sequence[GridRun],
    sources: Sequence[Source],
    different: dict[str, str],
    methods: Sequence[Method],
    limit: float | None,
    command: str,
) -> dict[str, Any]:
    """What `benchmark.json` holds; keys in the order in which people read."""
    used = [source for source in sources if source.name not in different]
    result = {"configurations": [one.name for one in used], **score_grid(context.study, todo)}
    made = [context.study.provenance(planned.key) for planned in todo]
    runs = [context.study.load(planned.key) for planned in todo]
    of = {one.name: [run for run, planned in zip(runs, todo, strict=True) if planned.source is one]
          for one in sources}  # fmt: skip
    listed = [_set(one, different.get(one.name, ""), of[one.name]) for one in sources]
    return {
        "format": FORMAT,
        "version": VERSION,
        "samecam": __version__,
        "command": command,
        "sets_version": fixed_version(),
        "repeats": context.runs,
        "limit": limit,
        "commit": each(made, "commit"),
        "versions": each_version(one["versions"] for one in made),
        "processor": each(made, "processor"),
        "cores": os.cpu_count(),
        "threads": sorted({run.facts["threads"] for run in runs if "threads" in run.facts}),
        "cite": [text.format(version=__version__, sets=fixed_version()) for text in _CITE],
        "sets": listed,
        "methods": [_method(method) for method in methods],
        "notes": remarks(Plan([one for one in used if one.extract is not None], ()), result),
        "failures": failures(result),
        "ranking": ranking(result, methods, listed),
        "result": result,
    }


def _set(source: Source, failed: str, runs: Sequence[Run]) -> dict[str, Any]:
    """A set as the document lists it; of a real one, cameras and photos as far as they are used.

    Parameters
    ----------
    runs : those on it
    """
    common = {"name": source.name, "n_pixels": source.n_pixels, "failed": failed}
    fixed = fixed_sets().get(source.name) if source.extract is None else None
    if fixed is not None:
        return {
            **common,
            "kind": "twin",
            "about": fixed.about,
            "photos": fixed.n_images,
            "cameras": fixed.cameras,
            "strangers": fixed.strangers,
            "sha256": fixed.sha256,
        }
    truth = next((run.arrays["truth"] for run in runs if "truth" in run.arrays), None)
    sizes = np.zeros(0) if truth is None else np.bincount(truth)
    return {
        **common,
        "kind": "real",
        "about": f"real photographs, squares of {round(source.n_pixels**0.5)} pixels",
        "photos": int(sizes.sum()),
        "cameras": int(np.count_nonzero(sizes > 1)),
        "strangers": int(np.count_nonzero(sizes == 1)),
        "sha256": source.parameters["sha256"],
    }


def _method(method: Method) -> dict[str, Any]:
    """A method as the document lists it."""
    known = {
        "method": method.key,
        "label": method.label,
        "whose": method.whose,
        "random": method.random,
        "options": method.settings(None),
    }
    if not isinstance(method, Entrant):
        return {**known, "input": "correlations", "source_sha256": ""}
    return {**known, "input": method.input, "source_sha256": method.source}


def _command(
    methods: Sequence[Method],
    context: Context,
    sets: Sequence[str] | None,
    runs: int | None,
    limit: float | None,
) -> str:
    """What makes it again, without names of places."""
    keys = [method.label if isinstance(method, Entrant) else method.key for method in methods]
    words = ["all"] if keys == list(METHODS) else keys
    words += ["--data DIR"] * (context.data is not None)
    words += [f"--sets {','.join(sets)}"] if sets else []
    words += ["--quick"] * context.quick
    words += [f"--runs {runs}"] if runs else []
    words += [f"--limit {limit:g}"] if limit is not None and limit != _LIMIT else []
    return " ".join(["samecam benchmark", *words])
