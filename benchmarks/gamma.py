"""Ways to choose γ for SSC-NC: the null scale, the cost of Phan 2017, 1/√d, as published.

python -m benchmarks.gamma [--shared DIR] [--seeds N]
"""

import argparse
import csv
import time
from pathlib import Path
from statistics import fmean

import numpy as np
from PIL import Image
from threadpoolctl import threadpool_limits

from benchmarks.record import write
from samecam.cluster import SSCNC
from samecam.correlate import gram as correlations
from samecam.fingerprint import fingerprint
from samecam.metrics import scores
from samecam.photos import exposure
from samecam.simulate import gram

SIDE = 512
N_PIXELS = SIDE * SIDE
RULES = {"auto": "auto", "cost": "cost", "1/√d": 1 / SIDE, "paper": "paper"}
SETS = {"20 × 10–50": (20, 10, 50), "10 × 40": (10, 40, 40), "40 × 5–15": (40, 5, 15)}
MEANS = (0.01, 0.03)


def simulated(shape, mean, seed):
    count, low, high = shape
    sizes = np.random.default_rng(seed).integers(low, high + 1, count)
    drawn = gram(sizes.tolist(), mean, n_pixels=N_PIXELS, seed=seed)
    return drawn.gram, drawn.labels


def photographs(folder, preset):
    """Correlations and cameras of the photographs whose corner is at most 30 % saturated."""
    rows, cameras = [], []
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            with Image.open(folder / line["path"]) as image:
                pixels = np.asarray(image.crop((0, 0, SIDE, SIDE)))
            if exposure(pixels).saturated <= 0.3:
                rows.append(fingerprint(pixels, preset=preset))
                cameras.append(line["camera"])
    return correlations(np.stack(rows)), cameras


def measure(matrix, truth, rule):
    began = time.perf_counter()
    fitted = SSCNC(gamma=RULES[rule], metric="precomputed", n_pixels=N_PIXELS).fit(matrix)
    seconds = time.perf_counter() - began
    found = scores(truth, fitted.labels_)
    return {
        "F": found.f,
        "P": found.precision,
        "R": found.recall,
        "clusters": found.n_clusters,
        "unclustered": found.n_unclustered,
        "gamma": fitted.gamma_,
        "null_scale": fitted.null_scale_,
        "seconds": seconds,
    }


def compare(name, collections):
    """One line a rule: means over `collections`, a list of (correlations, truth)."""
    rows = []
    for rule in RULES:
        runs = [measure(matrix, truth, rule) for matrix, truth in collections]
        mean = {key: fmean(run[key] for run in runs) for key in runs[0]}
        cameras = fmean(len(set(truth)) for _, truth in collections)
        images = fmean(len(truth) for _, truth in collections)
        rows.append({"set": name, "cameras": cameras, "images": images, "rule": rule} | mean)
        rows[-1]["runs"] = runs
        print(
            f"{name:<26} {rule:<6} {mean['F']:.3f} {mean['P']:.3f} {mean['R']:.3f} "
            f"{mean['clusters']:8.1f} {cameras:7.0f} {mean['unclustered']:6.1f} "
            f"{mean['gamma']:.5f} {mean['seconds']:7.2f}",
            flush=True,
        )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, help="folder with photos/")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    threadpool_limits(1)
    measure(*simulated((4, 10, 10), 0.03, 0), "auto")  # compiles
    print(
        f"{'set':<26} {'γ':<6} {'F':>5} {'P':>5} {'R':>5} {'clusters':>8} {'cameras':>7} "
        f"{'alone':>6} {'γ':>7} {'seconds':>7}"
    )
    rows = []
    for name, shape in SETS.items():
        for mean in MEANS:
            drawn = [simulated(shape, mean, seed) for seed in range(options.seeds)]
            rows += compare(f"{name}, m = {mean}", drawn)
    if options.shared:
        for preset in ("paper", "default"):
            rows += compare(
                f"photographs, {preset}", [photographs(options.shared / "photos", preset)]
            )
    write(
        "gamma",
        rows,
        seeds=options.seeds,
        side=SIDE,
        blas_threads=1,
        photographs=bool(options.shared),
    )


if __name__ == "__main__":
    main()
