"""What is drawn of, and where."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias, cast

from samecam.case import SavedCase, open_case
from samecam.drawing import blank
from samecam.inputs import PathLike
from samecam.notebook import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CaseLike: TypeAlias = "SavedCase | PathLike"
_LONGEST = 34


def opened(case: CaseLike) -> SavedCase:
    """The case that is meant: a folder, a result, or a case that is open."""
    return case if isinstance(case, SavedCase) else open_case(os.fspath(case))


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw into: those given, or those of a figure of their own."""
    return blank(width, height).subplots() if ax is None else ax


def figure_of(ax: Axes) -> Figure:
    """The figure that axes are of."""
    return cast("Figure", ax.figure)


def legend(ax: Axes, *, own: bool) -> None:
    """What marks mean, each once: below a figure of our own, inside axes that were given."""
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    given = (list(once.values()), list(once))
    if own:
        figure_of(ax).legend(*given, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    else:
        ax.legend(*given, loc="best", fontsize=8)


def text(words: str, longest: int = _LONGEST) -> str:
    """Words that somebody else wrote, as matplotlib draws them: never taken as formulas."""
    words = shown(words)
    words = words if len(words) <= longest else words[: longest - 1] + "…"
    return words.replace("$", r"\$")
