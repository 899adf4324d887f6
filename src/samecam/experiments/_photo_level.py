"""Experiments that begin with photographs: run, score, draw and tell them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from samecam.datasets import configuration
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context, Result
from samecam.experiments._grid import behind, cell, run_grid, score_grid, tasks
from samecam.experiments._methods import METHODS, Method
from samecam.experiments._photo_sets import (
    CONFIGURATION,
    JUDGED,
    PhotoSet,
    Setting,
    correlate_photos,
    photo_set,
    set_name,
)
from samecam.experiments._sources import Correlations, Plan, Source
from samecam.experiments._study import Run, Study
from samecam.experiments._words import count, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Axis = Literal["quality", "side"]
Settings = Callable[[PhotoSet, bool], list[Setting]]
Printed = Mapping[str, Mapping[str, float]]

# Ours, and the paper's two; LS-SSC also with the scale of chance measured, our default of it.
COMPARED = (
    METHODS["ours"],
    Method("ls-ssc-measured", "LS-SSC, σ₀ measured", "ls-ssc", "paper", random=True),
    METHODS["ls-ssc"],
    METHODS["ssc-nc"],
)
# Photos that are grouped: neither dark, as in the paper, nor saturated; and only not saturated.
SUBSETS = {"lit": "without dark photos", "good": "with dark photos"}
# Differences of F that three digits show, and differences of P and R that explain them.
_SHOWN, _NOTABLE = 0.0005, 0.005
_ONCE = 101.0  # where photos that were not compressed again stand on the axis of quality
_TABLES = {"quality": "Table III", "side": "Table IV"}


def run_photos(context: Context, name: str, settings: Settings) -> None:
    """Photographs, correlations at all settings, and every method on each of them.

    Parameters
    ----------
    context : what an experiment is given
    name : what the work is called while it goes on
    settings : the settings for a set of photos, and whether only a few are wanted
    """
    photos = photo_set(context)
    wanted = settings(photos, context.quick)
    for quality in dict.fromkeys(setting.quality for setting in wanted):
        sides = [setting.side for setting in wanted if setting.quality == quality]
        correlate_photos(context, photos, quality, sides)
    context.study.run(
        f"{photos.name}/photos",
        lambda: _population(context.study, photos, wanted),
        parameters={**photos.as_parameters(), "settings": [list(setting) for setting in wanted]},
    )
    run_grid(context, name, tasks(_plan(context.study, photos.name), COMPARED, context.runs))


def _population(study: Study, photos: PhotoSet, settings: Sequence[Setting]) -> Run:
    """Which photos are grouped, at all settings the same.

    Those that have a fingerprint at every setting and are not saturated in the square of 512
    pixels of the original ("good"); of these, those that are not dark there ("lit").
    """
    usable = np.ones(len(photos.files), dtype=bool)
    for setting in settings:
        rows = study.load(f"{photos.name}/{setting.key}/correlations").arrays["rows"]
        usable &= np.isin(np.arange(len(usable)), rows)
    judged = study.load(f"{photos.name}/{Setting(None, JUDGED).key}/correlations").arrays
    good, lit = np.zeros_like(usable), np.zeros_like(usable)
    good[judged["rows"]] = ~judged["weak"]
    lit[judged["rows"]] = ~(judged["weak"] | judged["dark"])
    masks = {"lit": usable & lit, "good": usable & good}
    if not masks["lit"].any():
        raise SamecamError(
            f"None of the {len(usable)} photos can be used at all sizes: give larger or brighter "
            "ones."
        )
    truth = photos.truth()
    facts = {
        "kind": photos.kind,
        "title": photos.title,
        "notes": list(photos.notes),
        "photos": {name: int(mask.sum()) for name, mask in masks.items()},
        "cameras": {name: len(set(truth[mask].tolist())) for name, mask in masks.items()},
        "settings": [list(setting) for setting in settings],
    }
    return Run({"truth": truth, **masks}, facts)


def _plan(study: Study, name: str) -> Plan:
    """Correlations of a set at every setting, for each choice of photos."""
    saved = study.load(f"{name}/photos")
    settings = [Setting(*setting) for setting in saved.facts["settings"]]
    return Plan(
        [_source(study, name, s, subset, saved) for s in settings for subset in SUBSETS], ()
    )


def _source(study: Study, name: str, setting: Setting, subset: str, saved: Run) -> Source:
    mask: npt.NDArray[np.bool_] = saved.arrays[subset]

    def load() -> Correlations:
        arrays = study.load(f"{name}/{setting.key}/correlations").arrays
        chosen = np.flatnonzero(mask[arrays["rows"]])
        truth = saved.arrays["truth"][arrays["rows"][chosen]]
        return Correlations(arrays["gram"][np.ix_(chosen, chosen)], truth)

    return Source(
        _configuration(name, setting, subset),
        configuration(CONFIGURATION),
        setting.side**2,
        {"photos": int(mask.sum())},
        load,
    )


def _configuration(name: str, setting: Setting, subset: str) -> str:
    return f"{name}/{setting.key}/{subset}"


def score_photos(study: Study, context: Context, axis: Axis, printed: Printed) -> dict[str, Any]:
    """Scores of all runs on a set, and what the paper prints.

    Parameters
    ----------
    axis : what differs between the settings
    printed : by quality or side, in words
    """
    name = set_name(context)
    facts = study.load(f"{name}/photos").facts
    keys = [f"{name}/{Setting(*setting).key}/correlations" for setting in facts["settings"]]
    chance = [round(study.load(key).facts["null_scale"], 7) for key in keys]
    return {
        "axis": axis,
        "set": {"name": name, **facts},
        "null_scales": chance,
        "printed": {"place": _TABLES[axis], **printed},
        **score_grid(study, tasks(_plan(study, name), COMPARED, context.runs)),
    }


def plot_photos(result: Result) -> "Figure":
    """F against quality or side: a panel for each choice of photos (and side), a line a method."""
    from samecam.experiments import _pictures

    panels = _panels(result)
    columns = min(2, len(panels))
    rows = len(panels) // columns
    figure = _pictures.blank(4.6 * columns, 0.5 + 3.2 * rows)
    axes = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for ax, (side, subset) in zip(axes, panels, strict=True):
        for method in COMPARED:
            points = _points(result, side, subset, method.key)
            xs, ys, spread = zip(*points, strict=True)
            _pictures.line(ax, method.key, method.label, xs, ys, spread)
        _mark_printed(ax, result, side)
        photos = result["set"]["photos"][subset]
        size = "" if side is None else f"{side} × {side}, "
        xlabel = "quality of the second compression" if side else "side of the square, pixels"
        _pictures.tidy(ax, f"{size}{SUBSETS[subset]} ({photos})", xlabel)
        _ticks(ax, result)
    for ax in axes[::columns]:
        ax.set_ylabel("F")
    lines = axes[0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    words = (
        "star: LS-SSC in print, VISION, 20 cameras of about 220 photos; bars: standard deviation"
    )
    _pictures.note(figure, f"{result['set']['title']}; {words}")
    return figure


def _panels(result: Result) -> list[tuple[int | None, str]]:
    """Side (None where it is the axis) and choice of photos of each panel."""
    sides: list[int | None] = [None]
    if result["axis"] == "quality":
        sides = sorted({side for _, side in result["set"]["settings"]})
    return [(side, subset) for side in sides for subset in SUBSETS]


def _settings(result: Result, side: int | None) -> list[Setting]:
    """Settings along the axis of a panel."""
    every = [Setting(*setting) for setting in result["set"]["settings"]]
    chosen = [setting for setting in every if side is None or setting.side == side]
    return sorted(chosen, key=lambda setting: (setting.quality or _ONCE, setting.side))


def _points(
    result: Result, side: int | None, subset: str, method: str
) -> list[tuple[float, float, float]]:
    """Place on the axis, F and its spread, for each setting of a panel."""
    points = []
    for setting in _settings(result, side):
        row = _row(result, setting, subset, method)
        x = setting.side if side is None else setting.quality or _ONCE
        points.append((float(x), row["f"], row["f_spread"]))
    return points


def _row(result: Result, setting: Setting, subset: str, method: str) -> Mapping[str, Any]:
    found = cell(result, _configuration(result["set"]["name"], setting, subset), method)
    if found is None:
        raise SamecamError(f"The method {method} failed at {setting.key}: see the result's runs.")
    return found


def _value(result: Result, setting: Setting) -> str:
    """What a setting is called in tables and in what is printed."""
    if result["axis"] == "side":
        return str(setting.side)
    return "none" if setting.quality is None else str(setting.quality)


def _mark_printed(ax: Any, result: Result, side: int | None) -> None:
    from samecam.experiments import _pictures

    for value, numbers in result["printed"].items():
        if value.isdigit() and side in (None, JUDGED):
            _pictures.printed(ax, float(value), numbers["f"], "ls-ssc", "")


def _ticks(ax: Any, result: Result) -> None:
    places = {setting.side if result["axis"] == "side" else setting.quality or _ONCE:
              _value(result, setting) for setting in _settings(result, None)}  # fmt: skip
    ax.set_xticks(list(places), list(places.values()), fontsize=8)
    lowest = min(row["f"] - row["f_spread"] for row in result["rows"] if row["runs"])
    ax.set_ylim(0.5 if lowest > 0.5 else -0.03, 1.03)


def introduce(result: Result) -> str:
    """What was run, on what."""
    about = result["set"]
    simulated = (
        ", rendered by the simulator at 1.3 megapixels" if about["kind"] == "simulated" else ""
    )
    runs = max(row["runs"] for row in result["rows"])
    notes = "".join(f" {note}" for note in about["notes"])
    return (
        f"These are {about['title']}{simulated}.{notes} The paper has 20 cameras of VISION with "
        "about 220 photos each, so what it prints stands beside ours for its course, not for its "
        "height. All methods get the same fingerprints of the same photos: without dark ones, "
        "as in the paper, and without saturated ones; and again with the dark ones. Methods with "
        f"chance in them run {runs} times; ± is the standard deviation."
    )


def tables(result: Result) -> str:
    """A table for each panel: F of all methods, and more of ours."""
    return "\n\n".join(_table(result, side, subset) for side, subset in _panels(result))


def _table(result: Result, side: int | None, subset: str) -> str:
    about, place = result["set"], result["printed"]["place"]
    size = "" if side is None else f"{side} × {side} pixels, "
    heading = (
        f"{size}{SUBSETS[subset]} ({about['photos'][subset]} photos of "
        f"{about['cameras'][subset]} cameras):"
    )
    others = [method.label for method in COMPARED[1:]]
    first = "side" if side is None else "quality"
    head = [first, "ours F (P, R)", "unclustered", *others, f"LS-SSC in print ({place})"]
    rows = [_cells(result, setting, side, subset) for setting in _settings(result, side)]
    return f"{heading}\n\n{table(head, rows)}"


def _cells(result: Result, setting: Setting, side: int | None, subset: str) -> list[str]:
    """One row of a table."""
    ours, *rest = [_row(result, setting, subset, method.key) for method in COMPARED]
    in_print = result["printed"].get(_value(result, setting))
    shown = in_print is not None and side in (None, JUDGED)
    return [
        _value(result, setting),
        f"**{number(ours['f'])}** ({number(ours['precision'])}, {number(ours['recall'])})",
        count(ours["n_unclustered"]),
        *(_with_spread(row) for row in rest),
        number(in_print["f"], 2) if shown else "–",
    ]


def _with_spread(row: Mapping[str, Any]) -> str:
    if row["runs"] < 2 or row["f_spread"] < _SHOWN:
        return number(row["f"])
    return f"{number(row['f'])} ± {number(row['f_spread'])}"


def number(value: float, digits: int = 3) -> str:
    """A share without the nought before the point."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("0") if value < 1 else text


def where_behind(result: Result) -> str:
    """Where another method has the higher F, how much, and what ours gives up there."""
    lost = {(row["configuration"], row["method"]): row for row in behind(result, _SHOWN)}
    lines = []
    for side, subset in _panels(result):
        for method in COMPARED[1:]:
            settings = [
                setting
                for setting in _settings(result, side)
                if (_configuration(result["set"]["name"], setting, subset), method.key) in lost
            ]
            if settings:
                where = SUBSETS[subset] if side is None else f"{side} × {side}, {SUBSETS[subset]}"
                lines.append(f"- {where}: {_lost(result, settings, subset, method)}")
    if not lines:
        return "In F, no method is ahead of ours by .0005 or more at any of these."
    return "Ours is behind in F by .0005 or more here:\n\n" + "\n".join(lines)


def _lost(result: Result, settings: Sequence[Setting], subset: str, method: Method) -> str:
    """One method's lead over ours: at which settings, and the largest in numbers."""
    pairs = {
        setting: tuple(_row(result, setting, subset, key) for key in ("ours", method.key))
        for setting in settings
    }
    most = max(settings, key=lambda setting: pairs[setting][1]["f"] - pairs[setting][0]["f"])
    ours, other = pairs[most]
    axis = "side" if result["axis"] == "side" else "quality"
    places = ", ".join(_value(result, setting) for setting in settings)
    return (
        f"{method.label} at {axis} {places}. Most at {_value(result, most)}, "
        f"{_scores(other)} against {_scores(ours)}: {_reason(ours, other)}."
    )


def _scores(row: Mapping[str, Any]) -> str:
    f, precision, recall = (number(row[name]) for name in ("f", "precision", "recall"))
    return f"{f} (P {precision}, R {recall})"


def _reason(ours: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """What makes the difference: pairs not found, pairs wrongly made, or both."""
    if other["precision"] < 0.5:
        return (
            "most pairs that it puts together are of different cameras, where ours rather leaves "
            f"{ours['n_unclustered']:.0f} of {ours['n_images']:.0f} photos without a group"
        )
    missed = other["recall"] - ours["recall"] > _NOTABLE
    wrong = other["precision"] - ours["precision"] > _NOTABLE
    left = ours["n_unclustered"] - other["n_unclustered"]
    if missed and not wrong and left >= 0.5:
        more = "one more photo" if round(left) == 1 else f"{left:.0f} more photos"
        return f"ours leaves {more} without a group"
    if missed and not wrong:
        return "ours splits cameras over more groups"
    if wrong and not missed:
        return "ours puts more photos of different cameras together"
    return "ours is behind in both" if wrong else "a small difference in both"
