"""What the groups of one camera see of its frame."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from samecam.case import Camera, SavedCase
from samecam.drawing import INK, LIGHT
from samecam.errors import ParameterError, SamecamError
from samecam.frames import Frame
from samecam.notebook import counted
from samecam.plots._case import CaseLike, axes, figure_of, legend, opened, text
from samecam.register import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 8
# Colours and lines that can be told apart without seeing many colours.
_LINES = (
    *(("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("#CC79A7", ":")),
    *(("#E69F00", "-"), ("#56B4E9", "--"), ("#8C6D1F", "-."), ("#222222", ":")),
)
_CORNERS = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)], dtype=np.float64)


def views(case: CaseLike, *, camera: int | None = None, ax: Axes | None = None) -> Figure:
    """Draw the frame of a camera, and in it what its groups and further photos see.

    A zoomed picture sees a smaller part; the mark is on its first corner, so that turns show.

    Parameters
    ----------
    case : a clustered case of whole frames, its folder, or a result
    camera : its number; by default the first that is seen in several ways
    ax : axes of matplotlib to draw into; by default a figure of its own

    Examples
    --------
    >>> samecam.plots.views("CASE", camera=0).savefig("views.png")
    """
    saved = opened(case)
    chosen = _chosen(saved, camera)
    whole = Frame.named(chosen.groups[0].frame or "")
    own = ax is None
    ax = axes(ax, 7, 6)
    ax.fill([0, whole.width, whole.width, 0], [0, 0, whole.height, whole.height], color=LIGHT)
    seen = [(g.frame, g.view, f"{counted(g.size, 'photo')}, {g.words}") for g in chosen.groups]
    seen += [(p.frame, p.view, f"{text(p.path, 24)}, {p.words}") for p in chosen.placed]
    for (frame, view, words), (colour, line) in zip(seen, _LINES, strict=False):
        if frame is not None and view is not None:
            _outline(ax, Frame.named(frame), view, whole, (colour, line, words))
    ax.set_aspect("equal", adjustable="datalim")
    ax.invert_yaxis()
    ax.margins(0.05)
    ax.set_xlabel("pixels of the camera's frame")
    ax.spines[["top", "right"]].set_visible(False)
    more = f" ({len(seen) - _MOST} more not shown)" if len(seen) > _MOST else ""
    title = f"Camera {chosen.id} is seen in {counted(len(seen), 'way')}{more}"
    ax.set_title(title, fontsize=10, loc="left", weight="bold", color=INK)
    legend(ax, own=own)
    return figure_of(ax)


def _chosen(saved: SavedCase, number: int | None) -> Camera:
    """The camera that is meant, or an error: there is none with views."""
    if number is not None:
        if not 0 <= number < len(saved.cameras):
            raise ParameterError(
                "camera",
                f"{{name}} is {number}, and {str(saved.folder)!r} has "
                f"{counted(len(saved.cameras), 'camera')}, numbered from 0: name one of them.",
            )
        several = [saved.cameras[number]]
    else:
        several = [c for c in saved.cameras if len(c.groups) + len(c.placed) > 1]
    if not several or several[0].groups[0].view is None:
        raise SamecamError(
            f"{str(saved.folder)!r} has no camera whose views can be drawn: squares have none, and "
            "of others a camera must be seen in several ways."
        )
    return several[0]


def _outline(
    ax: Axes, picture: Frame, view: View, camera: Frame, style: tuple[str, str, str]
) -> None:
    """The edge of what a picture sees, bent as the lens correction bends it."""
    colour, line, words = style
    edge = np.concatenate([np.linspace(a, b, 20) for a, b in pairwise(_CORNERS)])
    points = view.points(edge * (picture.width - 1, picture.height - 1), picture, camera)
    ax.plot(*points.T, color=colour, linestyle=line, linewidth=1.8, label=words)
    ax.plot(*points[0], marker="o", markersize=6, color=colour)
