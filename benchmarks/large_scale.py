"""LS-SSC, the paper's preset and ours, on simulated Grams and on real photographs.

python -m benchmarks.large_scale [--shared DIR]
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from benchmarks import photographs
from benchmarks.record import folder_of, parser, timed, write
from samecam import correlate
from samecam.arrays import Gram
from samecam.cluster import LargeScaleSSC
from samecam.fingerprint import Preset
from samecam.metrics import scores
from samecam.simulate import gram

PRESETS: tuple[Literal["paper", "default"], ...] = ("paper", "default")
# Cameras, photos of each from … to …, mean correlation.
SETS = ((20, 10, 50, 0.01), (20, 10, 50, 0.03), (40, 5, 15, 0.02), (10, 40, 40, 0.01))
QUICK_SETS = ((4, 10, 20, 0.03),)
KINDS: tuple[tuple[int, Preset], ...] = ((512, "paper"), (512, "default"), (1024, "paper"))
QUICK_KINDS: tuple[tuple[int, Preset], ...] = ((256, "paper"),)
# Correlations, cameras, and the seed of the split.
Runs = Sequence[tuple[Gram, npt.NDArray[Any], int]]
Row = dict[str, Any]


def measure(name: str, runs: Runs, n_pixels: int, **options: int) -> list[Row]:
    """One row a preset: mean and spread of F over the runs."""
    rows = []
    for preset in PRESETS:
        score, clusters, seconds = [], [], []
        for G, truth, seed in runs:
            method = LargeScaleSSC(
                preset=preset,
                metric="precomputed",
                n_pixels=n_pixels,
                random_state=seed,
                n_batches=options.get("n_batches"),
                batch_size=options.get("batch_size"),
            )
            seconds.append(timed(method.fit, G)[1])
            score.append(scores(truth, method.labels_))
            clusters.append(method.n_clusters_)
        F = [one.f for one in score]
        row = {
            "set": name, "preset": preset, **options, "images": len(runs[0][0]), "runs": len(runs),
            "F": float(np.mean(F)), "F_sd": float(np.std(F)), "F_all": F,
            "P": float(np.mean([one.precision for one in score])),
            "R": float(np.mean([one.recall for one in score])),
            "clusters": float(np.mean(clusters)), "cameras": score[0].n_cameras,
            "unclustered": float(np.mean([one.n_unclustered for one in score])),
            "seconds": float(np.mean(seconds)),
        }  # fmt: skip
        rows.append(row)
        print(
            f"{name:38} {options} {preset:8} F {row['F']:.3f} ± {row['F_sd']:.3f} ({F[0]:.3f}) "
            f"P {row['P']:.3f} R {row['R']:.3f} {row['clusters']:5.1f}/{row['cameras']:<4} "
            f"{row['unclustered']:5.0f} {row['seconds']:5.1f} s",
            flush=True,
        )
    return rows


def simulated(quick: bool) -> list[Row]:
    rows = []
    for count, low, high, mean in QUICK_SETS if quick else SETS:
        drawn = []
        for seed in range(1 if quick else 3):
            sizes = np.random.default_rng(seed).integers(low, high + 1, count).tolist()
            drawn.append((*gram(sizes, mean, seed=seed), seed))
        rows += measure(f"{count} × {low}–{high}, m = {mean}", drawn, 512**2, n_batches=2)
    if quick:
        return rows
    strangers = [(*gram([50] * 20 + [1] * 50, 0.02, seed=seed), seed) for seed in range(2)]
    rows += measure("20 × 50 and 50 strangers", strangers, 512**2, n_batches=2)
    sizes = np.random.default_rng(0).integers(10, 51, 100).tolist()
    many = [(*gram(sizes, 0.02), 0)]
    return rows + measure("100 × 10–50, m = 0.02", many, 512**2, batch_size=1000)


def real(folder: Path, kinds: Sequence[tuple[int, Preset]]) -> list[Row]:
    corner = min(side for side, _ in kinds)
    shots = photographs.load_judged(folder, max(side for side, _ in kinds), corner)
    cameras = np.array([photo.camera for photo in shots])
    lit = np.flatnonzero([not photo.exposure.is_dark for photo in shots])
    rows = []
    for at, (side, preset) in enumerate(kinds):
        G = correlate.gram(photographs.fingerprints(shots, side, preset))
        d, name = side * side, f"photographs, {side}², {preset}"
        rows += measure(name, [(G, cameras, seed) for seed in range(5)], d, n_batches=2)
        if at > 0:
            continue
        rows += measure(name, [(G, cameras, seed) for seed in range(3)], d, n_batches=4)
        rows += measure(name, [(G, cameras, 0)], d, n_batches=1)
        few = [(G[np.ix_(lit, lit)], cameras[lit], seed) for seed in range(3)]
        rows += measure(f"{name}, no dark", few, d, n_batches=2)
        draws = []
        for draw in range(5):
            rng = np.random.default_rng(draw)
            names = sorted(set(cameras.tolist()))
            some = [rng.permutation(np.flatnonzero(cameras == c))[:8] for c in names]
            chosen = np.sort(np.concatenate(some))
            draws.append((G[np.ix_(chosen, chosen)], cameras[chosen], draw))
        rows += measure(f"{name}, 8 each", draws, d, n_batches=2)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    options = asked.parse_args(arguments)
    rows = []
    if options.shared:
        rows = real(options.shared / "photos", QUICK_KINDS if options.quick else KINDS)
    rows += simulated(options.quick)
    given = {"quick": options.quick, "photographs": options.shared is not None}
    write("large_scale", rows, folder=folder_of(options), **given)


if __name__ == "__main__":
    main()
