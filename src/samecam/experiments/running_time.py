"""The paper's running times: SSC-NC, LS-SSC and ours, reading and computing apart."""

import math
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from samecam import compute, pages
from samecam.datasets import Configuration, Twin, twin
from samecam.errors import SamecamError
from samecam.experiments import _paper, _pictures
from samecam.experiments._experiment import Context, Experiment, Result, Told, silent
from samecam.experiments._grid import cell, remarks, rounded
from samecam.experiments._methods import METHODS, Method, make_estimator
from samecam.experiments._sources import Fingerprints, Plan, Source, plan, twin_parameters
from samecam.experiments._study import Run, Study
from samecam.experiments._text import failures
from samecam.frames import Frame
from samecam.metrics import scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from samecam.store import FingerprintStore

    # Opens fingerprints, and the camera of each.
    Opener = Callable[
        [], AbstractContextManager[tuple[FingerprintStore, np.ndarray[Any, np.dtype[np.integer]]]]
    ]

_NAMES = ("Da10", "Da20", "LDa30", "LDa40", "LDa50", "LDa60", "LDa70")
_QUICK = ("Da10", "LDa30")
_METHODS = ("ours", "ls-ssc", "ssc-nc")
_SIDE, _RUNS, _QUICK_RUNS = 128, 3, 1
_MEMORY = 8 << 30
_WARM = "Ds5"


class TimedRun(NamedTuple):
    """One run: a method on the fingerprints of a twin or of real photos, with a seed."""

    name: str
    method: Method
    seed: int
    source: Source | None = None

    @property
    def wanted(self) -> Configuration | None:
        """Its configuration; None: all photos there are."""
        return twin(self.name).configuration if self.source is None else self.source.wanted

    @property
    def key(self) -> str:
        """Its name in the study."""
        return f"{self.name}/{self.method.key}/{self.seed}"


def _plan(context: Context) -> Plan:
    return plan(context, "dresden", _QUICK if context.quick else _NAMES)


def _todo(context: Context, planned: Plan | None = None) -> list[TimedRun]:
    runs = range(_QUICK_RUNS if context.quick else _RUNS)
    methods = [METHODS[key] for key in _METHODS]
    real = context.data is not None
    return [
        TimedRun(source.name, method, seed, source if real else None)
        for source in (planned or _plan(context)).sources
        for method in methods
        for seed in runs
    ]


def scaled(model: Twin) -> Twin:
    """A twin whose correlations stand out of chance as much, with fewer pixels.

    Strangers of d' pixels spread √(d/d') times as much as those of d; what cameras and models
    share grows by as much.
    """
    factor = (model.n_pixels / _SIDE**2) ** 0.5
    return replace(model, mean=model.mean * factor, model_mean=model.model_mean * factor)


def _run(context: Context) -> None:
    if context.data is None:
        _run_twins(context)
    else:
        _run_real(context)


def _run_twins(context: Context) -> None:
    todo = _todo(context)
    folder = context.study.folder / "store"
    made: str | None = None

    def make(timing: TimedRun) -> Run:
        nonlocal made
        if made is None:
            made = ""
            _warm_up(context, folder)
        if made != timing.name:
            _write(twin(timing.name), folder)
            made = timing.name
        return _timed(timing, partial(_written, folder), context)

    try:
        for done, timing in enumerate(todo):
            context.progress("running-time", done, len(todo))
            parameters = {
                **twin_parameters(twin(timing.name), whole=True),
                "side": _SIDE,
                "options": timing.method.settings(timing.wanted),
            }
            context.study.run(timing.key, partial(make, timing), parameters=parameters)
    finally:
        if made is not None:  # else the folder may be another process's
            shutil.rmtree(folder, ignore_errors=True)
    context.progress("running-time", len(todo), len(todo))


def _run_real(context: Context) -> None:
    """The same on the store of a case; extraction is not timed."""
    todo = _todo(context)
    kept: dict[str, Fingerprints] = {}
    begun = False

    def make(timing: TimedRun) -> Run:
        nonlocal begun
        assert timing.source is not None
        assert timing.source.extract is not None
        if not begun:
            begun = True
            _warm_up(context, context.study.folder / "store")
        if timing.name not in kept:
            kept[timing.name] = timing.source.extract()
        return _timed(timing, partial(_opened, kept[timing.name]), context)

    try:
        for done, timing in enumerate(todo):
            context.progress("running-time", done, len(todo))
            assert timing.source is not None
            parameters = {
                **timing.source.parameters,
                "options": timing.method.settings(timing.wanted),
            }
            context.study.run(timing.key, partial(make, timing), parameters=parameters)
    finally:
        if begun:
            shutil.rmtree(context.study.folder / "store", ignore_errors=True)
    context.progress("running-time", len(todo), len(todo))


def _warm_up(context: Context, folder: Path) -> None:
    """Compile everything before anything is timed."""
    _write(twin(_WARM), folder)
    quiet = replace(context, progress=silent)
    for key in _METHODS:
        _timed(TimedRun(_WARM, METHODS[key], 0), partial(_written, folder), quiet)


def _write(model: Twin, folder: Path) -> None:
    """Fingerprints of a twin as a store, as a case keeps them."""
    from samecam.store import DiskStore

    shutil.rmtree(folder, ignore_errors=True)
    X, labels = scaled(model).fingerprints(_SIDE**2)
    frame = Frame(_SIDE, _SIDE)
    with closing(DiskStore.create(folder, frame=frame, dtype="float16")) as store:
        for k, row in enumerate(X):
            store.add(f"{k:06d}", row, sha256=f"{k:064x}", meta={"camera": int(labels[k])})
        store.commit()


@contextmanager
def _written(folder: Path) -> "Iterator[tuple[FingerprintStore, Any]]":
    """What `_write` wrote, open."""
    from samecam.store import DiskStore

    with closing(DiskStore.open(folder)) as store:
        yield store.rows(), np.array([r.meta["camera"] for r in store.records()], dtype=np.int32)


@contextmanager
def _opened(photos: Fingerprints) -> "Iterator[tuple[FingerprintStore, Any]]":
    """Extracted photos, open."""
    from samecam.case import open_store
    from samecam.store import Subset

    with open_store(photos.case) as store:
        yield Subset(store.rows(), photos.rows), photos.truth


def _timed(timing: TimedRun, opener: "Opener", context: Context) -> Run:
    """Time a method; of real photos that it cannot do, the reason is in `facts["failed"]`."""
    from samecam.experiments._timed import TimedStore

    options = timing.method.settings(timing.wanted)
    memory = context.memory or _MEMORY
    device = compute.choose_device(context.device)
    more = {"metric": "correlation", "memory": memory, "device": device}
    estimator = make_estimator(timing.method.name, options, timing.seed, **more)
    with opener() as (store, truth), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        timed = TimedStore(store)
        began, cpu = time.perf_counter(), time.process_time()
        try:
            estimator.fit(timed)
        except (SamecamError, ValueError) as error:
            if timing.source is None:
                raise
            return Run({}, {"failed": " ".join(str(error).split()), "seed": timing.seed})
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    facts = {
        "seconds": seconds,
        "reading": timed.seconds,
        "processor": cpu,
        "options": options,
        "seed": timing.seed,
        "device": estimator.get_params().get("device", "cpu"),
    }
    return Run({"labels": estimator.labels_.astype(np.int32), "truth": truth}, facts)


def _score(study: Study, context: Context) -> dict[str, Any]:
    planned = _plan(context)
    todo = _todo(context, planned)
    runs = [_scored(study, timing) for timing in todo]
    rows = [_row([r for r in runs if (r["configuration"], r["method"]) == pair])
            for pair in dict.fromkeys((r["configuration"], r["method"]) for r in runs)]  # fmt: skip
    real: dict[str, Any] = {}
    pixels = _SIDE**2
    if context.data is not None:
        pixels = planned.sources[0].n_pixels
        real = {"skipped": list(planned.skipped), "notes": remarks(planned, {"runs": runs})}
    return {
        "configurations": [source.name for source in planned.sources],
        "side": math.isqrt(pixels),
        "bytes_a_photo": 2 * pixels,
        **real,
        "printed": [_paper.as_json(_paper.MINUTES)],
        "runs": runs,
        "rows": rows,
    }


def _scored(study: Study, timing: TimedRun) -> dict[str, Any]:
    run = study.load(timing.key)
    about = {
        "key": timing.key,
        "configuration": timing.name,
        "method": timing.method.key,
        "label": timing.method.label,
        "seed": timing.seed,
        "commit": study.provenance(timing.key)["commit"],
        "device": run.facts.get("device", "cpu"),
    }
    if "failed" in run.facts:
        return {**about, "failed": run.facts["failed"]}
    score = scores(run.arrays["truth"].tolist(), run.arrays["labels"])
    reading, seconds = run.facts["reading"], run.facts["seconds"]
    return {
        **about,
        "n_cameras": score.n_cameras,
        "n_images": score.n_images,
        "f": rounded(score.f),
        "seconds": rounded(seconds),
        "reading": rounded(reading),
        "computing": rounded(seconds - reading),
        "processor": rounded(run.facts["processor"]),
    }


def _row(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    good = [run for run in runs if "failed" not in run]
    same = ("configuration", "method", "label", *(("n_cameras", "n_images") if good else ()))
    row: dict[str, Any] = {name: (good or runs)[0][name] for name in same}
    row["runs"] = len(good)
    if not good:
        return {**row, "failed": runs[0]["failed"]}
    for name in ("f", "seconds", "reading", "computing", "processor"):
        values = [run[name] for run in good]
        row[name] = rounded(fmean(values))
        row[f"{name}_spread"] = rounded(stdev(values)) if len(values) > 1 else 0.0
    return row


def _plot(result: Result) -> "Figure":
    figure = _pictures.blank(9.4, 3.9)
    axes = figure.subplots(1, 2)
    panels = (("computing", "computing, seconds"), ("reading", "reading fingerprints, seconds"))
    for ax, (name, title) in zip(axes, panels, strict=True):
        for method in _METHODS:
            cells = [cell(result, n, method) for n in result["configurations"]]
            rows = [row for row in cells if row is not None]
            if rows:
                _pictures.line(
                    ax,
                    method,
                    rows[0]["label"],
                    [row["n_cameras"] for row in rows],
                    [row[name] for row in rows],
                    [row[f"{name}_spread"] for row in rows],
                )
        _pictures.tidy(ax, title, "cameras")
        _pictures.at_cameras(ax, [row["n_cameras"] for row in result["rows"] if row["runs"]])
        ax.set_ylim(bottom=0)
    axes[0].legend(frameon=False, loc="upper left")
    return figure


_ABOUT = (
    "Seconds (reading + computing), F. The paper's LS-SSC takes about "
    f"{_paper.MINUTES.values['minutes']} minutes for all of Dresden, 512², on a machine that it "
    "does not name: not comparable."
)


def _tell(result: Result) -> Told:
    last = result["configurations"][-1]
    rows = {key: row for key in _METHODS if (row := cell(result, last, key)) is not None}
    ours = rows["ours"]
    times = [
        f"{row['label']} {row['seconds'] / ours['seconds']:.1f} times as long"
        for key, row in rows.items()
        if key != "ours"
    ]
    sentences = [
        f"On {ours['n_images']} photos ours takes {ours['seconds']:.1f} s"
        + (f", {pages.listed(times)}." if times else "."),
        _setting(result),
        *(*failures(result), *result.get("skipped", []), *result.get("notes", [])),
    ]
    head = ["cameras", "photos", *(METHODS[key].label for key in _METHODS)]
    lines = [_line(result, name) for name in result["configurations"]]
    return Told(sentences, pages.table(head, lines))


def _setting(result: Result) -> str:
    """What was timed, and how."""
    side = result["side"]
    if "notes" in result:  # of photographs
        return (
            f"Fingerprints of {side}² numbers lie in a case; extracting them is not counted, and "
            "how much of them the system holds in memory is not known."
        )
    return (
        f"Fingerprints of {side}² numbers, just written; correlations are {512 / side:g} times as "
        "large as at 512², which LS-SSC's published regressor does not know of."
    )


def _line(result: Result, name: str) -> list[str]:
    cells = [cell(result, name, key) for key in _METHODS]
    first = next(row for row in cells if row is not None)
    words = [
        "–"
        if row is None
        else f"{row['seconds']:.1f} ({row['reading']:.1f} + {row['computing']:.1f}), "
        f"{pages.share(row['f'])}"
        for row in cells
    ]
    return [str(first["n_cameras"]), str(first["n_images"]), *words]


EXPERIMENT = Experiment(
    "running-time",
    "Figure: running time of SSC-NC, LS-SSC and ours, 10 to 70 cameras of Dresden",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
