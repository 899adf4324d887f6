"""The consolidated method on simulated Grams and on real photographs: F, P, R, seconds.

python -m benchmarks.consolidated [--shared DIR]

Whole frames are the default of `samecam cluster`, squares what it does with --size.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks import photographs
from benchmarks.record import folder_of, parser, timed, write
from samecam import correlate
from samecam.arrays import Doubles, Gram, Mask, Rows
from samecam.cluster import ConsolidatedSSC
from samecam.fingerprint import Preset
from samecam.metrics import scores
from samecam.photos import exposure
from samecam.simulate import gram

JOIN_RATES = (0.02, 0.01, 0.001)
SIDES, QUICK_SIDES = (512, 1024), (256,)
DRAWS = 10
SQUARE, FRAME = 512**2, 12_000_000
# Cameras, photos of each from … to …, mean correlation, pixels: squares, and whole frames of weak
# cameras.
SETS = tuple(
    (*shape, mean, pixels)
    for shape in ((60, 10, 50), (120, 5, 15))
    for mean, pixels in ((0.01, SQUARE), (0.03, SQUARE), (0.002, FRAME), (0.005, FRAME))
)
QUICK_SETS = ((6, 10, 20, 0.03, SQUARE),)
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
        colour: Doubles | None = None,
        judged: Mask | None = None,
        join_rate: float = 0.01,
    ) -> None:
        """Group, and score on the photos `judged`."""
        method = ConsolidatedSSC(metric="precomputed", n_pixels=n_pixels, join_rate=join_rate)
        _, seconds = timed(method.fit, G, weak=weak, colour=colour)
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
    for count, low, high, mean, pixels in QUICK_SETS if quick else SETS:
        for seed in range(seeds):
            sizes = np.random.default_rng(seed).integers(low, high + 1, count).tolist()
            G = gram(sizes, mean, seed=seed, n_pixels=pixels)
            for rate in JOIN_RATES:
                name = f"{count} × {low}–{high}, m = {mean}, seed {seed}"
                into.add(name, *G, pixels, join_rate=rate)
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


class Photos(NamedTuple):
    """Photographs that are used: correlations of n_pixels, cameras, and what is known of each."""

    gram: Gram
    n_pixels: int
    cameras: Truth
    judged: Mask
    weak: Mask
    dark: Mask
    colour: Doubles | None = None

    def some(self, rows: Rows) -> "Photos":
        """Some of them."""
        return Photos(
            np.ascontiguousarray(self.gram[np.ix_(rows, rows)]),
            self.n_pixels,
            self.cameras[rows],
            self.judged[rows],
            self.weak[rows],
            self.dark[rows],
            None if self.colour is None else self.colour[rows],
        )


def real(into: Measurements, folder: Path, sides: Sequence[int]) -> None:
    """All files go in; scored are those whose corner is at most 30 % saturated."""
    shots = photographs.load(folder, max(sides), min(sides))
    real_set(into, "photographs, whole frame", frames(shots))
    for side in sides:
        for preset in PRESETS:
            real_set(into, f"photographs, {side}², {preset}", squares(shots, side, preset))


def frames(shots: list[photographs.Photograph]) -> Photos:
    """Whole frames, as they are by default."""
    made = photographs.whole_frames(shots)
    G, d = correlate.gram(made.rows), made.rows.n_pixels
    return Photos(G, d, *known([shots[k] for k in made.used]), made.weak, made.dark, made.colours)


def squares(shots: list[photographs.Photograph], side: int, preset: Preset) -> Photos:
    light = [exposure(photo.pixels[:side, :side]) for photo in shots]
    used = [k for k, one in enumerate(light) if one.status != "unusable"]
    some = [shots[k] for k in used]
    G = correlate.gram(photographs.fingerprints(some, side, preset))
    weak = np.array([light[k].status == "weak" for k in used])
    dark = np.array([light[k].is_dark for k in used])
    return Photos(G, side * side, *known(some), weak, dark)


def known(shots: list[photographs.Photograph]) -> tuple[Truth, Mask]:
    """Cameras, and which photographs are scored."""
    return np.array([shot.camera for shot in shots]), np.array([shot.judged for shot in shots])


def real_set(into: Measurements, name: str, photos: Photos) -> None:
    """The photographs of a kind, whole and in part."""

    def add(name: str, some: Photos, weak: Mask | None = None, join_rate: float = 0.01) -> None:
        into.add(
            name,
            some.gram,
            some.cameras,
            some.n_pixels,
            weak=some.weak if weak is None else weak,
            colour=some.colour,
            judged=some.judged,
            join_rate=join_rate,
        )

    for rate in JOIN_RATES:
        add(name, photos, join_rate=rate)
    add(f"{name}, none weak", photos, np.zeros_like(photos.weak))
    add(f"{name}, dark found none", photos, photos.weak | photos.dark)
    for draw in range(DRAWS):
        count = len(photos.cameras)
        half = np.random.default_rng(draw).permutation(count)[: count // 2]
        eight = some_of_each(photos.cameras, photos.judged, draw)
        add(f"{name}, 8 each, {draw}", photos.some(eight))
        add(f"{name}, half, {draw}", photos.some(np.sort(half)))


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
