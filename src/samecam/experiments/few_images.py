"""The paper's test with few images: 400 cameras of 10 to 50 images each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from samecam import pages
from samecam.datasets import twin
from samecam.errors import SamecamError
from samecam.experiments import _paper, _pictures
from samecam.experiments._experiment import Context, Experiment, Result, Told
from samecam.experiments._grid import GridRun, cell, grid_runs, rounded, run_grid, score_grid
from samecam.experiments._methods import METHODS
from samecam.experiments._sources import Plan, twin_source
from samecam.experiments._study import Study
from samecam.experiments._text import bold, failures, standing

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
    panels = (
        ("f", "F", pages.share),
        ("n_clusters", "groups (there are 400 cameras)", pages.count),
        ("n_unclustered", "photos left without a group", pages.count),
    )
    _, groups, _ = _pictures.bar_panels(figure, _shown(result), panels, result["printed"])
    groups.axvline(400, color="#888888", linewidth=0.9, linestyle="--", zorder=0.5)
    _pictures.note(figure, "Star: what the paper prints.")
    return figure


_ABOUT = "In brackets: what is in print of that method."


def _tell(result: Result) -> Told:
    sentences = [standing(result, [_NAME])]
    rows = {row["method"]: row for row in _shown(result)}
    left = [row for row in rows.values() if row["n_unclustered"] < rows["ours"]["n_unclustered"]]
    if left:
        fewer = pages.listed([row["label"] for row in left])
        sentences.append(
            f"**Ours leaves more photos alone** than {fewer}: {_extremes(result['alone_by_size'])}."
        )
    sentences += failures(result)
    printed = {entry["method"]: entry for entry in result["printed"]}
    head = ["method", "F", "precision", "recall", "groups", "left alone"]
    lines = []
    for row in _shown(result):
        entry = printed.get(row["method"])
        also = dict.fromkeys(("f", "n_clusters", "n_unclustered"), "")
        if entry is not None:
            also = {name: f" ({entry[name]})" for name in also}
            also["f"] = f" ({pages.share(entry['f'])})"
        lines.append(
            [
                bold(row),
                pages.with_spread(row) + also["f"],
                *(pages.with_spread(row, name) for name in ("precision", "recall")),
                *(pages.count(row[name]) + also[name] for name in ("n_clusters", "n_unclustered")),
            ]
        )
    return Told(sentences, pages.table(head, lines))


def _extremes(alone: Mapping[str, float]) -> str:
    sizes = sorted(alone, key=int)
    first, last = sizes[0], sizes[-1]
    return (
        f"{alone[first]:.0%} of the photos by cameras with {first}, "
        f"{alone[last]:.0%} by cameras with {last}"
    )


EXPERIMENT = Experiment(
    "few-images",
    "Text, few images per camera: 12,000 images of 400 cameras",
    _run,
    _score,
    _plot,
    _ABOUT,
    _tell,
    takes_data=True,  # to say itself why it does not
)
