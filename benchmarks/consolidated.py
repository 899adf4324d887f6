"""The consolidated method on simulated Grams and on real photographs: F, P, R, seconds.

python -m benchmarks.consolidated [--shared DIR]
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import photographs
from benchmarks.record import folder_of, parser, timed, write
from samecam import correlate
from samecam.arrays import Floats, Gram, Mask, Rows
from samecam.cluster import ConsolidatedSSC
from samecam.fingerprint import Preset
from samecam.metrics import scores
from samecam.photos import Exposure, exposure, frame_exposure
from samecam.simulate import gram

JOIN_RATES = (0.02, 0.01, 0.001)
SIDES, QUICK_SIDES = (512, 1024), (256,)
DRAWS = 10
# Cameras, photos of each from … to …, mean correlation.
SETS = tuple((*shape, mean) for shape in ((60, 10, 50), (120, 5, 15)) for mean in (0.01, 0.03))
QUICK_SETS = ((6, 10, 20, 0.03),)
PRESETS: tuple[Preset, ...] = ("default", "paper")
Truth = npt.NDArray[Any]


class Measurements:
    """Rows of the result; each is shown as it is measured."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(
        self,
        name: str,
        G: Gram,
        truth: Truth,
        n_pixels: int,
        *,
        weak: Mask | None = None,
        judged: Mask | None = None,
        join_rate: float = 0.01,
    ) -> None:
        """Group, and score on the photos `judged`."""
        method = ConsolidatedSSC(metric="precomputed", n_pixels=n_pixels, join_rate=join_rate)
        _, seconds = timed(method.fit, G, weak=weak)
        some = slice(None) if judged is None else judged
        score = scores(truth[some], method.labels_[some])
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
        self.rows.append(row)
        print(
            f"{name:40} {row['join_rate']:<6} F {score.f:.3f} P {score.precision:.3f} "
            f"R {score.recall:.3f} {method.n_clusters_:4}/{score.n_cameras:<4} "
            f"{score.n_unclustered:5} {seconds:6.1f} s",
            flush=True,
        )


def simulated(into: Measurements, quick: bool) -> None:
    seeds, alone = (1, 100) if quick else (3, 2000)
    for count, low, high, mean in QUICK_SETS if quick else SETS:
        for seed in range(seeds):
            sizes = np.random.default_rng(seed).integers(low, high + 1, count).tolist()
            for rate in JOIN_RATES:
                name = f"{count} × {low}–{high}, m = {mean}, seed {seed}"
                into.add(name, *gram(sizes, mean, seed=seed), 512**2, join_rate=rate)
    for seed in range(1 if quick else 5):
        noise = gram([1] * alone, 0.01, seed=seed)
        into.add(f"noise, {alone}, seed {seed}", *noise, 512**2)
    if quick:
        return
    strangers = gram([50] * 20 + [1] * 50, 0.02, seed=0)
    into.add("20 × 50 and 50 strangers", *strangers, 512**2)
    for mean in (0.01, 0.02, 0.03):
        sizes = np.random.default_rng(0).integers(10, 51, 400).tolist()
        into.add(f"400 × 10–50, m = {mean}", *gram(sizes, mean), 512**2)
    sizes = np.random.default_rng(0).integers(83, 341, 74).tolist()
    into.add("74 × 83–340, m = 0.02", *gram(sizes, 0.02), 512**2)


def real(into: Measurements, folder: Path, sides: Sequence[int]) -> None:
    """All files go in; scored are those whose corner is at most 30 % saturated."""
    shots = photographs.load(folder, max(sides), min(sides))
    for side in sides:
        for preset in PRESETS:
            light = [exposure(photo.pixels[:side, :side]) for photo in shots]
            rows = partial(photographs.fingerprints, side=side, preset=preset)
            real_set(into, f"photographs, {side}², {preset}", shots, light, rows)
    light = [frame_exposure(photo.luma) for photo in shots]
    real_set(into, "photographs, whole frame", shots, light, photographs.whole_frames)


def real_set(
    into: Measurements,
    name: str,
    shots: list[photographs.Photograph],
    light: list[Exposure],
    rows_of: Callable[[list[photographs.Photograph]], Floats],
) -> None:
    used = [k for k, one in enumerate(light) if one.status != "unusable"]
    X = rows_of([shots[k] for k in used])
    G, d = correlate.gram(X), X.shape[1]
    weak = np.array([light[k].status == "weak" for k in used])
    known = np.array([shots[k].judged for k in used])
    cameras = np.array([shots[k].camera for k in used])
    for rate in JOIN_RATES:
        into.add(name, G, cameras, d, weak=weak, judged=known, join_rate=rate)
    into.add(f"{name}, none weak", G, cameras, d, judged=known)
    dark = weak | np.array([light[k].is_dark for k in used])
    into.add(f"{name}, dark found none", G, cameras, d, weak=dark, judged=known)
    for draw in range(DRAWS):
        half = np.random.default_rng(draw).permutation(len(cameras))[: len(cameras) // 2]
        for what, rows in (
            ("8 each", some_of_each(cameras, known, draw)),
            ("half", np.sort(half)),
        ):
            into.add(
                f"{name}, {what}, {draw}",
                np.ascontiguousarray(G[np.ix_(rows, rows)]),
                cameras[rows],
                d,
                weak=weak[rows],
                judged=known[rows],
            )


def some_of_each(cameras: Truth, known: Mask, seed: int, many: int = 8) -> Rows:
    rng = np.random.default_rng(seed)
    names = sorted(set(cameras[known].tolist()))
    rows = [rng.permutation(np.flatnonzero(known & (cameras == name)))[:many] for name in names]
    return np.sort(np.concatenate(rows))


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    options = asked.parse_args(arguments)
    measured = Measurements()
    if options.shared:
        real(measured, options.shared / "photos", QUICK_SIDES if options.quick else SIDES)
    simulated(measured, options.quick)
    write(
        "consolidated",
        measured.rows,
        folder=folder_of(options),
        quick=options.quick,
        photographs=options.shared is not None,
    )


if __name__ == "__main__":
    main()
