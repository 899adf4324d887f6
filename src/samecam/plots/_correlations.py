"""Correlations of all pairs, in the order of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from samecam import compute
from samecam.arrays import Labels, Mask
from samecam.drawing import COLOURS
from samecam.notebook import counted
from samecam.plots._case import CaseLike, axes, figure_of, opened
from samecam.report import Correlations
from samecam.report import correlations as correlate_case

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEAST = 6.0  # of the strongest colour, in units of chance
_SHOWN = 0.8  # of what lies within groups reaches it not
_ROOM = 0.035  # of the side, that a label needs


def correlations(
    case: CaseLike,
    *,
    ax: Axes | None = None,
    memory: int | None = None,
    progress: compute.Progress | None = None,
) -> Figure:
    """Draw the correlations of all pairs of photos as shades, in the order of groups.

    Groups are squares on the diagonal, outlined; photos in none come last. Photos of two widths or
    heights are not compared: hatched. Of more than 2,000 photos so many are drawn evenly.

    Parameters
    ----------
    case : a clustered case, its folder, or a result
    ax : axes of matplotlib to draw into; by default a figure of its own
    memory : bytes for the correlations
    progress : called as progress(phase, done, total) from time to time

    Examples
    --------
    >>> samecam.plots.correlations("CASE").savefig("correlations.png", dpi=200)
    """
    saved = opened(case)
    room = compute.Resources(memory=memory).memory_for("cpu")
    with saved.open_store() as store:
        given = correlate_case(saved, store, room, compute.shown_progress(progress))
    ax = axes(ax, 7.4, 6.4)
    values = given.in_units_of_chance()
    apart = ~given.compared
    np.fill_diagonal(apart, True)
    image = ax.imshow(
        np.ma.masked_where(apart, values),
        cmap="Blues",
        vmin=0,
        vmax=_strongest(given, values, apart),
        interpolation="nearest" if len(values) <= 300 else "antialiased",
    )
    ax.patch.set(hatch="....", edgecolor="#bbbbbb", facecolor="white")
    _outline(ax, given.labels, {group.id: group.camera for group in saved.groups})
    ax.figure.colorbar(image, ax=ax, label="correlation, in units of chance", shrink=0.8)
    some = f"{len(given.labels)} of {given.total}" if given.sampled else str(given.total)
    title = f"{some} photos in the order of their {counted(len(saved.groups), 'group')}"
    ax.set_title(title, fontsize=10, loc="left", weight="bold")
    return figure_of(ax)


def _strongest(given: Correlations, values: np.ndarray[tuple[int, int], np.dtype[np.float32]],
               apart: Mask) -> float:  # fmt: skip
    """What the full colour stands for: a fifth of what lies within groups reaches it."""
    same = (given.labels[:, np.newaxis] == given.labels) & (given.labels >= 0) & ~apart
    return max(_LEAST, float(np.quantile(values[same], _SHOWN))) if same.any() else _LEAST


def _outline(ax: Axes, labels: Labels, camera_of: dict[int, int]) -> None:
    """Squares around groups, each named if there is room."""
    from matplotlib.patches import Rectangle

    ticks, names, last = [], [], -np.inf
    for group in dict.fromkeys(labels.tolist()):
        at = np.flatnonzero(labels == group)
        start, size = at[0] - 0.5, len(at)
        if group >= 0:
            square = Rectangle((start, start), size, size, fill=False,
                               edgecolor=COLOURS["ls-ssc"], linewidth=1.2)  # fmt: skip
            ax.add_patch(square)
        middle = start + size / 2
        if middle - last >= _ROOM * len(labels):
            ticks.append(middle)
            named = f"camera {camera_of[group]}, group {group}" if group >= 0 else "in no group"
            names.append(named)
            last = middle
    ax.set_yticks(ticks, names, fontsize=8)
    ax.set_xticks([])
    ax.tick_params(length=0)
