"""Experiments that begin with photographs: run, score and draw them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from samecam.datasets import configuration
from samecam.errors import SamecamError
from samecam.experiments._experiment import Context, Result
from samecam.experiments._grid import cell, grid_runs, run_grid, score_grid
from samecam.experiments._leads import leads
from samecam.experiments._methods import METHODS, Method
from samecam.experiments._photo_correlations import correlate_photos
from samecam.experiments._photo_sets import (
    CONFIGURATION,
    JUDGED,
    PhotoSet,
    Setting,
    photo_set,
    set_name,
)
from samecam.experiments._sources import Correlations, Plan, Source
from samecam.experiments._study import Run, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Axis = Literal["quality", "side"]
Settings = Callable[[PhotoSet, bool], list[Setting]]
Printed = Mapping[str, Mapping[str, float]]
Row = Mapping[str, Any]

# Ours; the paper's two, LS-SSC also with the scale of chance measured, our default of it; and the
# rivals that come near to ours on photographs.
COMPARED = (
    METHODS["ours"],
    METHODS["ls-ssc"],
    Method("ls-ssc-measured", "LS-SSC (σ₀ measured)", "ls-ssc", "paper", random=True),
    METHODS["ssc-nc"],
    METHODS["lin-ls"],
    METHODS["lin-ls-measured"],
    METHODS["ccc"],
)
# Photos that are grouped: neither dark, as in the paper, nor saturated; and only not saturated.
SUBSETS = {"lit": "without dark photos", "good": "with dark photos"}
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
    run_grid(context, name, grid_runs(_plan(context.study, photos.name), COMPARED, context.runs))


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
        configuration_name(name, setting, subset),
        configuration(CONFIGURATION),
        setting.side**2,
        {"photos": int(mask.sum())},
        load,
    )


def configuration_name(name: str, setting: Setting, subset: str) -> str:
    """What a setting and a choice of photos of a set are called in runs and rows."""
    return f"{name}/{setting.key}/{subset}"


def score_photos(study: Study, context: Context, axis: Axis, printed: Printed) -> dict[str, Any]:
    """Scores of all runs on a set, and what the paper prints.

    Parameters
    ----------
    axis : what differs between the settings
    printed : numbers of the paper, by quality or side as text
    """
    name = set_name(context)
    facts = study.load(f"{name}/photos").facts
    keys = [f"{name}/{Setting(*setting).key}/correlations" for setting in facts["settings"]]
    chance = [round(study.load(key).facts["null_scale"], 7) for key in keys]
    scored = score_grid(study, grid_runs(_plan(study, name), COMPARED, context.runs))
    return {
        "axis": axis,
        "set": {"name": name, **facts},
        "null_scales": chance,
        "printed": {"place": _TABLES[axis], **printed},
        **scored,
        "leads": leads(study, scored),
    }


def plot_photos(result: Result) -> "Figure":
    """F against quality or side: a panel for each choice of photos (and side), a line a method."""
    from samecam.experiments import _pictures

    panels = panels_of(result)
    columns = min(2, len(panels))
    rows = len(panels) // columns
    figure = _pictures.blank(4.9 * columns, 0.8 + 3.4 * rows)
    axes = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for ax, (side, subset) in zip(axes, panels, strict=True):
        for method in methods_of(result):
            points = _points(result, side, subset, method.key)
            xs, ys, spread = zip(*points, strict=True) if points else ((), (), ())
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


def methods_of(result: Result) -> list[Method]:
    """The methods of a result, ours first."""
    there = {row["method"] for row in result["rows"]}
    return [method for method in COMPARED if method.key in there]


def panels_of(result: Result) -> list[tuple[int | None, str]]:
    """Side (None where it is the axis) and choice of photos of each panel."""
    sides: list[int | None] = [None]
    if result["axis"] == "quality":
        sides = sorted({side for _, side in result["set"]["settings"]})
    return [(side, subset) for side in sides for subset in SUBSETS]


def settings_of(result: Result, side: int | None) -> list[Setting]:
    """Settings along the axis of a panel."""
    every = [Setting(*setting) for setting in result["set"]["settings"]]
    chosen = [setting for setting in every if side is None or setting.side == side]
    return sorted(chosen, key=lambda setting: (setting.quality or _ONCE, setting.side))


def _points(
    result: Result, side: int | None, subset: str, method: str
) -> list[tuple[float, float, float]]:
    """Place on the axis, F and its spread, for each setting of a panel that the method did."""
    points = []
    for setting in settings_of(result, side):
        row = row_of(result, setting, subset, method)
        x = setting.side if side is None else setting.quality or _ONCE
        if row is not None:
            points.append((float(x), row["f"], row["f_spread"]))
    return points


def row_of(result: Result, setting: Setting, subset: str, method: str) -> Row | None:
    """The row of a method at a setting; None where it failed."""
    return cell(result, configuration_name(result["set"]["name"], setting, subset), method)


def value_of(result: Result, setting: Setting) -> str:
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
              value_of(result, setting) for setting in settings_of(result, None)}  # fmt: skip
    ax.set_xticks(list(places), list(places.values()), fontsize=8)
    lowest = min(row["f"] - row["f_spread"] for row in result["rows"] if row["runs"])
    ax.set_ylim(0.5 if lowest > 0.5 else -0.03, 1.03)
