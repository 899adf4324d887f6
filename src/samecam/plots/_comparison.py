"""Methods side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from samecam.case import ComparedMethod, Comparison
from samecam.drawing import Bar, bars, blank
from samecam.errors import SamecamError
from samecam.plots._case import figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OURS, _SHARE = "consolidated", "{:.3f}"
_BESIDE = 3  # panels
Panel: TypeAlias = "tuple[str, list[float], str]"


def comparison(compared: Comparison, *, ax: Axes | None = None) -> Figure:
    """Draw how methods fare on one case: scores, if the truth is known, seconds and memory.

    Parameters
    ----------
    compared : what `samecam.compare_methods` gives
    ax : axes of matplotlib for the first of these alone; by default a figure with all

    Examples
    --------
    >>> compared = samecam.compare_methods("CASE", ["consolidated", "ssc-nc"], truth="truth.csv")
    >>> samecam.plots.comparison(compared).savefig("comparison.png")
    """
    rows = [row for row in compared.rows if not row.failure]
    if not rows:
        raise SamecamError(f"No method gave an answer on {str(compared.case)!r}: nothing to draw.")
    panels = _panels(rows)
    if ax is not None:
        _panel(ax, rows, panels[0])
        return figure_of(ax)
    lines = -(-len(panels) // _BESIDE)
    figure = blank(3.0 * _BESIDE + 1.4, lines * (0.8 + 0.32 * max(len(rows), 2)))
    drawn = list(figure.subplots(lines, _BESIDE, sharey=True).flat)
    for k, one in enumerate(drawn[: len(panels)]):
        _panel(one, rows, panels[k])
        one.tick_params(labelleft=k % _BESIDE == 0)
    for one in drawn[len(panels) :]:
        one.remove()
    _first_on_top(figure)
    return figure


def _panel(ax: Axes, rows: list[ComparedMethod], panel: Panel) -> None:
    """One bar a method; shares go up to 1 in all panels."""
    title, values, word = panel
    named = [
        Bar("ours" if row.method == _OURS else row.method, row.method, value, 0.0, None)
        for row, value in zip(rows, values, strict=True)
    ]
    bars(ax, named, title, word.format)
    if word == _SHARE:
        ax.set_xlim(0, 1.2)
        ax.set_xticks([0, 0.5, 1])


def _panels(rows: list[ComparedMethod]) -> list[Panel]:
    """Title, a number a method, and how it is written."""
    if all(row.scores is not None for row in rows):
        scores = [row.scores for row in rows if row.scores is not None]
        first = [
            ("F", [s.f for s in scores], _SHARE),
            ("precision", [s.precision for s in scores], _SHARE),
            ("recall", [s.recall for s in scores], _SHARE),
        ]
    else:
        first = [("photos in no group", [float(row.unclustered or 0) for row in rows], "{:.0f}")]
    seconds = ("seconds", [row.seconds or 0.0 for row in rows], "{:.2g}")
    memory = ("peak memory, MiB", [(row.peak_memory or 0) / 2**20 for row in rows], "{:.0f}")
    return [*first, seconds, memory]


def _first_on_top(figure: Figure) -> None:
    """Axes that share their rows were each turned upside down: turn them once."""
    first = figure.axes[0]
    low, high = first.get_ylim()
    if low < high:
        first.invert_yaxis()
