"""Published rivals beside our methods: real photographs, sets shaped like a published table, speed.

Every rival with its published settings and, where its threshold assumes a scale of chance, with
the scale measured from the data. With --only the other parts' rows are kept as they stand.

python -m benchmarks.rivals [--shared DIR] [--only real|table|twins|speed] [--seeds N]
"""

import argparse
import csv
import json
import time
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
from PIL import Image
from threadpoolctl import threadpool_limits

from benchmarks.record import RESULTS, write
from samecam import correlate
from samecam.cluster import SSC, SSCNC, ConsolidatedSSC
from samecam.cluster.rivals import RIVALS, NCuts
from samecam.datasets import twin
from samecam.fingerprint import fingerprint
from samecam.metrics import scores
from samecam.photos import exposure
from samecam.simulate import gram

OURS = {"consolidated": ConsolidatedSSC, "ssc-nc": SSCNC, "ssc": SSC}
RANDOM = ("msc", "lin-ls", "ccc", "mrf", "bloy")
# As published and, where chance matters, with the measured scale; then variants worth seeing.
VARIANTS = [(name, {}) for name in OURS]
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
ROWS = []


def fit(name, options, data, **common):
    method = (OURS | RIVALS)[name](**options, **common)
    began = time.perf_counter()
    method.fit(data)
    return method, time.perf_counter() - began


def measure(part, collection, name, options, collections, **common):
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
    ROWS.append(row)
    words = ", ".join(f"{k}={v}" for k, v in options.items())
    print(
        f"{collection:24} {name:16} {words:24} F {row['F']:.3f} P {row['P']:.3f} R {row['R']:.3f} "
        f"{row['clusters']:6.1f}/{row['cameras']:<3} {row['unclustered']:6.1f} alone "
        f"{row['seconds']:6.2f} s",
        flush=True,
    )
    return row


def photographs(folder):
    """Pixels and cameras of the photographs whose 512² corner is at most 30 % saturated."""
    kept = []
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            with Image.open(folder / line["path"]) as image:
                pixels = np.asarray(image.crop((0, 0, 1024, 1024)))
            if exposure(pixels[:512, :512]).saturated <= 0.3:
                kept.append((pixels, line["camera"]))
    return [pixels for pixels, _ in kept], [camera for _, camera in kept]


def real(folder, seeds):
    pictures, cameras = photographs(folder)
    for size in (512, 1024):
        for preset in ("paper", "default"):
            X = np.stack([fingerprint(p[:size, :size], preset=preset) for p in pictures])
            G = correlate.gram(X)
            name = f"photographs, {size}², {preset}"
            for null in ("published", "measured"):
                options = {"null": null, "metric": "correlation"}
                measure("real", name, "lin-ls", options, [(X, cameras, 0)])
            del X
            common = {"metric": "precomputed", "n_pixels": size * size}
            for method, options in VARIANTS:
                count = seeds if method in RANDOM else 1
                runs = [(G, cameras, seed) for seed in range(count)]
                measure("real", name, method, options, runs, **common)
            tuned(name, G, cameras, common)


def tuned(name, G, cameras, common):
    """NCuts with the threshold that only the truth can tell, as its authors chose theirs."""
    grid = [k / 2000 for k in range(1, 21)] + [k / 1000 for k in range(12, 71, 4)]
    found = {t: scores(cameras, NCuts(threshold=t, **common).fit(G).labels_).f for t in grid}
    best = max(found, key=found.get)
    measure("real", name, "ncuts", {"threshold": best}, [(G, cameras, 0)], **common)
    ROWS[-1]["tuned_on_truth"] = True


def table(seeds):
    """Simulated collections of the published table's shapes, one row per method and shape."""
    common = {"metric": "precomputed", "n_pixels": 512**2}
    for at, (name, (sizes, mean)) in enumerate(TABLE.items()):
        drawn = [(*gram(sizes, mean, seed=seed), seed) for seed in range(seeds)]
        for method, options in VARIANTS:
            row = measure("table", f"{name}, m = {mean}", method, options, drawn, **common)
            if method in PUBLISHED and not options.get("null"):
                row["published_F"] = PUBLISHED[method][at]


def on_twins(seeds):
    """The fixed twins of the published table, each method with its published settings."""
    for at in range(4):
        found = twin(f"phan-D{at + 1}")
        drawn = [(*replace(found, seed=found.seed + k).gram(), k) for k in range(seeds)]
        common = {"metric": "precomputed", "n_pixels": found.n_pixels}
        for method in (*OURS, *RIVALS):
            row = measure("twins", f"twin of D{at + 1}", method, {}, drawn, **common)
            if method in PUBLISHED:
                row["published_F"] = PUBLISHED[method][at]


def speed():
    rng = np.random.default_rng(0)
    sizes = rng.multinomial(2000 - 66 * 10, [1 / 66] * 66) + 10
    drawn, noise = gram(sizes.tolist(), 0.02), gram([1] * 2000)
    common = {"metric": "precomputed", "n_pixels": 512**2}
    for method, options in VARIANTS:
        fit(method, options, gram([5] * 4, 0.1).gram, **common)  # compiles
        measure("speed", "66 cameras, m = 0.02", method, options, [(*drawn, 0)], **common)
    for method in RIVALS:
        measure("speed", "noise", method, {}, [(*noise, 0)], **common)


def kept_rows():
    """Rows of the parts that were not measured this time."""
    path = RESULTS / "rivals.json"
    measured = {row["part"] for row in ROWS}
    rows = json.loads(path.read_text())["result"] if path.exists() else []
    return [row for row in rows if row["part"] not in measured]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, help="folder with photos/")
    parser.add_argument("--only", choices=["real", "table", "twins", "speed"])
    parser.add_argument("--seeds", type=int, default=5, help="runs of methods with chance in them")
    options = parser.parse_args()
    threadpool_limits(1)
    fit("hierarchical", {}, gram([5] * 4, 0.1).gram, metric="precomputed", n_pixels=512**2)
    if options.only in (None, "real") and options.shared:
        real(options.shared / "photos", options.seeds)
    if options.only in (None, "table"):
        table(3)
    if options.only in (None, "twins"):
        on_twins(3)
    if options.only in (None, "speed"):
        speed()
    write("rivals", kept_rows() + ROWS, seeds=options.seeds, blas_threads=1)


if __name__ == "__main__":
    main()
