"""How far members are above what strangers show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from samecam.arrays import Doubles
from samecam.case import CasePhoto, SavedCase
from samecam.drawing import COLOURS, INK, LIGHT, tidy
from samecam.errors import SamecamError
from samecam.evidence import STRANGERS
from samecam.plots._case import CaseLike, axes, figure_of, legend, opened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 25
_ROW = 0.34
_RATE = 1e-3
_LINEAR = 4.0
_TICKS = (-8, -4, 0, *(2**k for k in range(2, 13)))


def evidence(case: CaseLike, *, ax: Axes | None = None) -> Figure:
    """Draw the score of every photo of a camera, and what it has with the nearest other group.

    A row a camera; the gray band is where 998 of 1,000 photos by strangers lie, by the law of
    strangers. Hollow marks are members that are doubtful.

    Parameters
    ----------
    case : a clustered case that was weighed, its folder, or a result
    ax : axes of matplotlib to draw into; by default a figure of its own

    Examples
    --------
    >>> samecam.plots.evidence("CASE").savefig("evidence.png")
    """
    saved = opened(case)
    rows = _members(saved)
    if not rows:
        raise SamecamError(
            f"{str(saved.folder)!r} has no scores to draw: it has no camera, or was not weighed."
        )
    own = ax is None
    ax = axes(ax, 8, 1.8 + _ROW * max(len(rows), 3))
    low, high = STRANGERS.score(1 - _RATE), STRANGERS.score(_RATE)
    ax.axvspan(low, high, color=LIGHT, linewidth=0, zorder=0,
               label=f"998 of 1,000 strangers ({low:.1f} to {high:.1f})")  # fmt: skip
    for y, members in enumerate(rows.values()):
        _row(ax, y, members)
    _lay_out(ax, [f"camera {camera}" for camera in rows])
    most = f" ({_MOST} largest cameras)" if len(saved.cameras) > _MOST else ""
    tidy(ax, f"Scores with the own camera and the nearest other group{most}",
         f"score, in units of chance (even up to {_LINEAR:g}, then by powers)")  # fmt: skip
    ax.grid(visible=False)
    ax.grid(axis="x", color=LIGHT, linewidth=0.7)
    legend(ax, own=own)
    return figure_of(ax)


def _members(saved: SavedCase) -> dict[int, list[CasePhoto]]:
    """Photos with a score, by camera, of the largest cameras."""
    rows: dict[int, list[CasePhoto]] = {}
    for photo in saved.used:
        camera = photo.cluster
        if camera is not None and 0 <= camera < _MOST and photo.figure("score") is not None:
            rows.setdefault(camera, []).append(photo)
    return dict(sorted(rows.items()))


def _row(ax: Axes, y: int, members: list[CasePhoto]) -> None:
    own = np.array([photo.figure("score") for photo in members], dtype=np.float64)
    other = np.array([photo.figure("nearest_score") for photo in members], dtype=np.float64)
    doubtful = np.array([photo.doubtful for photo in members])
    places = y + _spread(len(members))
    known = ~np.isnan(other)
    if known.any():
        ax.scatter(other[known], places[known], s=14, marker="x", linewidths=1,
                   color=COLOURS["ls-ssc"], label="with the nearest other group")  # fmt: skip
    for some, fill, words in (
        (~doubtful, COLOURS["ours"], "with its own camera"),
        (doubtful, "white", "with its own, doubtful"),
    ):
        if some.any():
            ax.scatter(own[some], places[some], s=20, color=fill, edgecolors=COLOURS["ours"],
                       linewidths=1, label=words)  # fmt: skip


def _spread(n: int) -> Doubles:
    """Places beside one another within a row, the same for the same number."""
    golden = (np.arange(n) * 0.618034) % 1.0
    return np.asarray((golden - 0.5) * 0.6)


def _lay_out(ax: Axes, labels: list[str]) -> None:
    from matplotlib.ticker import NullLocator

    ax.set_xscale("symlog", linthresh=_LINEAR, linscale=0.6)
    lowest, highest = ax.get_xlim()
    inside = [
        t for t in (-8, -4, 0, 4, 8, 16, 32, 64, 128, 256, 512, 1024) if lowest <= t <= highest
    ]
    ax.set_xticks(inside, [str(t) for t in inside])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_yticks(range(len(labels)), labels, fontsize=8.5, color=INK)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
