"""Claimed false-link rates against counted ones, on simulated sets and real photographs.

python -m benchmarks.calibration [--shared DIR]

Groups are those the consolidated method finds; the law of chance is measured on them and
on nothing else. Counted are comparisons of photographs with groups of other cameras, by
photographs that the law was *not* measured on: strangers in simulated sets, and in turn
every camera's photos in the real set, with the law measured without that camera. Of the real
photographs whole frames are what `samecam cluster` compares, squares what it does with --size.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from benchmarks import photographs
from benchmarks.record import folder_of, parser, write
from samecam import correlate, evidence
from samecam.arrays import Doubles, Gram, Labels, Mask, Pixels, Rows
from samecam.cluster import ConsolidatedSSC
from samecam.correlate import usual_scale
from samecam.fingerprint import Preset
from samecam.photos import low_pass
from samecam.simulate import fingerprints, gram

LAWS = ("stated", "fitted", "normal", "sums")
CLAIMS = tuple(10 ** (-k / 2) for k in range(2, 9))
PICTURE = Path(__file__).parent.parent / "docs" / "img" / "calibration.png"
KINDS: tuple[tuple[int, Preset], ...] = ((512, "default"), (1024, "default"), (512, "paper"))
QUICK_KINDS: tuple[tuple[int, Preset], ...] = ((256, "default"), (256, "paper"))


class Sizes(NamedTuple):
    """Of a simulated set: draws, cameras, photos of strangers."""

    draws: int = 6
    cameras: int = 80
    strangers: int = 1500

    def photos(self, rng: np.random.Generator) -> list[int]:
        """Photos of each camera, 20 to 60, and of each stranger."""
        many: list[int] = rng.integers(20, 61, self.cameras).tolist()
        return many + [1] * self.strangers


QUICK = Sizes(1, 6, 60)


def interval(count: int, total: int) -> tuple[float, float]:
    """Clopper–Pearson, 95 %."""
    low = stats.beta.ppf(0.025, count, total - count + 1) if count else 0.0
    high = stats.beta.ppf(0.975, count + 1, total - count) if count < total else 1.0
    return float(low), float(high)


class Tally:
    """Comparisons with groups of other cameras, and how many were called a link."""

    def __init__(self, name: str) -> None:
        self.name, self.total, self.largest_floor = name, 0, 0.0
        self.counts = {law: dict.fromkeys(CLAIMS, 0) for law in LAWS}
        self.notes: list[tuple[float, ...]] = []

    def add(self, z: Doubles, crude: Doubles, null: evidence.Null) -> None:
        """z: in units of the measured group scales; crude: Σ g / (σ₀√n)."""
        self.total += z.size
        self.largest_floor = max(self.largest_floor, null.floor)
        stated = evidence.false_alarm(z, null)
        fitted = evidence.false_alarm(z, null, bound=False)
        for claim in CLAIMS:
            self.counts["stated"][claim] += int((stated <= claim).sum())
            self.counts["fitted"][claim] += int((fitted <= claim).sum())
            edge = stats.norm.isf(claim)
            self.counts["normal"][claim] += int((z >= edge).sum())
            self.counts["sums"][claim] += int((crude >= edge).sum())
        self.notes.append((null.comparisons, null.design_effect, null.shape, len(null.left_out)))

    def rows(self) -> list[dict[str, Any]]:
        rows = []
        for claim in CLAIMS:
            row: dict[str, Any] = {
                "set": self.name,
                "claimed": claim,
                "comparisons": self.total,
                "supported": bool(claim >= self.largest_floor),
            }
            for law, counts in self.counts.items():
                low, high = interval(counts[claim], self.total)
                row[law] = {
                    "count": counts[claim],
                    "rate": counts[claim] / self.total,
                    "low": low,
                    "high": high,
                }
            rows.append(row)
        return rows

    def show(self) -> None:
        n, effect, shape, left = np.mean(self.notes, axis=0)
        print(
            f"{self.name}: {self.total:,} counted; measured on {n:,.0f}, design effect "
            f"{effect:.2f}, shape {shape:+.2f}, pairs left out {left:.2f}, floor "
            f"{self.largest_floor:.1e}",
            flush=True,
        )
        for row in self.rows():
            cells = "  ".join(
                f"{law} {row[law]['rate']:.2e} [{row[law]['low']:.1e}, {row[law]['high']:.1e}]"
                for law in self.counts
            )
            print(f"   {row['claimed']:.1e}{'' if row['supported'] else ' (floor)':8} {cells}")


def groups_of(truth: Labels, labels: Labels) -> Labels:
    """The camera most members of each group are of."""
    return np.array([np.bincount(truth[labels == c]).argmax() for c in range(labels.max() + 1)])


def look(
    tally: Tally,
    G: Gram,
    truth: Labels,
    labels: Labels,
    judged: Mask,
    used: Mask,
    scale: float,
) -> None:
    """Measure on `used` rows, count on `judged` rows against groups of other cameras."""
    known = np.where(used, labels, -1)
    kept = np.unique(known[known >= 0])
    number = np.full(labels.max() + 2, -1)
    number[kept] = np.arange(len(kept))
    known = number[known]
    given = evidence.comparisons_from_gram(G, known)
    null = evidence.measured_null(given, null_scale=scale)
    z = given.array() / null.group_scale
    sums = np.stack([G[:, known == c].sum(axis=1) for c in range(given.n_groups)], axis=1)
    crude = sums / (scale * np.sqrt(given.sizes))
    other = judged[:, None] & (groups_of(truth, known)[None] != truth[:, None])
    tally.add(z[other], crude[other], null)


def simulated(sizes: Sizes) -> Iterator[Tally]:
    sets = (
        ("normal noise, m = .01", 0.01, 0.0),
        ("normal noise, m = .03", 0.03, 0.0),
        ("heavy tails, m = .03", 0.03, 0.35),
    )
    for name, mean, spread in sets:
        tally = Tally(f"simulated, {name}")
        for draw in range(sizes.draws):
            rng = np.random.default_rng(draw)
            G, truth = gram(sizes.photos(rng), mean, seed=draw)
            if spread:  # photos whose noise is louder than others'
                loud = np.exp(spread * rng.standard_normal(len(G))).astype(np.float32)
                G = np.where(truth[:, None] == truth[None], G, G * np.outer(loud, loud))
            count(tally, G, truth)
        yield tally
    for mean in (0.03, 0.1):
        tally = Tally(f"simulated fingerprints, 128², m = {mean:.2g}".replace("0.", "."))
        for draw in range(max(1, sizes.draws // 2)):
            photos = sizes.photos(np.random.default_rng(draw))
            X, truth = fingerprints(photos, mean, n_pixels=128**2, seed=draw)
            count(tally, correlate.gram(X), truth)
        yield tally


def count(tally: Tally, G: Gram, truth: Labels) -> None:
    """Cluster the photos of cameras with several, then judge the strangers."""
    stranger = np.bincount(truth)[truth] == 1
    rows = np.flatnonzero(~stranger)
    method = ConsolidatedSSC(metric="precomputed").fit(G[np.ix_(rows, rows)])
    labels = np.full(len(G), -1)
    labels[rows] = method.labels_
    look(tally, G, truth, labels, stranger, ~stranger, method.null_scale_)


class Kind(NamedTuple):
    """Fingerprints of the real photographs, and how they are grouped.

    Attributes
    ----------
    name : size, or "whole frame"
    preset : of the fingerprints
    used : which photographs have one
    gram : correlations
    n_pixels : of a fingerprint
    known : what `fit` is told beside them
    pce : gives the PCE of each photo for some groups
    """

    name: str
    preset: Preset
    used: Rows
    gram: Gram
    n_pixels: int
    known: dict[str, Any]
    pce: Callable[[Labels], Doubles]

    @property
    def title(self) -> str:
        """The name of the set."""
        more = ", grid not removed" if self.preset == "paper" else ""
        return f"photographs, {self.name}{more}"


def squares(shots: list[photographs.Photograph], size: int, preset: Preset) -> Kind:
    X = photographs.fingerprints(shots, size, preset)

    def pce(labels: Labels) -> Doubles:
        return evidence.photo_pce(X, labels, (size, size))

    used = np.arange(len(shots))
    return Kind(f"{size}²", preset, used, correlate.gram(X), size**2, {}, pce)


def frames(shots: list[photographs.Photograph]) -> Kind:
    """Whole frames, as they are by default."""
    made = photographs.whole_frames(shots)

    def pce(labels: Labels) -> Doubles:
        return evidence.frame_pce(made.rows, labels)

    known = {"weak": made.weak, "colour": made.colours}
    G, name = correlate.gram(made.rows), "whole frame (default)"
    return Kind(name, "default", made.used, G, made.rows.n_pixels, known, pce)


def real(
    folder: Path, kinds: Sequence[tuple[int, Preset]]
) -> tuple[list[Tally], list[dict[str, Any]]]:
    """Every camera in turn is judged by the law that was measured without it."""
    tallies, extra = [], []
    corner = min(side for side, _ in kinds)
    shots = photographs.load_judged(folder, max(side for side, _ in kinds), corner)
    cameras = np.unique([photo.camera for photo in shots], return_inverse=True)[1]
    small = [low_pass(photo.pixels[:corner, :corner]) for photo in shots]
    for kind in (frames(shots), *(squares(shots, *some) for some in kinds)):
        truth, G = cameras[kind.used], kind.gram
        method = ConsolidatedSSC(metric="precomputed", n_pixels=kind.n_pixels)
        method.fit(G, **kind.known)
        tally = Tally(kind.title)
        for camera in range(truth.max() + 1):
            mine = truth == camera
            look(tally, G, truth, method.labels_, mine, ~mine, method.null_scale_)
        tallies.append(tally)
        facts = summary(kind, truth, method.labels_, [small[k] for k in kind.used])
        extra.append({"preset": kind.preset, **facts})
        print(extra[-1])
    return tallies, extra


def summary(kind: Kind, truth: Labels, labels: Labels, small: Sequence[Pixels]) -> dict[str, Any]:
    """PCE, its cost, z of the links, and still scenes of the real set."""
    began = time.perf_counter()
    values = kind.pce(labels)
    seconds = (time.perf_counter() - began) / np.count_nonzero(labels >= 0)
    given = evidence.comparisons_from_gram(kind.gram, labels)
    null = evidence.measured_null(given, null_scale=usual_scale(kind.n_pixels))
    photo = evidence.photo_evidence(given, null)
    different = truth[:, None] != truth[None]
    alike = {}
    for threshold in (0.5, 0.6, 0.7, 0.8):
        pairs = evidence.still_scenes(np.stack(small), threshold)
        alike[str(threshold)] = {
            "one_camera": int((pairs & ~different).sum() // 2),
            "different_cameras": int((pairs & different).sum() // 2),
        }
    inside = labels >= 0
    return {
        "size": kind.name,
        "groups": int(labels.max() + 1),
        "clustered": int(inside.sum()),
        "floor": null.floor,
        "adjusted_at_floor": float(np.nanmin(photo.adjusted)),
        "links_at_floor": int((photo.p_value[inside] <= 1.1 * null.floor).sum()),
        "pce_quantiles": np.nanquantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist(),
        "pce_above_60": float((values[inside] > 60).mean()),
        "pce_seconds_a_photo": seconds,
        "pairs_of_different_cameras": int(different.sum() // 2),
        "alike_pairs": alike,
    }


def picture(rows: Sequence[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["set"] for row in rows))
    figure = Figure(figsize=(13.5, 4.8))
    axes = figure.subplots(1, 3, sharex=True, sharey=True)
    for axis, law, title in (
        (axes[0], "normal", "normal law with the measured scale"),
        (axes[1], "fitted", "measured law with fitted tail"),
        (axes[2], "stated", "its upper bound: what is stated"),
    ):
        axis.plot([1e-6, 1], [1e-6, 1], color="0.6", linewidth=1)
        for name in names:
            mine = [row for row in rows if row["set"] == name and row["supported"]]
            x = np.array([row["claimed"] for row in mine])
            y, low, high = (
                np.maximum([row[law][key] for row in mine], 1e-6) for key in ("rate", "low", "high")
            )
            style = {"marker": "o" if "photographs" in name else ".", "markersize": 4}
            axis.errorbar(x, y, yerr=[y - low, high - y], linewidth=1, label=name, **style)
        axis.set(xscale="log", yscale="log", xlim=(5e-5, 0.2), ylim=(2e-5, 0.3), title=title)
        axis.set_xlabel("claimed false-link rate of one comparison")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("counted rate, 95 % interval")
    axes[2].legend(fontsize=7.5, loc="upper left")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    print(f"written: {path}")


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    options = asked.parse_args(arguments)
    sizes, kinds = (QUICK, QUICK_KINDS) if options.quick else (Sizes(), KINDS)
    tallies = list(simulated(sizes))
    extra: list[dict[str, Any]] = []
    if options.shared:
        more, extra = real(options.shared / "photos", kinds)
        tallies += more
    for tally in tallies:
        tally.show()
    rows = [row for tally in tallies for row in tally.rows()]
    folder = folder_of(options)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        picture(rows, PICTURE if options.out is None else folder / PICTURE.name)
    write(
        "calibration",
        {"rates": rows, "photographs": extra},
        folder=folder,
        draws=sizes.draws,
        photographs=options.shared is not None,
    )


if __name__ == "__main__":
    main()
