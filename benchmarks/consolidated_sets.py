"""Sets with a known truth on which `consolidated_study` tries its variants."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import photographs
from samecam import correlate
from samecam.arrays import Doubles, Gram, Labels, Rows
from samecam.cluster.consolidate import _steps
from samecam.cluster.consolidate._start import CANDIDATES, GAMMA
from samecam.fingerprint import Preset
from samecam.represent import represent
from samecam.simulate import SimulatedGram, gram
from samecam.simulate._gram import _strengths

Kinds = Sequence[tuple[int, Preset]]
KINDS: Kinds = ((512, "default"), (1024, "default"), (512, "paper"), (1024, "paper"))
QUICK_KINDS: Kinds = ((256, "default"),)
SEEDS = (100, 101, 102)
DRAWS = 10
TRIPOD = "canon eos6d"  # a series of one unmoving scene: content correlates more than sensors
SQUARE, FRAME = 512**2, 12_000_000
# Cameras, photos of each from … to …, mean correlation, pixels: squares, and whole frames of weak
# cameras.
SHAPES = tuple(
    (*shape, mean, pixels)
    for shape in ((60, 10, 50), (120, 5, 15))
    for mean, pixels in ((0.01, SQUARE), (0.03, SQUARE), (0.002, FRAME), (0.005, FRAME))
)
QUICK_SHAPES = ((6, 10, 15, 0.03, SQUARE), (12, 5, 8, 0.03, SQUARE))


@dataclass
class LabelledSet:
    """Correlations with a known truth; `family` is what is averaged over."""

    family: str
    gram: Gram
    truth: npt.NDArray[Any]
    n_pixels: int
    dark: Doubles | None = None
    saturated: Doubles | None = None

    def part(self, family: str, rows: Rows) -> "LabelledSet":
        """Some photos of it."""
        rows = np.sort(rows)
        G = np.ascontiguousarray(self.gram[np.ix_(rows, rows)])
        dark, saturated = (
            None if values is None else values[rows] for values in (self.dark, self.saturated)
        )
        return LabelledSet(family, G, self.truth[rows], self.n_pixels, dark, saturated)

    @cached_property
    def scale(self) -> float:
        return correlate.null_scale(self.gram, self.n_pixels)

    @cached_property
    def scales(self) -> Doubles:
        return correlate.photo_scales(self.gram, self.scale)

    @cached_property
    def start(self) -> Labels:
        solved = represent(self.gram, GAMMA * self.scale, candidates=CANDIDATES)
        return _steps.start_groups(solved.coefficients)


def whole_sets(folder: Path, kinds: Kinds) -> Iterator[LabelledSet]:
    """The photographs whose corner is at most 30 % saturated."""
    corner = min(side for side, _ in kinds)
    shots = photographs.load_judged(folder, max(side for side, _ in kinds), corner)
    cameras = np.array([short(photo.camera) for photo in shots])
    dark = np.array([photo.exposure.dark for photo in shots])
    saturated = np.array([photo.exposure.saturated for photo in shots])
    for side, preset in kinds:
        G = correlate.gram(photographs.fingerprints(shots, side, preset))
        name = f"photographs {side}² {preset}, whole"
        yield LabelledSet(name, G, cameras, side * side, dark, saturated)


def short(camera: str) -> str:
    """Maker, model and, where there are several, which of them."""
    words = camera.split("_")
    return " ".join(words[:2] + [w for w in words[2:] if w.startswith("dev")])


def parts_of(whole: LabelledSet, draws: int = DRAWS) -> Iterator[LabelledSet]:
    """Random halves and small subsets of a set of photographs."""
    names, base = np.unique(whole.truth), whole.family.split(",")[0]
    n = len(whole.truth)
    for draw in range(draws):
        rng = np.random.default_rng(1000 + draw)
        yield whole.part(f"{base}, half of the photos", rng.permutation(n)[: n // 2])
        some = rng.permutation(names)[: len(names) // 2]
        yield whole.part(f"{base}, half of the cameras", np.flatnonzero(np.isin(whole.truth, some)))
        for many in (8, 5):
            rows = [rng.permutation(np.flatnonzero(whole.truth == c))[:many] for c in names]
            yield whole.part(f"{base}, {many} a camera", np.concatenate(rows))
            if many == 8:
                rest = [part for c, part in zip(names, rows, strict=True) if c != TRIPOD]
                yield whole.part(f"{base}, without {TRIPOD}", np.concatenate(rest))
        others = rng.permutation(np.flatnonzero(whole.truth != TRIPOD))[: n // 2]
        yield whole.part(f"{base}, without {TRIPOD}", others)


def simulated(quick: bool) -> Iterator[LabelledSet]:
    for seed in SEEDS[:1] if quick else SEEDS:
        for count, low, high, mean, pixels in QUICK_SHAPES if quick else SHAPES:
            sizes = np.random.default_rng(seed).integers(low, high + 1, count).tolist()
            name = f"simulated {count} × {low}–{high}, m = {mean}"
            yield LabelledSet(name, *gram(sizes, mean, seed=seed, n_pixels=pixels), pixels)
        sizes = [20] * 3 + [1] * 10 if quick else [50] * 20 + [1] * 50
        name = "simulated 20 × 50 and 50 strangers"
        yield LabelledSet(name, *gram(sizes, 0.02, seed=seed), SQUARE)
        pairs = 2 if quick else 15
        for share in (0.1, 0.2, 0.3, 0.4):
            name = f"simulated {pairs} pairs of cameras that share {share:.0%}"
            yield LabelledSet(name, *related(seed, share, pairs), SQUARE)
        name = f"simulated {pairs} pairs of weak cameras that share 20%"
        yield LabelledSet(name, *related(seed, 0.2, pairs, 0.002, FRAME), FRAME)
        cameras = 3 if quick else 30
        name = f"simulated {cameras} cameras, two scenes each"
        yield LabelledSet(name, *scenes(seed, cameras), SQUARE)
    alone = 60 if quick else 600
    for seed in range(100, 101 if quick else 105):
        yield LabelledSet(f"noise, {alone}", *gram([1] * alone, 0.01, seed=seed), SQUARE)


def related(
    seed: int, share: float, pairs: int = 15, mean: float = 0.03, n_pixels: int = SQUARE
) -> SimulatedGram:
    """Cameras in pairs: photos of two show `share` of what photos of one do."""
    sizes = np.random.default_rng(seed).integers(10, 51, 2 * pairs).tolist()
    G, labels = gram(sizes, mean, seed=seed, n_pixels=n_pixels)
    _, strength = _strengths(sizes, mean, 0.4, 0.7, seed)
    twin = (labels[:, None] ^ 1) == labels
    more = (share * twin * np.outer(strength, strength)).astype(G.dtype)
    return SimulatedGram(G + more, labels)


def scenes(seed: int, cameras: int = 30, mean: float = 0.02) -> SimulatedGram:
    """Each half of a camera's photos shows one scene, four times as strong as the sensor."""
    G, labels = gram([24] * cameras, mean, seed=seed, camera_spread=0)
    rng = np.random.default_rng(seed)
    scene = 2 * labels + (rng.permuted(np.arange(len(labels))) % 2)
    look = rng.uniform(0.5, 1.5, len(labels))
    same = (scene[:, None] == scene) & ~np.eye(len(labels), dtype=bool)
    more = (4 * mean * same * np.outer(look, look)).astype(G.dtype)
    return SimulatedGram(G + more, labels)
