"""Ways to choose γ for SSC-NC: the null scale, the cost of Phan 2017, 1/√d, as published.

python -m benchmarks.gamma [--shared DIR] [--seeds N]
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import photographs
from benchmarks.record import folder_of, parser, timed, write
from samecam import correlate
from samecam.arrays import Gram
from samecam.cluster import SSCNC
from samecam.fingerprint import Preset
from samecam.metrics import scores
from samecam.simulate import gram

SIDE, QUICK_SIDE = 512, 256
SETS = {"20 × 10–50": (20, 10, 50), "10 × 40": (10, 40, 40), "40 × 5–15": (40, 5, 15)}
QUICK_SETS = {"3 × 10": (3, 10, 10)}
MEANS = (0.01, 0.03)
PRESETS: tuple[Preset, ...] = ("paper", "default")
Collections = Sequence[tuple[Gram, Sequence[Any]]]


def rules(side: int) -> dict[str, Any]:
    """Names of the rules, and the γ that SSC-NC is given."""
    return {"auto": "auto", "cost": "cost", "1/√d": 1 / side, "paper": "paper"}


def simulated(shape: tuple[int, int, int], mean: float, seed: int) -> tuple[Gram, list[int]]:
    count, low, high = shape
    sizes = np.random.default_rng(seed).integers(low, high + 1, count)
    drawn = gram(sizes.tolist(), mean, n_pixels=SIDE**2, seed=seed)
    return drawn.gram, drawn.labels.tolist()


def measure(matrix: Gram, truth: Sequence[Any], gamma: Any, side: int) -> dict[str, float]:
    method = SSCNC(gamma=gamma, metric="precomputed", n_pixels=side**2)
    _, seconds = timed(method.fit, matrix)
    score = scores(truth, method.labels_)
    return {
        "F": score.f,
        "P": score.precision,
        "R": score.recall,
        "clusters": score.n_clusters,
        "unclustered": score.n_unclustered,
        "gamma": method.gamma_,
        "null_scale": method.null_scale_,
        "seconds": seconds,
    }


def compare(name: str, collections: Collections, side: int) -> list[dict[str, Any]]:
    """One line a rule: means over `collections`, a list of (correlations, truth)."""
    rows = []
    for rule, gamma in rules(side).items():
        runs = [measure(matrix, truth, gamma, side) for matrix, truth in collections]
        mean = {key: fmean(run[key] for run in runs) for key in runs[0]}
        cameras = fmean(len(set(truth)) for _, truth in collections)
        images = fmean(len(truth) for _, truth in collections)
        row = {"set": name, "cameras": cameras, "images": images, "rule": rule}
        rows.append({**row, **mean, "runs": runs})
        print(
            f"{name:<26} {rule:<6} {mean['F']:.3f} {mean['P']:.3f} {mean['R']:.3f} "
            f"{mean['clusters']:8.1f} {cameras:7.0f} {mean['unclustered']:6.1f} "
            f"{mean['gamma']:.5f} {mean['seconds']:7.2f}",
            flush=True,
        )
    return rows


def real(folder: Path, side: int) -> list[dict[str, Any]]:
    shots = photographs.load_judged(folder, side, side)
    cameras = [photo.camera for photo in shots]
    rows = []
    for preset in PRESETS:
        matrix = correlate.gram(photographs.fingerprints(shots, side, preset))
        rows += compare(f"photographs, {preset}", [(matrix, cameras)], side)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    asked.add_argument("--seeds", type=int, default=3)
    options = asked.parse_args(arguments)
    side, sets = (QUICK_SIDE, QUICK_SETS) if options.quick else (SIDE, SETS)
    with threadpool_limits(1):
        measure(*simulated((4, 10, 10), 0.03, 0), "auto", SIDE)  # compiles
        print(
            f"{'set':<26} {'γ':<6} {'F':>5} {'P':>5} {'R':>5} {'clusters':>8} {'cameras':>7} "
            f"{'alone':>6} {'γ':>7} {'seconds':>7}"
        )
        rows = []
        for name, shape in sets.items():
            for mean in MEANS:
                drawn = [simulated(shape, mean, seed) for seed in range(options.seeds)]
                rows += compare(f"{name}, m = {mean}", drawn, SIDE)
        if options.shared:
            rows += real(options.shared / "photos", side)
    write(
        "gamma",
        rows,
        folder=folder_of(options),
        seeds=options.seeds,
        side=side,
        blas_threads=1,
        photographs=bool(options.shared),
    )


if __name__ == "__main__":
    main()
