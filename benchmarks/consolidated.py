"""The consolidated method on simulated Grams and on real photographs: F, P, R, seconds.

python -m benchmarks.consolidated [--shared DIR] [--quick]
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.record import write
from samecam import correlate
from samecam.cluster import ConsolidatedSSC
from samecam.fingerprint import fingerprint
from samecam.metrics import scores
from samecam.photos import exposure
from samecam.simulate import gram

JOIN_RATES = (0.02, 0.01, 0.001)
ROWS = []


def measure(name, G, truth, n_pixels, *, weak=None, judged=None, **options):
    """Group, and score on the photos `judged`."""
    began = time.perf_counter()
    method = ConsolidatedSSC(metric="precomputed", n_pixels=n_pixels, **options).fit(G, weak=weak)
    seconds = time.perf_counter() - began
    judged = slice(None) if judged is None else judged
    score = scores(truth[judged], method.labels_[judged])
    row = {
        "set": name,
        "images": len(G),
        "join_rate": method.join_rate,
        "F": score.f,
        "P": score.precision,
        "R": score.recall,
        "clusters": method.n_clusters_,
        "cameras": score.n_cameras,
        "unclustered": score.n_unclustered,
        "null_scale": method.null_scale_,
        "seconds": seconds,
        "solver_seconds": method.report_.seconds,
    }
    ROWS.append(row)
    print(
        f"{name:40} {row['join_rate']:<6} F {score.f:.3f} P {score.precision:.3f} "
        f"R {score.recall:.3f} {method.n_clusters_:4}/{score.n_cameras:<4} "
        f"{score.n_unclustered:5} {seconds:6.1f} s",
        flush=True,
    )
    return score


def simulated(quick):
    sets = [(60, 10, 50, m) for m in (0.01, 0.03)] + [(120, 5, 15, m) for m in (0.01, 0.03)]
    for count, low, high, mean in sets:
        for seed in range(3):
            sizes = np.random.default_rng(seed).integers(low, high + 1, count).tolist()
            for rate in JOIN_RATES:
                name = f"{count} × {low}–{high}, m = {mean}, seed {seed}"
                measure(name, *gram(sizes, mean, seed=seed), 512**2, join_rate=rate)
    for seed in range(5):
        measure(f"noise, 2000, seed {seed}", *gram([1] * 2000, 0.01, seed=seed), 512**2)
    strangers = gram([50] * 20 + [1] * 50, 0.02, seed=0)
    measure("20 × 50 and 50 strangers", *strangers, 512**2)
    if quick:
        return
    for mean in (0.01, 0.02, 0.03):
        sizes = np.random.default_rng(0).integers(10, 51, 400).tolist()
        measure(f"400 × 10–50, m = {mean}", *gram(sizes, mean), 512**2)
    sizes = np.random.default_rng(0).integers(83, 341, 74).tolist()
    measure("74 × 83–340, m = 0.02", *gram(sizes, 0.02), 512**2)


def real(folder):
    """All files go in; scored are those whose 512×512 corner is at most 30 % saturated."""
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        truth = [(row["path"], row["camera"]) for row in csv.DictReader(stream)]
    pictures = [np.asarray(Image.open(folder / path)) for path, _ in truth]
    cameras = np.array([camera for _, camera in truth])
    judged = np.array([exposure(p[:512, :512]).saturated <= 0.3 for p in pictures])
    for size in (512, 1024):
        crops = [p[:size, :size] for p in pictures]
        status = np.array([exposure(p).status for p in crops])
        for preset in ("default", "paper"):
            real_set(size, preset, crops, status, cameras, judged)


def real_set(size, preset, crops, status, cameras, judged):
    used = np.flatnonzero(status != "unusable")
    X = np.stack([fingerprint(crops[i], preset=preset) for i in used])
    G = correlate.gram(X)
    weak, known, cams = status[used] == "weak", judged[used], cameras[used]
    name = f"photographs, {size}², {preset}"
    for rate in JOIN_RATES:
        measure(name, G, cams, size**2, weak=weak, judged=known, join_rate=rate)
    measure(f"{name}, none weak", G, cams, size**2, judged=known)
    dark = weak | np.array([exposure(crops[i]).is_dark for i in used])
    measure(f"{name}, dark found none", G, cams, size**2, weak=dark, judged=known)
    for draw in range(10):
        for what, rows in (
            ("8 each", some_of_each(cams, known, draw)),
            ("half", np.sort(np.random.default_rng(draw).permutation(len(cams))[: len(cams) // 2])),
        ):
            measure(
                f"{name}, {what}, {draw}",
                np.ascontiguousarray(G[np.ix_(rows, rows)]),
                cams[rows],
                size**2,
                weak=weak[rows],
                judged=known[rows],
            )


def some_of_each(cams, known, seed, many=8):
    rng = np.random.default_rng(seed)
    names = sorted(set(cams[known].tolist()))
    return np.sort(
        np.concatenate([rng.permutation(np.flatnonzero(known & (cams == c)))[:many] for c in names])
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, help="folder with photos/")
    parser.add_argument("--quick", action="store_true", help="leave out the large sets")
    options = parser.parse_args()
    if options.shared:
        real(options.shared / "photos")
    simulated(options.quick)
    write("consolidated", ROWS, quick=options.quick, photographs=options.shared is not None)


if __name__ == "__main__":
    main()
