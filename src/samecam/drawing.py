"""How pictures are begun and kept tidy: the same colours and axes everywhere."""

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from samecam.errors import SamecamError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "INK", "LIGHT", "OTHER", "Bar", "bars", "blank", "colour", "tidy"]

# Okabe and Ito's colours, which people who see few colours can tell apart; ours is the darkest.
COLOURS: Mapping[str, str] = {
    "ours": "#0072B2",
    "ls-ssc": "#D55E00",
    "ssc-nc": "#E69F00",
    "ssc": "#CC79A7",
    "lin-ls": "#009E73",
    "lin-ls-measured": "#56B4E9",
    "ls-ssc-measured": "#8C6D1F",
    "ccc": "#666666",
}
OTHER = "#999999"
INK, LIGHT = "#222222", "#dddddd"


def blank(width: float, height: float) -> "Figure":
    """An empty figure; an error if matplotlib is missing.

    It is not one of pyplot's, which would keep it; a notebook shows it all the same.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SamecamError("Plots need matplotlib: install samecam[plots].") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    setattr(figure, "_repr_png_", partial(_png, figure))  # noqa: B010, a notebook asks for it
    return figure


def _png(figure: "Figure") -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100)
    return stream.getvalue()


def tidy(ax: "Axes", title: str, xlabel: str = "", ylabel: str = "") -> None:
    """Axes as all results have them."""
    ax.set_title(title, fontsize=10, loc="left", weight="bold")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=LIGHT, linewidth=0.7)
    ax.set_axisbelow(True)


def colour(method: str) -> str:
    """The colour of a method."""
    return COLOURS.get(method, OTHER)


class Bar(NamedTuple):
    """One bar: a method's number, its spread, and what is printed (None: nothing)."""

    method: str
    label: str
    value: float
    spread: float
    in_print: float | None


def bars(ax: "Axes", rows: Sequence[Bar], title: str, word: Callable[[float], str]) -> None:
    """Horizontal bars, first on top, each with its number as text; a star is a number in print."""
    places = list(range(len(rows)))
    spreads = [r.spread or float("nan") for r in rows]
    ax.barh(places, [r.value for r in rows], xerr=spreads, height=0.62,
            color=[colour(r.method) for r in rows],
            error_kw={"ecolor": INK, "elinewidth": 1, "capsize": 2})  # fmt: skip
    for y, row in zip(places, rows, strict=True):
        end, near = row.value + row.spread, 0.06 * max(r.value for r in rows)
        starred = row.in_print is not None and -near < row.in_print - end < 2 * near
        end = max(end, row.in_print or 0) if starred else end
        ax.annotate(word(row.value), (end, y), xytext=(10 if starred else 4, 0),
                    textcoords="offset points", va="center", fontsize=8,
                    weight="bold" if row.method == "ours" else "normal",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
        if row.in_print is not None:
            ax.plot([row.in_print], [y], marker="*", markersize=13, markerfacecolor="white",
                    markeredgecolor=INK, linestyle="none", zorder=4)  # fmt: skip
    ax.set_yticks(places, [r.label for r in rows])
    for tick, row in zip(ax.get_yticklabels(), rows, strict=False):
        tick.set_fontweight("bold" if row.method == "ours" else "normal")
    ax.invert_yaxis()
    ax.margins(x=0.16)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_title(title, fontsize=10, loc="left", weight="bold")
