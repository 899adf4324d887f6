"""The picture of the choice of hyperparameters."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from samecam import pages
from samecam.experiments import _pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A colour and a mark for each side, and for each K.
_LINES = (
    *(("#E69F00", "v"), ("#0072B2", "o"), ("#009E73", "D"), ("#CC79A7", "s")),
    *(("#56B4E9", "^"), ("#D55E00", "P"), ("#222222", "X")),
)
_NAMES = {
    "dev": "twin of the development set",
    "weak": "20 weak cameras",
    "Da5": "twin of 5 cameras of Dresden",
    "real": "photographs",
}


def plot(result: Mapping[str, Any]) -> "Figure":
    """η, F and cost against γ above; precision and cameras found against recycling below."""
    figure = _pictures.blank(13.2, 7.6)
    axes = figure.subplots(2, 3)
    _eta(axes[0, 0], result["etas"])
    sets = list(dict.fromkeys(entry["set"] for entry in result["gammas"]))
    _gamma(axes[0, 1], [e for e in result["gammas"] if e["set"] == sets[-1]], "f")
    _gamma(axes[0, 2], [e for e in result["gammas"] if e["set"] == sets[0]], "cost")
    theirs = [entry for entry in result["recycling"] if entry["preset"] == "paper"]
    ours = [entry for entry in result["recycling"] if entry["preset"] == "default"]
    _recycling(axes[1, 0], theirs[0], "precision")
    _recycling(axes[1, 1], theirs[-1], "ld_over_lg")
    _recycling(axes[1, 2], ours[-1], "ld_over_lg")
    _pictures.note(
        figure,
        "star: published γ, which the exact solver needs doubled; ring: 2σ₀, SSC-NC's default "
        "here; bars: standard deviation",
    )
    return figure


def _eta(ax: "Axes", etas: Mapping[str, Any]) -> None:
    rows = [row for row in etas["rows"] if row["eta"] is not None]
    xs = [row["eta"] for row in rows]
    ax.plot(xs, [row["iterations"] for row in rows], color=_pictures.COLOURS["ls-ssc"],
            marker="s", linewidth=1.6)  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks(xs, [f"{x:g}" for x in xs], fontsize=7.5)
    ax.minorticks_off()
    ax.axvspan(1.0, 1.3, color="#dddddd", zorder=0)
    ax.margins(y=0.15)
    ax.set_ylim(bottom=0)
    _label_f(ax, rows)
    title = f"η: iterations,\n{_NAMES[etas['set']]}"
    _pictures.tidy(ax, title, "η (gray: what the paper finds good)", "iterations")


def _label_f(ax: "Axes", rows: Sequence[Mapping[str, Any]]) -> None:
    """F of every η: once where it is the same, else beside the points, above and below in turn."""
    words = [pages.share(row["f"], 3) for row in rows]
    if len(set(words)) == 1:
        ax.text(0.97, 0.95, f"F {words[0]} for every η", transform=ax.transAxes, fontsize=8,
                ha="right", va="top")  # fmt: skip
        return
    for place, (row, word) in enumerate(zip(rows, words, strict=True)):
        above = place % 2 == 0
        ax.annotate(f"F {word}", (row["eta"], row["iterations"]), fontsize=7, ha="center",
                    xytext=(0, 7 if above else -7), textcoords="offset points",
                    va="bottom" if above else "top")  # fmt: skip


def _gamma(ax: "Axes", entries: Sequence[Mapping[str, Any]], name: str) -> None:
    """F or cost against γ, a line a side."""
    for place, entry in enumerate(entries):
        colour, mark = _LINES[place]
        xs = [row["gamma"] for row in entry["rows"]]
        ys = [np.nan if row[name] is None else row[name] for row in entry["rows"]]
        ax.plot(xs, ys, color=colour, marker=mark, markersize=4.5, linewidth=1.6,
                label=f"{entry['side']} × {entry['side']}")  # fmt: skip
        published, ours = entry["paper"], entry["auto"]
        if published[name] is not None:
            ax.plot([published["gamma"]], [published[name]], marker="*", markersize=14, ls="none",
                    markerfacecolor="white", markeredgecolor=colour, zorder=4)  # fmt: skip
        if ours[name] is not None:
            ax.plot([ours["gamma"]], [ours[name]], marker="o", markersize=11, ls="none",
                    markerfacecolor="none", markeredgecolor=colour, zorder=4)  # fmt: skip
    ax.set_xscale("log")
    if name == "f":
        ax.set_ylim(-0.02, 1.05)
    what = "F of SSC-NC" if name == "f" else "published cost (smallest is chosen)"
    _pictures.tidy(ax, f"γ: {what},\n{_NAMES[entries[0]['set']]}", "γ of the exact solver")
    _legend_below(ax)


def _legend_below(ax: "Axes") -> None:
    """Lines go everywhere in these panels, so the legend stands below."""
    ax.legend(fontsize=7.5, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.17),
              ncols=6, columnspacing=1.2, handlelength=1.6)  # fmt: skip


def _recycling(ax: "Axes", entry: Mapping[str, Any], name: str) -> None:
    """Precision or cameras found against the rounds, a line a K."""
    values = sorted({row["K"] for row in entry["rows"]})
    for place, k in enumerate(values):
        rows = [row for row in entry["rows"] if row["K"] == k]
        colour, mark = _LINES[place % len(_LINES)]
        ys = np.array([row[name] for row in rows])
        spread = np.array([row[f"{name}_spread"] for row in rows])
        # A share is no more than 1 and no less than 0; nor is what the bar shows.
        ax.errorbar(
            [row["rounds"] + 0.05 * (place - len(values) / 2) for row in rows],
            ys,
            yerr=np.clip([np.minimum(spread, ys), np.minimum(spread, 1 - ys)], 0, None),
            color=colour,
            marker=mark,
            markersize=4.5,
            linewidth=2.6 if k == 5 else 1.2,
            capsize=2,
            label=f"K = {k}",
        )
    what = "precision" if name == "precision" else "cameras found (L_d/L_g)"
    whose = "LS-SSC as published" if entry["preset"] == "paper" else "LS-SSC's defaults"
    _pictures.tidy(ax, f"{what}, {whose},\n{_NAMES[entry['set']]}", "rounds of recycling")
    _up_to_one(ax)
    _legend_below(ax)


def _up_to_one(ax: "Axes") -> None:
    """Room above 1, but no mark there."""
    low = ax.get_ylim()[0]
    top = 1 + 0.04 * (1 - low)
    ax.set_ylim(low, top)
    ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= 1 + 1e-9])
    ax.set_ylim(low, top)
