"""How many photos each camera took, and in how many groups they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from samecam.case import Camera
from samecam.drawing import COLOURS, INK, OTHER, tidy
from samecam.notebook import counted
from samecam.plots._case import CaseLike, axes, figure_of, opened, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 25
_ROW = 0.3


def groups(case: CaseLike, *, ax: Axes | None = None) -> Figure:
    """Draw a bar a camera, largest first, parted where its groups end.

    Photos in no group that see the camera in a way of their own are hatched; beside the bar stands
    what EXIF says. Photos of no camera are the last bar.

    Parameters
    ----------
    case : a clustered case, its folder, or a result
    ax : axes of matplotlib to draw into; by default a figure of its own

    Examples
    --------
    >>> samecam.plots.groups("CASE").savefig("groups.png")
    """
    saved = opened(case)
    cameras, alone = saved.cameras[:_MOST], len(saved.alone)
    rest = saved.cameras[_MOST:]
    labels = [f"camera {camera.id}" for camera in cameras]
    labels += [f"{len(rest)} more"] * bool(rest) + ["no camera"] * bool(alone)
    ax = axes(ax, 8, 1.1 + _ROW * max(len(labels), 2))
    ends = [_bar(ax, y, camera) for y, camera in enumerate(cameras)]
    words = [_beside(camera) for camera in cameras]
    for number in (sum(camera.size for camera in rest), alone):
        if number:
            ax.barh(len(ends), number, height=0.7, color=OTHER)
            words.append(str(number))
            ends.append(number)
    for y, (end, word) in enumerate(zip(ends, words, strict=True)):
        ax.annotate(word, (end, y), xytext=(4, 0), textcoords="offset points", va="center",
                    fontsize=8, color=INK)  # fmt: skip
    room = 1.5 if any(camera.exif_names for camera in cameras) else 1.12
    _lay_out(ax, labels, room * max(ends, default=1))
    photos = counted(len(saved.used), "photo")
    tidy(ax, f"{photos} by {counted(len(saved.cameras), 'camera')}", "photos")
    ax.grid(visible=False)
    return figure_of(ax)


def _bar(ax: Axes, y: int, camera: Camera) -> int:
    """One camera; where its bar ends."""
    end = 0
    for group in camera.groups:
        ax.barh(y, group.size, left=end, height=0.7, color=COLOURS["ours"], edgecolor="white")
        end += group.size
    if camera.placed:
        ax.barh(y, len(camera.placed), left=end, height=0.7, color="white",
                edgecolor=COLOURS["ours"], hatch="////")  # fmt: skip
    return end + len(camera.placed)


def _beside(camera: Camera) -> str:
    exif = text(", ".join(camera.exif_names))
    return f"{camera.size}" + (f"   {exif}" if exif else "")


def _lay_out(ax: Axes, labels: Sequence[str], end: float) -> None:
    """Names of the rows, first on top, and room for the words behind the bars."""
    from matplotlib.ticker import MaxNLocator

    ax.set_yticks(range(len(labels)), labels, fontsize=8.5)
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    ax.set_xlim(0, end)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    ax.tick_params(axis="y", length=0)
