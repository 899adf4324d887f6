"""How much of the frame is compared, and what that does to the groups."""

from collections import Counter
from functools import partial
from math import isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from samecam import pages
from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._photo_sets import (
    PhotoSet,
    allowed_sides,
    photo_size,
    real_or_simulated,
    set_name,
)
from samecam.experiments._piles import as_run, group_pile, link_originals, pair_scores
from samecam.experiments._study import Run, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Simulated cameras, photos by each, size, strangers; and with --quick.
FULL, QUICK = (10, 15, (2592, 1944), 30), (4, 8, (1280, 960), 4)
# Strong compression, in which little of the pattern is left.
QUALITY = (72, 82)
SIDES = (256, 512, 1024)
HALF = "half"


class Part(NamedTuple):
    """What is compared of a frame: a square in its centre, or all of it (no side)."""

    key: str
    side: int | None


def _name(context: Context) -> str:
    cameras, images, size, strangers = QUICK if context.quick else FULL
    return set_name(context, f"simulated-{cameras}x{images}+{strangers}-{size[0]}")


def _photos(context: Context) -> PhotoSet:
    cameras, images, size, strangers = QUICK if context.quick else FULL
    more = {"outliers": strangers, "quality": QUALITY}
    return real_or_simulated(context, _name(context), cameras, images, size, **more)


def parts(photos: PhotoSet) -> list[Part]:
    """Squares that the photos hold, half of the most frequent frame, and the whole frame."""
    sizes = Counter(photo_size(file) for file in photos.files)
    (width, height), _ = max(sizes.items(), key=lambda item: (item[1], item[0]))
    half = min(isqrt(width * height // 2), width, height)
    sides = [side for side in allowed_sides(photos, SIDES) if side < half]
    return [*(Part(str(side), side) for side in sides), Part(HALF, half), Part("whole", None)]


def _run(context: Context) -> None:
    photos = _photos(context)
    wanted, given = parts(photos), photos.as_parameters()
    facts = {"title": photos.title, "notes": list(photos.notes), "parts": [list(p) for p in wanted]}
    context.study.run(f"{photos.name}/photos", lambda: Run({}, facts), parameters=given)
    for part in wanted:
        make = partial(_group, context, photos, part)
        key = f"{photos.name}/{part.key}"
        context.study.run(key, make, parameters={**given, "side": part.side})


def _group(context: Context, photos: PhotoSet, part: Part) -> Run:
    """Groups by what is compared; squares as `--size N --at centre` has them."""
    from samecam.case import ExtractionSettings

    work = context.study.folder / "work" / photos.name / part.key
    names = link_originals(context, work, photos.files)
    settings = ExtractionSettings()
    if part.side is not None:
        settings = ExtractionSettings(size=part.side, at="centre")
    answer = group_pile(context, work / "photos", work, settings)
    sizes = [photo_size(file) for file in photos.files]
    pixels = np.array([max(width * height, 1) for width, height in sizes], dtype=float)
    share = np.minimum((part.side or np.inf) ** 2 / pixels, 1)
    return as_run(answer, names, photos.cameras, share=share)


def _score(study: Study, context: Context) -> dict[str, Any]:
    name = _name(context)
    facts = study.load(f"{name}/photos").facts
    rows, runs = [], []
    for part in (Part(*part) for part in facts["parts"]):
        run = study.load(f"{name}/{part.key}")
        scored = pair_scores(run.arrays["truth"], run.arrays["groups"])
        about = {"part": part.key, "side": part.side}
        rows.append({**about, "share": round(float(run.arrays["share"].mean()), 4), **scored})
        runs.append({**about, "seed": 0, "seconds": run.facts["seconds"]})
    sizes = np.unique(run.arrays["truth"], return_counts=True)[1]
    about = {"cameras": int((sizes > 1).sum()), "strangers": int((sizes == 1).sum())}
    what = {"set": name, "photos": facts["title"], "notes": facts["notes"], **about}
    return {**what, "rows": rows, "runs": runs}


def _plot(result: Result) -> "Figure":
    from samecam.experiments import _pictures

    figure = _pictures.blank(9.4, 3.9)
    left, right = figure.subplots(1, 2)
    rows = result["rows"]
    shares = [row["share"] for row in rows]
    none = [0.0] * len(rows)
    for measure, method in (("f", "ours"), ("precision", "ssc-nc"), ("recall", "lin-ls")):
        label = "F" if measure == "f" else measure
        _pictures.line(left, method, label, shares, [row[measure] for row in rows], none)
    alone = [row["n_unclustered"] / row["n_images"] for row in rows]
    _pictures.line(right, "ours", "in no group", shares, alone, none)
    titles = {left: "pairs of photos", right: "share of the photos in no group"}
    for ax, title in titles.items():
        ax.set_xscale("log")
        ax.set_xticks(shares, [f"{100 * share:.3g}%" for share in shares], fontsize=8)
        ax.minorticks_off()
        ax.set_ylim(-0.03, 1.03)
        _pictures.tidy(ax, title, "share of the frame that is compared")
    left.legend(frameon=False, loc="lower right", fontsize=8.5)
    _pictures.note(figure, result["photos"])
    return figure


_ABOUT = (
    "Squares in the centre (`--size N --at centre`), and the whole frame, as is the default; views "
    "are not searched for."
)


def _tell(result: Result) -> Told:
    rows = result["rows"]
    least, whole = rows[0], rows[-1]
    strangers = f" and {result['strangers']} strangers" if result["strangers"] else ""
    sentences = [
        f"{result['cameras']} cameras{strangers}. From {pages.percent(least['share'])} of the "
        f"frame to all of it, F goes from {pages.share(least['f'], 3)} to "
        f"{pages.share(whole['f'], 3)}, and photos in no group from {least['n_unclustered']} to "
        f"{whole['n_unclustered']} of {whole['n_images']}.",
        *_behind(rows, whole),
        *result["notes"],
    ]
    head = ["compared", "share", "F", "precision", "recall", "groups", "in none"]
    return Told(sentences, pages.table(head, [_line(row) for row in rows]))


def _behind(rows: list[dict[str, Any]], whole: dict[str, Any]) -> list[str]:
    """Squares that do better than the whole frame."""
    better = [row for row in rows if row["f"] > whole["f"]]
    if not better:
        return []
    words = [f"{row['side']} ({pages.share(row['f'], 3)})" for row in better]
    return [f"**The whole frame is behind** the squares of {pages.listed(words)}."]


def _line(row: dict[str, Any]) -> list[str]:
    square = "whole frame" if row["side"] is None else f"{row['side']}²"
    return [
        f"half, {square}" if row["part"] == HALF else square,
        pages.percent(row["share"]),
        *(pages.share(row[name], 3) for name in ("f", "precision", "recall")),
        str(row["n_clusters"]),
        str(row["n_unclustered"]),
    ]


EXPERIMENT = Experiment(
    "frames",
    "Beyond the paper: how much of the frame is compared",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,
)
