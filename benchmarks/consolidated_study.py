"""What each part of the consolidated method is worth: it, and what could stand in its place.

python -m benchmarks.consolidated_study [--shared DIR] [--tables]

Every variant runs on every set: real photographs (whole, halves, 8 and 5 a camera) and
simulated correlations with seeds that no test uses. A variant replaces one step of
`samecam.cluster.consolidate`; chance and the LASSO are computed once a set. `--tables` prints
the tables of docs/design-notes/consolidated.md from the figures written last.
"""

import argparse
import csv
import json
import time
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.consolidated_variants import VARIANTS, Variant, grouped, merge_share
from benchmarks.record import RESULTS, write
from samecam import correlate
from samecam.cluster import ConsolidatedSSC, _thresholds
from samecam.cluster._labels import numbered
from samecam.cluster.consolidate import _steps
from samecam.fingerprint import fingerprint
from samecam.metrics import scores
from samecam.photos import exposure
from samecam.represent import represent
from samecam.simulate import gram
from samecam.simulate._gram import _strengths

KINDS = ((512, "default"), (1024, "default"), (512, "paper"), (1024, "paper"))
SEEDS = (100, 101, 102)
DRAWS = 10
DARK = 0.75
TRIPOD = "canon eos6d"  # a series of one unmoving scene: content correlates more than sensors
PRIOR = 50.0


@dataclass
class Set:
    """Correlations with a known truth; `family` is what is averaged over."""

    family: str
    gram: np.ndarray
    truth: np.ndarray
    n_pixels: int
    dark: np.ndarray | None = None
    saturated: np.ndarray | None = None

    def part(self, family, rows):
        rows = np.sort(rows)
        G = np.ascontiguousarray(self.gram[np.ix_(rows, rows)])
        return Set(
            family, G, self.truth[rows], self.n_pixels, self.dark[rows], self.saturated[rows]
        )

    @cached_property
    def scale(self):
        return correlate.null_scale(self.gram, self.n_pixels)

    @cached_property
    def scales(self):
        return correlate.photo_scales(self.gram, self.scale)

    @cached_property
    def start(self):
        return _steps.start_groups(represent(self.gram, 2 * self.scale).coefficients)


# Sets


def photographs(folder):
    """The whole sets: photos whose 512² corner is at most 30 % saturated."""
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        rows = [(row["path"], row["camera"]) for row in csv.DictReader(stream)]
    pictures = [(np.asarray(Image.open(folder / path)), camera) for path, camera in rows]
    light = [exposure(p[:512, :512]) for p, _ in pictures]
    kept = [(p, c, e) for (p, c), e in zip(pictures, light, strict=True) if e.saturated <= 0.3]
    cameras = np.array([short(c) for _, c, _ in kept])
    dark = np.array([e.dark for *_, e in kept])
    saturated = np.array([e.saturated for *_, e in kept])
    for size, preset in KINDS:
        X = np.stack([fingerprint(p[:size, :size], preset=preset) for p, *_ in kept])
        name = f"photographs {size}² {preset}"
        yield Set(f"{name}, whole", correlate.gram(X), cameras, size * size, dark, saturated)


def short(camera):
    """Maker, model and, where there are several, which of them."""
    words = camera.split("_")
    return " ".join(words[:2] + [w for w in words[2:] if w.startswith("dev")])


def parts_of(whole):
    """Random halves and small subsets of a set of photographs."""
    names, base = np.unique(whole.truth), whole.family.split(",")[0]
    n = len(whole.truth)
    for draw in range(DRAWS):
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
        rows = rng.permutation(np.flatnonzero(whole.truth != TRIPOD))[: n // 2]
        yield whole.part(f"{base}, without {TRIPOD}", rows)


def simulated():
    for seed in SEEDS:
        for count, low, high, mean in (
            (60, 10, 50, 0.01),
            (60, 10, 50, 0.03),
            (120, 5, 15, 0.01),
            (120, 5, 15, 0.03),
        ):
            sizes = np.random.default_rng(seed).integers(low, high + 1, count).tolist()
            name = f"simulated {count} × {low}–{high}, m = {mean}"
            yield Set(name, *gram(sizes, mean, seed=seed), 512**2)
        sizes = [50] * 20 + [1] * 50
        yield Set("simulated 20 × 50 and 50 strangers", *gram(sizes, 0.02, seed=seed), 512**2)
        for share in (0.1, 0.2, 0.3, 0.4):
            name = f"simulated 15 pairs of cameras that share {share:.0%}"
            yield Set(name, *related(seed, share), 512**2)
        yield Set("simulated 30 cameras, two scenes each", *scenes(seed), 512**2)
    for seed in range(100, 105):
        yield Set("noise, 600", *gram([1] * 600, 0.01, seed=seed), 512**2)


def related(seed, share, mean=0.03):
    """Cameras in pairs: photos of two show `share` of what photos of one do."""
    sizes = np.random.default_rng(seed).integers(10, 51, 30).tolist()
    G, labels = gram(sizes, mean, seed=seed)
    _, strength = _strengths(sizes, mean, 0.4, 0.7, seed)
    twin = (labels[:, None] ^ 1) == labels
    return G + (share * twin * np.outer(strength, strength)).astype(G.dtype), labels


def scenes(seed, mean=0.02):
    """Each half of a camera's photos shows one scene, four times as strong as the sensor."""
    G, labels = gram([24] * 30, mean, seed=seed, camera_spread=0)
    rng = np.random.default_rng(seed)
    scene = 2 * labels + (rng.permuted(np.arange(len(labels))) % 2)
    look = rng.uniform(0.5, 1.5, len(labels))
    same = (scene[:, None] == scene) & ~np.eye(len(labels), dtype=bool)
    return G + (4 * mean * same * np.outer(look, look)).astype(G.dtype), labels


# Figures


def judged(case, labels):
    score = scores(case.truth, labels)
    _, camera, many = np.unique(case.truth, return_inverse=True, return_counts=True)
    single = many[camera] == 1
    nobody = single.all()
    return {
        "F": None if nobody else score.f,
        "P": None if nobody else score.precision,
        "R": None if nobody else score.recall,
        "groups": score.n_clusters,
        "unclustered": score.n_unclustered,
        "strangers": int((labels[single] >= 0).sum()),
        "mixed": mixed(case.truth, labels),
    }


def mixed(truth, labels):
    """Groups that hold two or more photos of a second camera."""
    cameras = [Counter(truth[labels == k].tolist()) for k in set(labels[labels >= 0].tolist())]
    return sum(len(many) > 1 and many.most_common(2)[1][1] > 1 for many in cameras)


def row_of(variant, family, mine, base):
    """One row of the result: means over the sets of a family, and the comparison set by set."""
    row = {"variant": variant.name, "letter": variant.letter, "family": family, "sets": len(mine)}
    for key in ("groups", "unclustered", "strangers"):
        row[key] = float(np.mean([m[key] for m in mine]))
    row["mixed"] = sum(m["mixed"] for m in mine)
    if mine[0]["F"] is None:
        return row
    F, P, R = (np.array([m[key] for m in mine]) for key in "FPR")
    change = F - np.array([b["F"] for b in base])
    row |= {"F": F.mean(), "F_sd": F.std(), "F_min": F.min(), "P": P.mean(), "P_min": P.min()}
    row |= {"R": R.mean(), "change": change.mean(), "change_min": change.min()}
    row |= {"better": int((change > 1e-4).sum()), "worse": int((change < -1e-4).sum())}
    return rounded({k: v.item() if isinstance(v, np.generic) else v for k, v in row.items()})


def losses(case, labels):
    """Who is lost, who is where he should not be, which cameras are split, and with which z."""
    h = case.gram / np.outer(case.scales, case.scales)
    np.fill_diagonal(h, 0)
    groups = [labels == k for k in range(int(labels.max(initial=-1)) + 1)]
    main = [Counter(case.truth[g].tolist()).most_common(1)[0][0] for g in groups]
    needed = _thresholds.joining(len(groups), 0.01)
    lost, wrong = [], []
    for i, (camera, label) in enumerate(zip(case.truth.tolist(), labels, strict=True)):
        if label >= 0 and main[label] == camera:
            continue
        facts = {"camera": camera, "z": z_of(h, i, case.truth == camera), "needed": needed}
        if case.dark is not None:
            facts |= {"dark": float(case.dark[i]), "saturated": float(case.saturated[i])}
        if label < 0:
            lost.append(facts | {"has_group": camera in main})
        else:
            wrong.append(facts | {"in": main[label], "z_there": z_of(h, i, groups[label])})
    split = [
        apart(h, groups[a], groups[b]) | {"camera": main[a]}
        for b in range(len(main))
        for a in range(b)
        if main[a] == main[b]
    ]
    strange = [
        apart(h, groups[a], groups[b]) | {"camera": main[a], "other": main[b]}
        for b in range(len(main))
        for a in range(b)
        if main[a] != main[b]
    ]
    nearest = sorted(strange, key=lambda pair: pair["share"])[-1:]
    return {"lost": lost, "wrong": wrong, "split": split, "nearest": nearest}


def z_of(h, i, members):
    """Sum of a photo over others in standard deviations of chance; 0 if there are none."""
    others = members & (np.arange(len(h)) != i)
    return float(h[i, others].sum() / np.sqrt(max(others.sum(), 1)))


def counted(family, cases):
    """What the method as it is loses in a family, and why; one by one for whole sets."""
    found = [losses(case, numbered(grouped(case, VARIANTS[0]))) for case in cases]
    lost = [facts for one in found for facts in one["lost"]]
    row = {
        "family": family,
        "photos": sum(len(case.truth) for case in cases),
        "lost": len(lost),
        "lost_below_needed": sum(f["z"] <= f["needed"] for f in lost),
        "lost_without_group": sum(not f["has_group"] for f in lost if f["z"] > f["needed"]),
        "lost_dark": sum(f.get("dark", 0) > DARK for f in lost),
        "wrong": sum(len(one["wrong"]) for one in found),
        "split": sum(len(one["split"]) for one in found),
    }
    nearest = [pair for one in found for pair in one["nearest"]]
    row["nearest_strangers"] = rounded(sorted(nearest, key=lambda pair: pair["share"])[-1:])
    if "default, whole" in family:
        row["details"] = rounded(found[0])
    elif "default" in family:
        row["joined"] = rounded([f for one in found for f in one["wrong"]])
        row["apart"] = rounded([f for one in found for f in one["split"]])
    return row


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 5) if isinstance(value, float) else value


def apart(h, a, b):
    """Two groups of one camera: sizes, z between them, and the share of H₁ that this is."""
    inner = [h[np.ix_(g, g)].sum() / (g.sum() * (g.sum() - 1)) for g in (a, b)]
    between = h[np.ix_(a, b)].sum()
    pairs = float(a.sum() * b.sum())
    return {
        "sizes": [int(a.sum()), int(b.sum())],
        "z": float(between / pairs**0.5),
        "share": float(between / pairs / np.sqrt(inner[0] * inner[1])),
    }


def study(cases, families):
    """All variants on all sets: one row a variant and family."""
    base = [judged(case, grouped(case, VARIANTS[0])) for case in cases]
    rows = []
    for variant in VARIANTS:
        began = time.perf_counter()
        mine = [judged(case, grouped(case, variant)) for case in cases]
        for family in families:
            which = [k for k, case in enumerate(cases) if case.family == family]
            rows.append(row_of(variant, family, [mine[k] for k in which], [base[k] for k in which]))
        change = np.mean([r["change"] for r in rows[-len(families) :] if "F" in r])
        seconds = time.perf_counter() - began
        print(f"{variant.letter:4} {variant.name:42} {change:+.4f} {seconds:6.1f} s", flush=True)
    return rows


def check(case):
    """The study's own path is the method's."""
    method = ConsolidatedSSC(metric="precomputed", n_pixels=case.n_pixels).fit(case.gram)
    for variant in (VARIANTS[0], Variant("", "", steps={"merge": merge_share})):
        if (numbered(grouped(case, variant)) != method.labels_).any():
            raise SystemExit(f"the study's path is not the method's on {case.family}")


# Tables

COLUMNS = {
    "whole": ("whole",),
    "½ photos": ("half of the photos",),
    "½ cameras": ("half of the cameras",),
    "8 each": ("8 a camera",),
    "5 each": ("5 a camera",),
    "no tripod": (f"without {TRIPOD}",),
    "60 × 10–50": ("simulated 60",),
    "120 × 5–15": ("simulated 120",),
    "strangers": ("strangers",),
    "kin ≤ 30 %": ("share 10%", "share 20%", "share 30%"),
    "kin 40 %": ("share 40%",),
    "scenes": ("scenes",),
}


def tables():
    """The tables of the design note, from the figures written last."""
    result = json.loads((RESULTS / "consolidated_study.json").read_text())["result"]
    rows = result["variants"]
    base = {row["family"]: row for row in rows if row["variant"] == VARIANTS[0].name}
    print(
        "| set | sets | F (s.d., least) | P (least) | R | lost | too weak, no group, dark |", end=""
    )
    print(" wrong | split | kin |\n|---|---|---|---|---|---|---|---|---|---|")
    for one in result["losses"]:
        row = base[one["family"]]
        score = "– | – | –"
        if "F" in row:
            score = f"{row['F']:.3f} ({row['F_sd']:.3f}, {row['F_min']:.3f}) | {row['P']:.3f} "
            score += f"({row['P_min']:.3f}) | {row['R']:.3f}"
        print(
            f"| {one['family']} | {row['sets']} | {score} | {one['lost']} of {one['photos']} | "
            f"{one['lost_below_needed']}, {one['lost_without_group']}, {one['lost_dark']} | "
            f"{one['wrong']} | {one['split']} | "
            f"{max((p['share'] for p in one['nearest_strangers']), default=0):.2f} |"
        )
    print(f"\n| | variant | {' | '.join(COLUMNS)} | noise | sets better : worse |")
    print("|---" * (len(COLUMNS) + 4) + "|")
    for variant in VARIANTS[1:]:
        mine = [row for row in rows if row["variant"] == variant.name]
        cells = [
            cell([row for row in mine if any(key in row["family"] for key in keys)], base)
            for keys in COLUMNS.values()
        ]
        noise = next(row["strangers"] for row in mine if row["family"].startswith("noise"))
        won, gone = (sum(row.get(key, 0) for row in mine) for key in ("better", "worse"))
        cells += [f"{noise:g}", f"{won} : {gone}"]
        print(f"| {variant.letter} | {variant.name} | {' | '.join(cells)} |")


def cell(rows, base):
    """Change of F and of P in thousandths, mean over families."""
    change = [np.mean([row[key] - base[row["family"]][key] for row in rows]) for key in "FP"]
    return "/".join(
        f"{1000 * c:+.0f}".replace("+0", "0").replace("-0", "0").replace("-", "−") for c in change
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, help="folder with photos/")
    parser.add_argument("--tables", action="store_true", help="only print the tables")
    options = parser.parse_args()
    if options.tables:
        return tables()
    cases = []
    if options.shared:
        for whole in photographs(options.shared / "photos"):
            cases += [whole, *parts_of(whole)]
    cases += simulated()
    for case in cases:
        if "whole" in case.family or "120 ×" in case.family:
            check(case)
    families = list(dict.fromkeys(case.family for case in cases))
    rows = study(cases, families)
    lost = [counted(f, [case for case in cases if case.family == f]) for f in families]
    settings = {"draws": DRAWS, "seeds": SEEDS, "photographs": options.shared is not None}
    write("consolidated_study", {"variants": rows, "losses": lost}, **settings)
    return None


if __name__ == "__main__":
    main()
