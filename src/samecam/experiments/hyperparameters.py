"""The paper's selection of η, of γ for each size, and of K with the rounds of recycling."""

import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from samecam.experiments._experiment import Context, Experiment, Result
from samecam.experiments._hyper_sets import (
    SIDE,
    SIDES,
    WEAK,
    Correlated,
    real_photos,
    real_set,
    real_sides,
    simulated_parameters,
    simulated_set,
)
from samecam.experiments._hyper_text import ABOUT, tell
from samecam.experiments._paper import GAMMAS
from samecam.experiments._study import Run, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Preset = Literal["paper", "default"]
Named = Literal["auto", "paper"]
Load = Callable[[], Correlated]
Given = Mapping[str, Any]

ETAS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.3, 2.0, 4.0, 8.0)
QUICK_ETAS = (0.25, 1.0, 1.3, 4.0)
CANDIDATES = tuple(float(gamma) for gamma in np.geomspace(1e-4, 0.02, 13))
_QUICK_STEP = 3
NEIGHBOURS, QUICK_NEIGHBOURS = (3, 4, 5, 8, 12, 20), (3, 5, 12)
ROUNDS, BATCHES = 6, 6
PRESETS: tuple[Preset, ...] = ("paper", "default")
# Twice the measured scale of chance, our default; and the published γ, doubled.
NAMED: tuple[Named, ...] = ("auto", "paper")


def _etas(context: Context) -> tuple[float, ...]:
    return QUICK_ETAS if context.quick else ETAS


def _gammas(context: Context) -> list[tuple[int, float]]:
    """Candidates with their numbers."""
    step = _QUICK_STEP if context.quick else 1
    return list(enumerate(CANDIDATES))[::step]


def _sides(context: Context, name: str) -> tuple[int, ...]:
    """Sides of simulated squares; the development set is large and takes its time."""
    return (SIDE,) if context.quick and name == "dev" else SIDES


def _neighbours(context: Context) -> tuple[int, ...]:
    return QUICK_NEIGHBOURS if context.quick else NEIGHBOURS


def _run(context: Context) -> None:
    """All three selections, on the paper's sets and a weak one, or on photographs."""
    if context.data is not None:
        photos = real_photos(context)
        loads = {side: cache(partial(real_set, context, photos, side)) for side in SIDES}
        sides = real_sides(photos)
        given = photos.as_parameters()
        context.study.run("real/sides", lambda: Run({}, {"sides": sides}), parameters=given)
        _run_eta(context, "real", loads[SIDE], given)
        for side in sides:
            _run_gamma(context, "real", side, loads[side], given)
        _run_recycling(context, "real", loads[SIDE], given)
        return
    _run_eta(context, "dev", *_simulated("dev"))
    for name in ("dev", WEAK):
        for side in _sides(context, name):
            _run_gamma(context, name, side, *_simulated(name, side))
    for name in ("Da5", WEAK):
        _run_recycling(context, name, *_simulated(name))


def _simulated(name: str, side: int = SIDE) -> tuple[Load, Given]:
    """Makes a simulated set, once; and what it depends on."""
    return cache(partial(simulated_set, name, side)), simulated_parameters(name, side)


def _run_eta(context: Context, name: str, load: Load, given: Given) -> None:
    for done, eta in enumerate((None, *_etas(context))):
        context.progress("Choosing η", done, len(_etas(context)) + 1)
        key = "exact" if eta is None else f"{eta:g}"
        context.study.run(
            f"eta/{name}/{key}",
            lambda eta=eta: _eta(load(), eta),  # type: ignore[misc]
            parameters={**given, "eta": eta},
        )


def _eta(given: Correlated, eta: float | None) -> Run:
    """SSC-NC by the paper's iteration with this penalty; None: the exact solver."""
    from samecam.cluster import affinity, eigengap, paper_gamma, spectral_groups, spectrum
    from samecam.represent import represent

    gamma = paper_gamma(given.n_pixels)
    if eta is None:
        answer = represent(given.gram, gamma)
    else:
        answer = represent(given.gram, gamma, solver="admm", eta=eta)
    weights = affinity(answer.coefficients)
    eigen = spectrum(weights)
    count = eigengap(eigen.values, n_nodes=eigen.n_nodes)
    labels = spectral_groups(weights, eigen, count, 0)
    report = answer.report
    facts = {
        "eta": eta,
        "seed": 0,
        "gamma": gamma,
        "iterations": report.iterations,
        "objective": report.objective,
        "kkt_violation": report.kkt_violation,
        "converged": report.converged,
        "seconds": report.seconds,
    }
    return Run({"labels": labels.astype(np.int32), "truth": given.truth}, facts)


def _run_gamma(context: Context, name: str, side: int, load: Load, given: Given) -> None:
    tried = _gammas(context)
    todo: list[tuple[str, float | Named]] = [(f"{number:02d}", gamma) for number, gamma in tried]
    todo += [(name, name) for name in NAMED]
    for done, (key, gamma) in enumerate(todo):
        context.progress(f"Choosing γ, {name}, {side}", done, len(todo))
        context.study.run(
            f"gamma/{name}-{side}/{key}",
            lambda gamma=gamma: _gamma(load(), gamma),  # type: ignore[misc]
            parameters={**given, "gamma": gamma, "side": side},
        )


def _gamma(given: Correlated, gamma: float | Named) -> Run:
    """SSC-NC with this γ, and the published cost."""
    from samecam.cluster import SSCNC, cost_gamma

    began = time.monotonic()
    method = SSCNC(gamma=gamma, metric="precomputed", n_pixels=given.n_pixels).fit(given.gram)
    cost = cost_gamma(given.gram, candidates=[method.gamma_]).costs[method.gamma_]
    facts = {
        "gamma": method.gamma_,
        "seed": 0,
        "null_scale": method.null_scale_,
        "cost": cost if np.isfinite(cost) else None,
        "seconds": time.monotonic() - began,
    }
    return Run({"labels": method.labels_.astype(np.int32), "truth": given.truth}, facts)


def _run_recycling(context: Context, name: str, load: Load, given: Given) -> None:
    todo = [
        (preset, k, seed)
        for preset in PRESETS
        for k in _neighbours(context)
        for seed in range(context.runs)
    ]
    for done, (preset, k, seed) in enumerate(todo):
        context.progress(f"Choosing K and R, {name}", done, len(todo))
        context.study.run(
            f"recycling/{name}-{preset}/K={k}/{seed}",
            lambda p=preset, k=k, seed=seed: _recycle(load(), p, k, seed),  # type: ignore[misc]
            parameters={
                **given,
                "K": k,
                "rounds": ROUNDS,
                "batches": BATCHES,
                "random_state": seed,
            },
        )


def _recycle(given: Correlated, preset: Preset, k: int, seed: int) -> Run:
    from samecam.cluster import recycled_labels

    began = time.monotonic()
    labels = recycled_labels(
        given.gram, k, ROUNDS, n_batches=BATCHES, preset=preset, n_pixels=given.n_pixels,
        random_state=seed,
    )  # fmt: skip
    facts = {"preset": preset, "K": k, "seed": seed, "seconds": time.monotonic() - began}
    return Run({"labels": labels.astype(np.int32), "truth": given.truth}, facts)


def _score(study: Study, context: Context) -> dict[str, Any]:
    real = context.data is not None
    runs: list[dict[str, Any]] = []
    etas = _score_eta(study, context, "real" if real else "dev", runs)
    gammas = [
        _score_gamma(study, context, name, side, runs)
        for name in (("real",) if real else ("dev", WEAK))
        for side in (study.load("real/sides").facts["sides"] if real else _sides(context, name))
    ]
    recycling = [
        _score_recycling(study, context, name, preset, runs)
        for name in (("real",) if real else ("Da5", WEAK))
        for preset in PRESETS
    ]
    return {
        "etas": etas,
        "gammas": gammas,
        "recycling": recycling,
        "batches": BATCHES,
        "printed": {
            "eta": 1.0,
            "gamma": {str(side): gamma for side, gamma in GAMMAS.items()},
            "n_neighbours": 5,
        },
        "runs": runs,
    }


def _score_eta(
    study: Study, context: Context, name: str, runs: list[dict[str, Any]]
) -> dict[str, Any]:
    exact = study.load(f"eta/{name}/exact")
    rows = []
    for key in ("exact", *(f"{eta:g}" for eta in _etas(context))):
        run = study.load(f"eta/{name}/{key}")
        excess = run.facts["objective"] / exact.facts["objective"] - 1
        row = {**run.facts, "excess": excess, "f": _pair_scores(run)["f"]}
        rows.append(row)
        runs.append({"part": "eta", "set": name, **row})
    return {"set": name, "photos": len(exact.arrays["truth"]), "rows": rows}


def _score_gamma(
    study: Study, context: Context, name: str, side: int, runs: list[dict[str, Any]]
) -> dict[str, Any]:
    """F and cost of every γ; F of our default, of the published one, and of the cost's choice."""
    by_key: dict[str, dict[str, Any]] = {}
    for key in (*(f"{number:02d}" for number, _ in _gammas(context)), *NAMED):
        run = study.load(f"gamma/{name}-{side}/{key}")
        got = {"gamma": run.facts["gamma"], "cost": run.facts["cost"], **_pair_scores(run)}
        by_key[key] = got
        runs.append({"part": "gamma", "set": name, "side": side, "γ": key, **run.facts, **got})
    rows = [row for key, row in by_key.items() if key not in NAMED]
    priced = [row for row in rows if row["cost"] is not None]
    return {
        "set": name,
        "side": side,
        "photos": len(run.arrays["truth"]),
        "null_scale": run.facts["null_scale"],
        "best": max(by_key.values(), key=lambda row: float(row["f"])),
        "by_cost": min(priced, key=lambda row: row["cost"]) if priced else None,
        **{key: by_key[key] for key in NAMED},
        "rows": rows,
    }


def _pair_scores(run: Run) -> dict[str, float]:
    from samecam.metrics import scores

    got = scores(run.arrays["truth"], run.arrays["labels"])
    return {"f": got.f, "precision": got.precision, "recall": got.recall}


def _score_recycling(
    study: Study, context: Context, name: str, preset: Preset, runs: list[dict[str, Any]]
) -> dict[str, Any]:
    from samecam.cluster import choose_k_and_recycling
    from samecam.metrics import scores

    neighbours = _neighbours(context)
    measured = np.empty((2, len(neighbours), ROUNDS + 1, context.runs))
    for place, k in enumerate(neighbours):
        for seed in range(context.runs):
            run = study.load(f"recycling/{name}-{preset}/K={k}/{seed}")
            got = [scores(run.arrays["truth"], labels) for labels in run.arrays["labels"]]
            measured[0, place, :, seed] = [one.precision for one in got]
            measured[1, place, :, seed] = [one.ld_over_lg for one in got]
            scored = {"precision": measured[0, place, :, seed].round(5).tolist(),
                    "ld_over_lg": measured[1, place, :, seed].round(5).tolist()}  # fmt: skip
            runs.append({"part": "recycling", "set": name, **run.facts, **scored})
    mean, spread = measured.mean(axis=3), measured.std(axis=3, ddof=1)
    k, rounds = choose_k_and_recycling(neighbours, mean[0], mean[1])
    rows = [
        {
            "K": value,
            "rounds": r,
            "precision": mean[0, place, r],
            "precision_spread": spread[0, place, r],
            "ld_over_lg": mean[1, place, r],
            "ld_over_lg_spread": spread[1, place, r],
        }
        for place, value in enumerate(neighbours)
        for r in range(ROUNDS + 1)
    ]
    sizes = np.unique(run.arrays["truth"], return_counts=True)[1]
    about = {"photos": int(sizes.sum()), "cameras": len(sizes), "runs": context.runs}
    return {
        "set": name,
        "preset": preset,
        **about,
        "chosen": {"K": k, "rounds": rounds},
        "rows": rows,
    }


def _plot(result: Result) -> "Figure":
    from samecam.experiments._hyper_plot import plot

    return plot(result)


EXPERIMENT = Experiment(
    "hyperparameters",
    "Figure and text: η, γ for each size, K and the rounds of recycling",
    _run,
    _score,
    _plot,
    ABOUT,
    tell,
    takes_data=True,
)
