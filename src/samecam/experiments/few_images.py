"""The paper's test with few images: 400 cameras of 10 to 50 images each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from samecam import pages
from samecam.datasets import twin
from samecam.errors import SamecamError
from samecam.experiments import _paper, _pictures
from samecam.experiments._experiment import Context, Experiment, Result
from samecam.experiments._grid import GridRun, cell, grid_runs, rounded, run_grid, score_grid
from samecam.experiments._methods import METHODS
from samecam.experiments._sources import Plan, twin_source
from samecam.experiments._study import Study
from samecam.experiments._text import failures, standing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAME = "few400"
_METHODS = ("ours", "ls-ssc", "lin-ls", "lin-ls-measured")


def _todo(context: Context) -> list[GridRun]:
    planned = Plan([twin_source(twin(_NAME))], ())
    methods = _METHODS[:-1] if context.quick else _METHODS  # a run takes half a minute or more
    return grid_runs(planned, [METHODS[key] for key in methods], context.runs)


def _run(context: Context) -> None:
    if context.data is not None:
        raise SamecamError(
            "few-images has no form for real collections, since squares at several places of a "
            "photo, which make 400 cameras of 20, are not cut from real photos here: leave --data "
            "out."
        )
    run_grid(context, "few-images", _todo(context))


def alone_by_size(truth: Sequence[int], labels: Sequence[int]) -> dict[str, float]:
    """Share of photos without a group, by the number of photos of their camera."""
    sizes = Counter(truth)
    photos = Counter(sizes[camera] for camera in truth)
    alone = Counter(sizes[camera] for camera, label in zip(truth, labels, strict=True) if label < 0)
    return {str(size): rounded(alone[size] / photos[size]) for size in sorted(photos)}


def _score(study: Study, context: Context) -> dict[str, Any]:
    ours = study.load(f"{_NAME}/ours/0").arrays
    return {
        "alone_by_size": alone_by_size(ours["truth"].tolist(), ours["labels"].tolist()),
        "configurations": [_NAME],
        "printed": [_paper.as_json(entry) for entry in _paper.FEW_IMAGES],
        **score_grid(study, _todo(context)),
    }


def _shown(result: Result) -> list[Mapping[str, Any]]:
    return [row for key in _METHODS if (row := cell(result, _NAME, key)) is not None]


def _plot(result: Result) -> "Figure":
    figure = _pictures.blank(10.5, 2.7)
    printed = {entry["method"]: entry for entry in result["printed"]}
    panels = (
        ("f", "F", pages.share),
        ("n_clusters", "groups (there are 400 cameras)", pages.count),
        ("n_unclustered", "photos left without a group", pages.count),
    )
    for ax, (name, title, word) in zip(figure.subplots(1, 3, sharey=True), panels, strict=True):
        rows = _pictures.bars_of(_shown(result), name, printed)
        _pictures.bars(ax, rows, title, word)
        if name == "n_clusters":
            ax.axvline(400, color="#888888", linewidth=0.9, linestyle="--", zorder=0.5)
    _pictures.note(figure, "Star: what the paper prints.")
    return figure


def _text(result: Result) -> str:
    sentences = [*standing(result, [_NAME]), *map(_about, _shown(result))]
    rows = {row["method"]: row for row in _shown(result)}
    left = [row for row in rows.values() if row["n_unclustered"] < rows["ours"]["n_unclustered"]]
    if left:
        fewer = [f"{row['label']} ({pages.count(row['n_unclustered'])})" for row in left]
        sentences.append(
            f"**Ours is worse in one thing:** it leaves more photos alone than "
            f"{pages.listed(fewer)}, since it does not guess where a photo cannot be told from "
            f"chance: {_extremes(result['alone_by_size'])}."
        )
    for entry in result["printed"]:
        sentences.append(
            f"In print ({entry['place']}) {entry['label']} has F "
            f"{pages.share(entry['f'])}, {entry['n_clusters']} groups and leaves "
            f"{entry['n_unclustered']} alone."
        )
    sentences += failures(result)
    head = ["method", "F", "precision", "recall", "groups", "left alone"]
    lines = [
        [
            f"**{row['label']}**" if row["method"] == "ours" else row["label"],
            *(pages.with_spread(row, name) for name in ("f", "precision", "recall")),
            *(pages.count(row[name]) for name in ("n_clusters", "n_unclustered")),
        ]
        for row in _shown(result)
    ]
    return pages.bullets(sentences) + "\n\n" + pages.table(head, lines)


def _extremes(alone: Mapping[str, float]) -> str:
    sizes = sorted(alone, key=int)
    first, last = sizes[0], sizes[-1]
    return (
        f"{100 * alone[first]:.0f} % of the photos by cameras with {first}, "
        f"{100 * alone[last]:.0f} % by cameras with {last}"
    )


def _about(row: Mapping[str, Any]) -> str:
    label = "Ours" if row["method"] == "ours" else row["label"]
    return (
        f"{label} has F {pages.with_spread(row)} (precision {pages.share(row['precision'])}, "
        f"recall {pages.share(row['recall'])}) with {pages.count(row['n_clusters'])} groups, and "
        f"leaves {pages.count(row['n_unclustered'])} of {pages.count(row['n_images'])} alone."
    )


EXPERIMENT = Experiment(
    "few-images",
    "Text, few images per camera: 12,000 images of 400 cameras",
    _run,
    _score,
    _plot,
    _text,
    takes_data=True,  # to say itself why it does not
)
