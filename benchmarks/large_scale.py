"""LS-SSC, the paper's preset and ours, on simulated Grams and on real photographs.

python -m benchmarks.large_scale [--shared DIR] [--quick]
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.record import write
from samecam import correlate
from samecam.cluster import LargeScaleSSC
from samecam.fingerprint import fingerprint
from samecam.metrics import scores
from samecam.photos import exposure
from samecam.simulate import gram

PRESETS = ("paper", "default")
ROWS = []


def measure(name, sets, n_pixels, **options):
    """One row: mean and spread of F over (Gram, truth, seed of the split)."""
    for preset in PRESETS:
        found, clusters, seconds = [], [], []
        for G, truth, seed in sets:
            began = time.perf_counter()
            method = LargeScaleSSC(
                preset=preset, metric="precomputed", n_pixels=n_pixels, random_state=seed, **options
            ).fit(G)
            seconds.append(time.perf_counter() - began)
            found.append(scores(truth, method.labels_))
            clusters.append(method.n_clusters_)
        F = [score.f for score in found]
        row = {
            "set": name, "preset": preset, **options, "images": len(sets[0][0]), "runs": len(sets),
            "F": float(np.mean(F)), "F_sd": float(np.std(F)), "F_all": F,
            "P": float(np.mean([score.precision for score in found])),
            "R": float(np.mean([score.recall for score in found])),
            "clusters": float(np.mean(clusters)), "cameras": found[0].n_cameras,
            "unclustered": float(np.mean([score.n_unclustered for score in found])),
            "seconds": float(np.mean(seconds)),
        }  # fmt: skip
        ROWS.append(row)
        print(
            f"{name:38} {options} {preset:8} F {row['F']:.3f} ± {row['F_sd']:.3f} ({F[0]:.3f}) "
            f"P {row['P']:.3f} R {row['R']:.3f} {row['clusters']:5.1f}/{row['cameras']:<4} "
            f"{row['unclustered']:5.0f} {row['seconds']:5.1f} s",
            flush=True,
        )


def simulated(quick):
    sets = [(20, 10, 50, 0.01), (20, 10, 50, 0.03), (40, 5, 15, 0.02), (10, 40, 40, 0.01)]
    for count, low, high, mean in sets:
        drawn = []
        for seed in range(3):
            sizes = np.random.default_rng(seed).integers(low, high + 1, count).tolist()
            drawn.append((*gram(sizes, mean, seed=seed), seed))
        measure(f"{count} × {low}–{high}, m = {mean}", drawn, 512**2, n_batches=2)
    strangers = [(*gram([50] * 20 + [1] * 50, 0.02, seed=seed), seed) for seed in range(2)]
    measure("20 × 50 and 50 strangers", strangers, 512**2, n_batches=2)
    if quick:
        return
    sizes = np.random.default_rng(0).integers(10, 51, 100).tolist()
    many = [(*gram(sizes, 0.02), 0)]
    measure("100 × 10–50, m = 0.02", many, 512**2, batch_size=1000)


def real(folder):
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        truth = [(row["path"], row["camera"]) for row in csv.DictReader(stream)]
    vectors = {(512, "paper"): [], (512, "default"): [], (1024, "paper"): []}
    cameras, dark = [], []
    for path, camera in truth:
        with Image.open(folder / path) as image:
            pixels = np.asarray(image.crop((0, 0, 1024, 1024)))
        light = exposure(pixels[:512, :512])
        if light.saturated <= 0.3:
            cameras.append(camera)
            dark.append(light.is_dark)
            for size, preset in vectors:
                row = fingerprint(pixels[:size, :size], preset=preset)
                vectors[size, preset].append(row)
    cameras, lit = np.array(cameras), np.flatnonzero(~np.array(dark))
    for (size, preset), rows in vectors.items():
        G, d, name = correlate.gram(np.stack(rows)), size * size, f"photographs, {size}², {preset}"
        measure(name, [(G, cameras, seed) for seed in range(5)], d, n_batches=2)
        if (size, preset) != (512, "paper"):
            continue
        measure(name, [(G, cameras, seed) for seed in range(3)], d, n_batches=4)
        measure(name, [(G, cameras, 0)], d, n_batches=1)
        few = [(G[np.ix_(lit, lit)], cameras[lit], seed) for seed in range(3)]
        measure(f"{name}, no dark", few, d, n_batches=2)
        draws = []
        for draw in range(5):
            rng = np.random.default_rng(draw)
            names = sorted(set(cameras.tolist()))
            some = [rng.permutation(np.flatnonzero(cameras == c))[:8] for c in names]
            chosen = np.sort(np.concatenate(some))
            draws.append((G[np.ix_(chosen, chosen)], cameras[chosen], draw))
        measure(f"{name}, 8 each", draws, d, n_batches=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, help="folder with photos/")
    parser.add_argument("--quick", action="store_true", help="leave out the large set")
    options = parser.parse_args()
    if options.shared:
        real(options.shared / "photos")
    simulated(options.quick)
    write("large_scale", ROWS, quick=options.quick, photographs=options.shared is not None)


if __name__ == "__main__":
    main()
