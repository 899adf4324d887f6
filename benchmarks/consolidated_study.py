"""What each part of the consolidated method is worth: it, and what could stand in its place.

python -m benchmarks.consolidated_study [--shared DIR]

Every variant runs on every set: real photographs (whole, halves, 8 and 5 a camera) and
simulated correlations with seeds that no test uses. A variant replaces one step of
`samecam.cluster.consolidate`; chance and the LASSO are computed once a set.
`python -m benchmarks.pages` puts the figures into docs/design-notes/consolidated.md.
"""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.consolidated_sets import (
    DRAWS,
    KINDS,
    QUICK_KINDS,
    SEEDS,
    LabelledSet,
    parts_of,
    simulated,
    whole_sets,
)
from benchmarks.consolidated_variants import VARIANTS, Variant, grouped, merge_share
from benchmarks.record import folder_of, parser, write
from samecam.arrays import AnyFloats, Labels, Mask
from samecam.cluster import ConsolidatedSSC, _thresholds
from samecam.cluster._labels import numbered
from samecam.metrics import scores

DARK = 0.75
Facts = dict[str, Any]


def judged(given: LabelledSet, labels: Labels) -> Facts:
    score = scores(given.truth, labels)
    _, camera, many = np.unique(given.truth, return_inverse=True, return_counts=True)
    single = many[camera] == 1
    nobody = single.all()
    return {
        "F": None if nobody else score.f,
        "P": None if nobody else score.precision,
        "R": None if nobody else score.recall,
        "groups": score.n_clusters,
        "unclustered": score.n_unclustered,
        "strangers": int((labels[single] >= 0).sum()),
        "mixed": mixed(given.truth, labels),
    }


def mixed(truth: Any, labels: Labels) -> int:
    """Groups that hold two or more photos of a second camera."""
    cameras = [Counter(truth[labels == k].tolist()) for k in set(labels[labels >= 0].tolist())]
    return sum(len(many) > 1 and many.most_common(2)[1][1] > 1 for many in cameras)


def row_of(variant: Variant, family: str, mine: Sequence[Facts], base: Sequence[Facts]) -> Facts:
    """One row of the result: means over the sets of a family, and the comparison set by set."""
    row: Facts = {
        "variant": variant.name,
        "letter": variant.letter,
        "family": family,
        "sets": len(mine),
    }
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
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in row.items()}
    return dict(rounded(plain))


def losses(given: LabelledSet, labels: Labels) -> dict[str, list[Facts]]:
    """Who is lost, who is where he should not be, which cameras are split, and with which z."""
    h = given.gram / np.outer(given.scales, given.scales)
    np.fill_diagonal(h, 0)
    groups = [labels == k for k in range(int(labels.max(initial=-1)) + 1)]
    main = [Counter(given.truth[g].tolist()).most_common(1)[0][0] for g in groups]
    needed = _thresholds.joining(len(groups), 0.01)
    lost, wrong = [], []
    for i, (camera, label) in enumerate(zip(given.truth.tolist(), labels, strict=True)):
        if label >= 0 and main[label] == camera:
            continue
        facts: Facts = {"camera": camera, "z": z_of(h, i, given.truth == camera), "needed": needed}
        if given.dark is not None and given.saturated is not None:
            facts |= {"dark": float(given.dark[i]), "saturated": float(given.saturated[i])}
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


def z_of(h: AnyFloats, i: int, members: Mask) -> float:
    """Sum of a photo over others in standard deviations of chance; 0 if there are none."""
    others = members & (np.arange(len(h)) != i)
    return float(h[i, others].sum() / np.sqrt(max(others.sum(), 1)))


def counted(family: str, sets: Sequence[LabelledSet]) -> Facts:
    """What the method as it is loses in a family, and why; one by one for whole sets."""
    each = [losses(one, numbered(grouped(one, VARIANTS[0]))) for one in sets]
    lost = [facts for one in each for facts in one["lost"]]
    row: Facts = {
        "family": family,
        "photos": sum(len(one.truth) for one in sets),
        "lost": len(lost),
        "lost_below_needed": sum(f["z"] <= f["needed"] for f in lost),
        "lost_without_group": sum(not f["has_group"] for f in lost if f["z"] > f["needed"]),
        "lost_dark": sum(f.get("dark", 0) > DARK for f in lost),
        "wrong": sum(len(one["wrong"]) for one in each),
        "split": sum(len(one["split"]) for one in each),
    }
    nearest = [pair for one in each for pair in one["nearest"]]
    row["nearest_strangers"] = rounded(sorted(nearest, key=lambda pair: pair["share"])[-1:])
    if "default, whole" in family:
        row["details"] = rounded(each[0])
    elif "default" in family:
        row["joined"] = rounded([f for one in each for f in one["wrong"]])
        row["apart"] = rounded([f for one in each for f in one["split"]])
    return row


def rounded(value: Any) -> Any:
    """Five digits after the point, in lists and dictionaries too."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 5) if isinstance(value, float) else value


def apart(h: AnyFloats, a: Mask, b: Mask) -> Facts:
    """Two groups of one camera: sizes, z between them, and the share of H₁ that this is."""
    inner = [h[np.ix_(g, g)].sum() / (g.sum() * (g.sum() - 1)) for g in (a, b)]
    between = h[np.ix_(a, b)].sum()
    pairs = float(a.sum() * b.sum())
    return {
        "sizes": [int(a.sum()), int(b.sum())],
        "z": float(between / pairs**0.5),
        "share": float(between / pairs / np.sqrt(inner[0] * inner[1])),
    }


def study(sets: Sequence[LabelledSet], families: Sequence[str]) -> list[Facts]:
    """All variants on all sets: one row a variant and family."""
    base = [judged(one, grouped(one, VARIANTS[0])) for one in sets]
    rows = []
    for variant in VARIANTS:
        began = time.perf_counter()
        mine = [judged(one, grouped(one, variant)) for one in sets]
        for family in families:
            which = [k for k, one in enumerate(sets) if one.family == family]
            rows.append(row_of(variant, family, [mine[k] for k in which], [base[k] for k in which]))
        change = np.mean([r["change"] for r in rows[-len(families) :] if "F" in r])
        seconds = time.perf_counter() - began
        print(f"{variant.letter:4} {variant.name:42} {change:+.4f} {seconds:6.1f} s", flush=True)
    return rows


def check(given: LabelledSet) -> None:
    """The study's own path is the method's."""
    method = ConsolidatedSSC(metric="precomputed", n_pixels=given.n_pixels).fit(given.gram)
    for variant in (VARIANTS[0], Variant("", "", steps={"merge": merge_share})):
        if (numbered(grouped(given, variant)) != method.labels_).any():
            raise SystemExit(f"the study's path is not the method's on {given.family}")


def main(arguments: Sequence[str] | None = None) -> None:
    asked = parser(__doc__)
    asked.add_argument("--shared", type=Path, help="folder with photos/")
    options = asked.parse_args(arguments)
    kinds, draws = (QUICK_KINDS, 1) if options.quick else (KINDS, DRAWS)
    sets: list[LabelledSet] = []
    if options.shared:
        for whole in whole_sets(options.shared / "photos", kinds):
            sets += [whole, *parts_of(whole, draws)]
    sets += simulated(options.quick)
    for one in sets:
        if "whole" in one.family or "× 5–" in one.family:
            check(one)
    families = list(dict.fromkeys(one.family for one in sets))
    rows = study(sets, families)
    lost = [counted(f, [one for one in sets if one.family == f]) for f in families]
    write(
        "consolidated_study",
        {"variants": rows, "losses": lost},
        folder=folder_of(options),
        draws=draws,
        seeds=SEEDS,
        photographs=options.shared is not None,
    )


if __name__ == "__main__":
    main()
