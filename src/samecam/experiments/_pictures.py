"""How results are drawn: the same colours, marks and tables everywhere."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from samecam.datasets import SCALED
from samecam.drawing import COLOURS as COLOURS
from samecam.drawing import INK as INK
from samecam.drawing import OTHER as OTHER
from samecam.drawing import Bar as Bar
from samecam.drawing import bars as bars
from samecam.drawing import blank as blank
from samecam.drawing import colour as colour
from samecam.drawing import tidy as tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS: Mapping[str, str] = {
    "ours": "o",
    "ls-ssc": "s",
    "ls-ssc-measured": "P",
    "ssc-nc": "D",
    "lin-ls": "^",
    "ccc": "X",
}


class Cells(NamedTuple):
    """A table to be shown as shades: a row a method, a column a collection.

    Attributes
    ----------
    values : (rows, columns), None for a cell without a number
    words : what stands in the cells
    rows, columns : their names
    bold : rows that are ours
    """

    values: Sequence[Sequence[float | None]]
    words: Sequence[Sequence[str]]
    rows: Sequence[str]
    columns: Sequence[str]
    bold: frozenset[str] = frozenset({"ours"})


def shade(ax: "Axes", cells: Cells, title: str, *, least: float, most: float, cmap: str) -> None:
    """Draw a table whose cells are the darker the higher their number."""
    import numpy as np

    array = np.array([[np.nan if v is None else v for v in row] for row in cells.values], float)
    ax.imshow(array, cmap=cmap, vmin=least, vmax=most, aspect="auto")
    middle = (least + most) / 2
    for y, row in enumerate(cells.words):
        for x, word in enumerate(row):
            value = cells.values[y][x]
            light = value is not None and value > middle
            weight = "bold" if cells.rows[y] in cells.bold else "normal"
            ax.text(
                *(x, y, word),
                ha="center",
                va="center",
                fontsize=7.5,
                weight=weight,
                color="white" if light else INK,
            )
    names = [name.replace(SCALED, "\nscaled") for name in cells.columns]
    ax.set_xticks(range(len(names)), names, fontsize=8)
    ax.set_yticks(range(len(cells.rows)), cells.rows, fontsize=8.5)
    # Axes that share their rows show the names once.
    for tick, name in zip(ax.get_yticklabels(), cells.rows, strict=False):
        tick.set_fontweight("bold" if name in cells.bold else "normal")
    for edge in range(1, len(cells.rows)):
        ax.axhline(edge - 0.5, color="white", linewidth=1)
    for edge in range(1, len(cells.columns)):
        ax.axvline(edge - 0.5, color="white", linewidth=1)
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_title(title, fontsize=10, loc="left", weight="bold")


def line(ax: "Axes", method: str, label: str, xs: Sequence[float], ys: Sequence[float],
         spread: Sequence[float]) -> None:  # fmt: skip
    """A method's course with its spread; ours is drawn thicker and below the others.

    A method that was run in one place only is a hollow mark above all, so that neither hides
    the other.
    """
    ours, alone = method == "ours", len(xs) == 1
    ax.errorbar(
        xs,
        ys,
        yerr=spread if any(spread) else None,
        label=label,
        color=colour(method),
        marker=MARKERS.get(method, "v"),
        markersize=10 if alone and not ours else 7 if ours else 5,
        markerfacecolor="none" if alone and not ours else colour(method),
        markeredgewidth=1.8 if alone and not ours else 1,
        linewidth=2.6 if ours else 1.4,
        capsize=3,
        zorder=2 if ours else 2.6 if alone else 2.3,
    )


def whole_numbers(ax: "Axes") -> None:
    """Marks on the upward axis for things that are counted: no quarter of a photo."""
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(integer=True))


def at_cameras(ax: "Axes", places: Sequence[float]) -> None:
    """Marks on the axis of cameras just where there are collections."""
    values = sorted(set(places))
    ax.set_xticks(values, [f"{value:g}" for value in values], fontsize=8)
    if len(values) == 1:
        ax.set_xlim(values[0] - 1, values[0] + 1)


def printed(ax: "Axes", x: float, y: float, method: str, word: str, *, above: bool = False) -> None:
    """A number in print: a hollow star in its method's colour, with an arrow for "above"."""
    ax.plot([x], [y], marker="*", markersize=15, markerfacecolor="white", linestyle="none",
            markeredgecolor=colour(method), markeredgewidth=1.4, zorder=4)  # fmt: skip
    ax.annotate(word, (x, y), xytext=(-11, -3), textcoords="offset points", ha="right",
                fontsize=7.5, color=colour(method), zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8,
                      "alpha": 0.8} if word else None)  # fmt: skip
    if above:
        ax.annotate("", (x, y), xytext=(0, 22), textcoords="offset points",
                    arrowprops={"arrowstyle": "<-", "color": colour(method)})  # fmt: skip


def _bars_of(
    rows: Sequence[Mapping[str, Any]], name: str, printed: Mapping[str, Mapping[str, Any]]
) -> list[Bar]:
    """One number of each row of a result as a bar, with what is printed of that method."""
    return [
        Bar(
            row["method"],
            row["label"],
            row[name],
            row[f"{name}_spread"],
            printed.get(row["method"], {}).get(name),
        )
        for row in rows
    ]


def bar_panels(
    figure: "Figure",
    rows: Sequence[Mapping[str, Any]],
    panels: Sequence[tuple[str, str, Callable[[float], str]]],
    printed: Sequence[Mapping[str, Any]],
) -> "list[Axes]":
    """Panels side by side, each with one number of every row as bars, and what is in print.

    Parameters
    ----------
    rows : of a result
    panels : name of the number, title, and how it is written
    printed : entries of the result
    """
    entries = {entry["method"]: entry for entry in printed}
    axes = list(figure.subplots(1, len(panels), sharey=True))
    for ax, (name, title, word) in zip(axes, panels, strict=True):
        bars(ax, _bars_of(rows, name, entries), title, word)
    return axes


def note(figure: "Figure", text: str) -> None:
    """A line below the picture."""
    figure.supxlabel(text, fontsize=8, color="#555555", x=0.01, ha="left")


def paired(
    ax: "Axes", names: Sequence[str], values: Mapping[str, Sequence[float]], title: str
) -> None:
    """Shares from 0 to 1 as horizontal bars, first on top: a group a name, in it a bar a step."""
    height = 0.8 / len(values)
    for k, (step, shares) in enumerate(values.items()):
        places = [y + (k + 0.5) * height - 0.4 for y in range(len(names))]
        last = k == len(values) - 1
        ax.barh(places, shares, height=0.9 * height, label=f"search {step}",
                color=COLOURS["ours"] if last else OTHER)  # fmt: skip
        for y, value in zip(places, shares, strict=True):
            ax.annotate(f"{value:.2f}", (value, y), xytext=(4, 0), textcoords="offset points",
                        va="center", fontsize=8)  # fmt: skip
    ax.set_yticks(range(len(names)), names, fontsize=8.5)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(0, 1.12)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_title(title, fontsize=10, loc="left", weight="bold")


def explain(figure: "Figure", ax: "Axes") -> None:
    """Say above a picture what the colours of `paired` are."""
    lines = ax.get_legend_handles_labels()
    figure.legend(*lines, loc="outside upper right", ncols=2, fontsize=8, frameon=False)
