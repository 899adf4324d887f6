"""Claimed false-link rates against counted ones, on simulated sets and real photographs.

python -m benchmarks.calibration [--shared DIR] [--quick]

Groups are those the consolidated method finds; the law of chance is measured on them and
on nothing else. Counted are comparisons of photographs with groups of other cameras, by
photographs that the law was *not* measured on: strangers in simulated sets, and in turn
every camera's photos in the real set, with the law measured without that camera.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import stats

from benchmarks.record import write
from samecam import correlate, evidence
from samecam.cluster import ConsolidatedSSC
from samecam.fingerprint import fingerprint
from samecam.photos import exposure
from samecam.simulate import fingerprints, gram

LAWS = ("stated", "fitted", "normal", "sums")
CLAIMS = tuple(10 ** (-k / 2) for k in range(2, 9))
PICTURE = Path(__file__).parent.parent / "docs" / "img" / "calibration.png"


def interval(count, total):
    """Clopper–Pearson, 95 %."""
    low = stats.beta.ppf(0.025, count, total - count + 1) if count else 0.0
    high = stats.beta.ppf(0.975, count + 1, total - count) if count < total else 1.0
    return float(low), float(high)


class Tally:
    """Comparisons with groups of other cameras, and how many were called a link."""

    def __init__(self, name):
        self.name, self.total, self.largest_floor = name, 0, 0.0
        self.counts = {law: dict.fromkeys(CLAIMS, 0) for law in LAWS}
        self.notes = []

    def add(self, z, crude, null):
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

    def rows(self):
        rows = []
        for claim in CLAIMS:
            row = {"set": self.name, "claimed": claim, "comparisons": self.total}
            row["supported"] = bool(claim >= self.largest_floor)
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

    def show(self):
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


def groups_of(truth, labels):
    """The camera most members of each group are of."""
    return np.array([np.bincount(truth[labels == c]).argmax() for c in range(labels.max() + 1)])


def look(tally, G, truth, labels, judged, used, scale):
    """Measure on `used` rows, count on `judged` rows against groups of other cameras."""
    known = np.where(used, labels, -1)
    kept = np.unique(known[known >= 0])
    number = np.full(labels.max() + 2, -1)
    number[kept] = np.arange(len(kept))
    known = number[known]
    given = evidence.comparisons_from_gram(G, known)
    null = evidence.measured_null(given)
    z = given.array() / null.group_scale
    sums = np.stack([G[:, known == c].sum(axis=1) for c in range(given.n_groups)], axis=1)
    crude = sums / (scale * np.sqrt(given.sizes))
    other = judged[:, None] & (groups_of(truth, known)[None] != truth[:, None])
    tally.add(z[other], crude[other], null)


def simulated(draws):
    sets = (
        ("normal noise, m = .01", {"mean": 0.01}, 0.0),
        ("normal noise, m = .03", {"mean": 0.03}, 0.0),
        ("heavy tails, m = .03", {"mean": 0.03}, 0.35),
    )
    for name, options, spread in sets:
        tally = Tally(f"simulated, {name}")
        for draw in range(draws):
            rng = np.random.default_rng(draw)
            sizes = rng.integers(20, 61, 80).tolist() + [1] * 1500
            G, truth = gram(sizes, seed=draw, **options)
            if spread:  # photos whose noise is louder than others'
                loud = np.exp(spread * rng.standard_normal(len(G))).astype(np.float32)
                G = np.where(truth[:, None] == truth[None], G, G * np.outer(loud, loud))
            count(tally, G, truth)
        yield tally
    for mean in (0.03, 0.1):
        tally = Tally(f"simulated fingerprints, 128², m = {mean:.2g}".replace("0.", "."))
        for draw in range(max(1, draws // 2)):
            sizes = np.random.default_rng(draw).integers(20, 61, 80).tolist() + [1] * 1500
            X, truth = fingerprints(sizes, mean, n_pixels=128**2, seed=draw)
            count(tally, correlate.gram(X), truth)
        yield tally


def count(tally, G, truth):
    """Cluster the photos of cameras with several, then judge the strangers."""
    stranger = np.bincount(truth)[truth] == 1
    rows = np.flatnonzero(~stranger)
    method = ConsolidatedSSC(metric="precomputed").fit(G[np.ix_(rows, rows)])
    labels = np.full(len(G), -1)
    labels[rows] = method.labels_
    look(tally, G, truth, labels, stranger, ~stranger, method.null_scale_)


def photographs(folder):
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        names = [(row["path"], row["camera"]) for row in csv.DictReader(stream)]
    pictures = [(np.asarray(Image.open(folder / path)), camera) for path, camera in names]
    kept = [(p, c) for p, c in pictures if exposure(p[:512, :512]).saturated <= 0.3]
    _, truth = np.unique([c for _, c in kept], return_inverse=True)
    small = [evidence.low_pass(p[:512, :512]) for p, _ in kept]
    for size, preset in ((512, "default"), (1024, "default"), (512, "paper")):
        X = np.stack([fingerprint(p[:size, :size], preset=preset) for p, _ in kept])
        yield size, preset, X, truth, small


def real(folder):
    tallies, extra = [], []
    for size, preset, X, truth, small in photographs(folder):
        G = correlate.gram(X)
        method = ConsolidatedSSC(metric="precomputed", n_pixels=size**2).fit(G)
        tally = Tally(f"photographs, {size}²" + (", grid not removed" if preset == "paper" else ""))
        for camera in range(truth.max() + 1):
            mine = truth == camera
            look(tally, G, truth, method.labels_, mine, ~mine, method.null_scale_)
        tallies.append(tally)
        extra.append({"preset": preset, **summary(size, X, G, truth, method.labels_, small)})
        print(extra[-1])
    return tallies, extra


def summary(size, X, G, truth, labels, small):
    """PCE, its cost, z of the links, and still scenes of the real set."""
    began = time.perf_counter()
    values = evidence.photo_pce(X, labels)
    seconds = (time.perf_counter() - began) / np.count_nonzero(labels >= 0)
    given = evidence.comparisons_from_gram(G, labels)
    null = evidence.measured_null(given)
    photo = evidence.photo_evidence(given, null)
    different = truth[:, None] != truth[None]
    alike = {}
    for threshold in (0.5, 0.6, 0.7, 0.8):
        found = evidence.still_scenes(np.stack(small), threshold)
        alike[str(threshold)] = {
            "one_camera": int((found & ~different).sum() // 2),
            "different_cameras": int((found & different).sum() // 2),
        }
    inside = labels >= 0
    return {
        "size": size,
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


def picture(rows):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["set"] for row in rows))
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.8), sharex=True, sharey=True)
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
    figure.savefig(PICTURE, dpi=100)
    print(f"written: {PICTURE}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, help="folder with photos/")
    parser.add_argument("--quick", action="store_true", help="two draws; writes nothing")
    options = parser.parse_args()
    draws = 2 if options.quick else 6
    tallies, extra = [], []
    for tally in simulated(draws):
        tally.show()
        tallies.append(tally)
    if options.shared:
        more, extra = real(options.shared / "photos")
        for tally in more:
            tally.show()
        tallies += more
    if options.quick:
        return
    rows = [row for tally in tallies for row in tally.rows()]
    picture(rows)
    write(
        "calibration",
        {"rates": rows, "photographs": extra},
        draws=draws,
        photographs=options.shared is not None,
    )


if __name__ == "__main__":
    main()
