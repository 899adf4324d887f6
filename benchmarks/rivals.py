"""Published rivals beside our methods: real photographs, sets shaped like a published table, speed.

Every rival with its published settings and, where its threshold assumes a scale of chance, with
the scale measured from the data. With --only the other parts' rows are kept as they stand.

python -m benchmarks.rivals [--shared DIR] [--only real|table|twins|speed] [--seeds N]
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import photographs
from benchmarks.record import RESULTS, folder_of, load, parser, timed, write
from samecam import correlate
from samecam.arrays import Gram
from samecam.cluster import SSC, SSCNC, ConsolidatedSSC
from samecam.cluster.rivals import RIVALS, NCuts
from samecam.datasets import twin
from samecam.fingerprint import Preset
from samecam.metrics import scores
from samecam.simulate import gram

OURS: dict[str, Any] = {"consolidated": ConsolidatedSSC, "ssc-nc": SSCNC, "ssc": SSC}
RANDOM = ("msc", "lin-ls", "ccc", "mrf", "bloy")
# As published and, where chance matters, with the measured scale; then variants worth seeing.
VARIANTS: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in OURS]
for rival, Method in RIVALS.items():
    VARIANTS.append((rival, {}))
    if "null" in Method().get_params():
        VARIANTS.append((rival, {"null": "measured"}))
VARIANTS += [
    ("ccc", {"tolerance": 0.005}),
    ("ncuts", {"threshold": 0.032}),
    ("hdbscan", {"min_cluster_size": 3}),
]
# Discovered / true clusters and F in the one published table of like with like (Phan 2017).
PUBLISHED = {
    "hierarchical": (0.75, 0.62, 0.82, 0.64),
    "msc": (0.98, 0.80, 0.92, 0.74),
    "ncuts": (0.99, 0.32, 0.98, 0.44),
    "mrf": (0.82, 0.81, 0.88, 0.50),
    "lin-ls": (0.93, 0.91, 0.97, 0.89),
    "ssc": (0.97, 0.91, 0.97, 0.90),
}
# Its collections: raw photographs of 3 cameras (D1, D3) and JPEG of 10 (D2, D4).
TABLE = {
    "D1": ([50] * 3, 0.05),
    "D2": ([100] * 10, 0.01),
    "D3": ([50, 75, 100], 0.05),
    "D4": ([40, 46, 53, 60, 66, 66, 73, 76, 80, 100], 0.01),
}
QUICK_TABLE = {"D1": ([12] * 3, 0.05)}
QUICK_VARIANTS = [("consolidated", {}), ("hierarchical", {}), ("ncuts", {"null": "measured"})]
SIDES, QUICK_SIDES = (512, 1024), (256,)
PRESETS: tuple[Preset, ...] = ("paper", "default")
GRID = tuple([k / 2000 for k in range(1, 21)] + [k / 1000 for k in range(12, 71, 4)])
# Correlations or fingerprints, cameras, and a seed.
Collections = Sequence[tuple[Any, Any, int]]
Row = dict[str, Any]


def fit(name: str, options: Mapping[str, Any], data: Any, **common: Any) -> tuple[Any, float]:
    """A fitted method, and its seconds."""
    method = (OURS | dict(RIVALS))[name](**options, **common)
    return method, timed(method.fit, data)[1]


def measure(
    part: str,
    collection: str,
    name: str,
    options: dict[str, Any],
    collections: Collections,
    **common: Any,
) -> Row:
    """One row: means over the collections, a list of (correlations, truth, seed)."""
    runs = []
    for data, truth, seed in collections:
        chance = "random_state" in (OURS | RIVALS)[name]().get_params()
        seeded = {"random_state": seed} if chance else {}
        method, seconds = fit(name, options, data, **seeded, **common)
        score = scores(truth, method.labels_)
        runs.append(
            {
                "F": score.f,
                "P": score.precision,
                "R": score.recall,
                "ARI": score.ari,
                "clusters": score.n_clusters,
                "unclustered": score.n_unclustered,
                "null_scale": method.null_scale_,
                "seconds": seconds,
            }
        )
    mean = {key: fmean(run[key] for run in runs) for key in runs[0]}
    row = {
        "part": part,
        "set": collection,
        "method": name,
        "options": options,
        "images": len(collections[0][1]),
        "cameras": len(set(collections[0][1])),
        "runs": len(runs),
        "F_least": min(run["F"] for run in runs),
        "F_most": max(run["F"] for run in runs),
    } | mean
    given = ", ".join(f"{k}={v}" for k, v in options.items())
    print(
        f"{collection:24} {name:16} {given:24} F {row['F']:.3f} P {row['P']:.3f} R {row['R']:.3f} "
        f"{row['clusters']:6.1f}/{row['cameras']:<3} {row['unclustered']:6.1f} alone "
        f"{row['seconds']:6.2f} s",
        flush=True,
    )
    return row


def real(folder: Path, seeds: int, quick: bool) -> list[Row]:
    sides = QUICK_SIDES if quick else SIDES
    shots = photographs.load_judged(folder, max(sides), min(sides))
    cameras = [photo.camera for photo in shots]
    rows = []
    for side in sides:
        for preset in PRESETS:
            X = photographs.fingerprints(shots, side, preset)
            G = correlate.gram(X)
            name = f"photographs, {side}², {preset}"
            for null in () if quick else ("published", "measured"):
                options = {"null": null, "metric": "correlation"}
                rows.append(measure("real", name, "lin-ls", options, [(X, cameras, 0)]))
            del X
            common = {"metric": "precomputed", "n_pixels": side * side}
            for method, given in QUICK_VARIANTS if quick else VARIANTS:
                count = seeds if method in RANDOM else 1
                runs = [(G, cameras, seed) for seed in range(count)]
                rows.append(measure("real", name, method, given, runs, **common))
            rows.append(tuned(name, G, cameras, common))
    return rows


def tuned(name: str, G: Gram, cameras: Sequence[str], common: dict[str, Any]) -> Row:
    """NCuts with the threshold that only the truth can tell, as its authors chose theirs."""
    F = {t: scores(cameras, NCuts(threshold=t, **common).fit(G).labels_).f for t in GRID}
    best = max(F, key=lambda threshold: F[threshold])
    row = measure("real", name, "ncuts", {"threshold": best}, [(G, cameras, 0)], **common)
    return {**row, "tuned_on_truth": True}


def table(seeds: int, quick: bool) -> list[Row]:
    """Simulated collections of the published table's shapes, one row per method and shape."""
    common = {"metric": "precomputed", "n_pixels": 512**2}
    rows = []
    for at, (name, (sizes, mean)) in enumerate((QUICK_TABLE if quick else TABLE).items()):
        drawn = [(*gram(sizes, mean, seed=seed), seed) for seed in range(seeds)]
        for method, options in QUICK_VARIANTS if quick else VARIANTS:
            row = measure("table", f"{name}, m = {mean}", method, options, drawn, **common)
            if method in PUBLISHED and not options.get("null"):
                row["published_F"] = PUBLISHED[method][at]
            rows.append(row)
    return rows


def on_twins(seeds: int, quick: bool) -> list[Row]:
    """The fixed twins of the published table, each method with its published settings."""
    rows = []
    for at in range(1 if quick else 4):
        model = twin(f"phan-D{at + 1}")
        drawn = [(*replace(model, seed=model.seed + k).gram(), k) for k in range(seeds)]
        common = {"metric": "precomputed", "n_pixels": model.n_pixels}
        for method in ("consolidated", "hierarchical") if quick else (*OURS, *RIVALS):
            row = measure("twins", f"twin of D{at + 1}", method, {}, drawn, **common)
            if method in PUBLISHED:
                row["published_F"] = PUBLISHED[method][at]
            rows.append(row)
    return rows


def speed(quick: bool) -> list[Row]:
    rng = np.random.default_rng(0)
    cameras, photos = (4, 60) if quick else (66, 2000)
    sizes = rng.multinomial(photos - cameras * 10, [1 / cameras] * cameras) + 10
    drawn, noise = gram(sizes.tolist(), 0.02), gram([1] * photos)
    common = {"metric": "precomputed", "n_pixels": 512**2}
    name, rows = f"{cameras} cameras, m = 0.02", []
    for method, options in QUICK_VARIANTS if quick else VARIANTS:
        fit(method, options, gram([5] * 4, 0.1).gram, **common)  # compiles
        rows.append(measure("speed", name, method, options, [(*drawn, 0)], **common))
    for method in ("hierarchical",) if quick else RIVALS:
        rows.append(measure("speed", "noise", method, {}, [(*noise, 0)], **common))
    return rows


def kept_rows(folder: Path, rows: Sequence[Row]) -> list[Row]:
    """Rows of the parts that were not measured this time."""
    measured = {row["part"] for row in rows}
    before = load("rivals", folder)["result"] if (folder / "rivals.json").exists() else []
    return [row for row in before if row["part"] not in measured]


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    asked.add_argument("--only", choices=["real", "table", "twins", "speed"])
    asked.add_argument("--seeds", type=int, default=5, help="runs of methods with chance in them")
    options = asked.parse_args(arguments)
    quick, draws, rows = options.quick, 1 if options.quick else 3, []
    with threadpool_limits(1):
        fit("hierarchical", {}, gram([5] * 4, 0.1).gram, metric="precomputed", n_pixels=512**2)
        if options.only in (None, "real") and options.shared:
            rows += real(options.shared / "photos", options.seeds, quick)
        if options.only in (None, "table"):
            rows += table(draws, quick)
        if options.only in (None, "twins"):
            rows += on_twins(draws, quick)
        if options.only in (None, "speed"):
            rows += speed(quick)
    folder = folder_of(options)
    rows = kept_rows(folder or RESULTS, rows) + rows
    write("rivals", rows, folder=folder, seeds=options.seeds, blas_threads=1)


if __name__ == "__main__":
    main()
