"""The picture of a tuning: γ, K and rounds of recycling, and the threshold of merging."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from samecam.drawing import tidy

_OURS, _OTHER, _GRAY = "#0072B2", "#D55E00", "#999999"
# One colour and mark for each K: colours that people who see few colours can tell apart.
_LINES = (
    *(("#E69F00", "v"), ("#56B4E9", "^"), ("#0072B2", "o"), ("#009E73", "D"), ("#D55E00", "s")),
    *(("#CC79A7", "P"), ("#999999", "X"), ("#222222", "*")),
)


def picture(result: Mapping[str, Any]) -> str:
    """SVG of a result as it stands in `tune.json`; the same bytes for the same result."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 2)
    _gamma(axes[0, 0], result["gamma"])
    _regressor(axes[0, 1], result["merge_regressor"])
    for ax, name, title in (
        (axes[1, 0], "precision", "precision after merging"),
        (axes[1, 1], "discovered", "cameras found (L_d/L_g) after merging"),
    ):
        _recycling(ax, result["k_and_recycling"], name, title)
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "samecam", "svg.fonttype": "path"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _gamma(ax: Any, found: Mapping[str, Any]) -> None:
    """F against γ, and the published cost on a scale of its own."""
    gammas = [row["gamma"] for row in found["curve"]]
    ax.plot(gammas, [row["f"] for row in found["curve"]], color=_OURS, marker="o", label="F")
    ax.set_xscale("log")
    ax.set_ylim(-0.02, 1.05)
    ax.axvline(found["chosen"], color=_OURS, linewidth=1, linestyle="--")
    tidy(ax, "γ: F of SSC-NC, and the published cost", "γ", "F")
    beside = ax.twinx()
    costs = [np.nan if row["cost"] is None else row["cost"] for row in found["curve"]]
    beside.plot(gammas, costs, color=_OTHER, marker="s", markersize=4, label="cost")
    beside.set_ylabel("cost J", color=_OTHER)
    beside.spines[["top"]].set_visible(False)
    _beside_line(beside, found["chosen"], f"γ = {found['chosen']:.2g}", gammas)


def _beside_line(ax: Any, x: float, words: str, scale: Sequence[float]) -> None:
    """Words at the foot of a dashed line, on the side that has more room, and never on it."""
    right = x * x < scale[0] * scale[-1]
    ax.annotate(
        words,
        (x, 0.02),
        (5 if right else -5, 0),
        xycoords=ax.get_xaxis_transform(),
        textcoords="offset points",
        horizontalalignment="left" if right else "right",
        verticalalignment="bottom",
        color=_OURS,
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )


def _regressor(ax: Any, found: Mapping[str, Any]) -> None:
    """Half of the correlation of two groups of one camera against what is expected."""
    pairs = np.array(found["first_pairs"])
    sizes = np.minimum(pairs[:, :2], 50).sum(axis=1)
    told = found["size"] * sizes + found["correlation"] * pairs[:, 2:4].sum(axis=1) + found["bias"]
    ax.scatter(told, pairs[:, 4] / 2, s=8, color=_OURS, alpha=0.6, linewidths=0)
    ends = [min(told.min(), 0), max(told.max(), pairs[:, 4].max() / 2)]
    ax.plot(ends, ends, color=_GRAY, linewidth=1)
    title = f"threshold of merging: explains {found['explained']:.0%}"
    tidy(ax, title, "R, learnt", "half of the groups' correlation")


def _recycling(ax: Any, found: Mapping[str, Any], name: str, title: str) -> None:
    """A line for each K over the rounds of recycling."""
    values = sorted({row["n_neighbours"] for row in found["curve"]})
    for place, k in enumerate(values):
        rows = [row for row in found["curve"] if row["n_neighbours"] == k]
        colour, mark = _LINES[place % len(_LINES)]
        chosen = k == found["n_neighbours"]
        ax.errorbar(
            [row["recycling"] + 0.04 * (place - len(values) / 2) for row in rows],
            [row[name] for row in rows],
            yerr=_bars([row[name] for row in rows], [row[f"{name}_spread"] for row in rows]),
            color=colour,
            marker=mark,
            markersize=5,
            linewidth=2.4 if chosen else 1.2,
            capsize=2,
            label=f"K = {k}" + " (chosen)" * chosen,
        )
    ax.axvline(found["recycling"], color=_GRAY, linewidth=1, linestyle="--")
    tidy(ax, title, f"rounds of recycling ({found['n_batches']} batches)", "")
    ax.legend(fontsize=7.5, facecolor="white", edgecolor="none", framealpha=0.9, ncols=2)


def _bars(shares: Sequence[float], spreads: Sequence[float]) -> tuple[list[float], list[float]]:
    """Lengths of bars down and up that stay between 0 and 1, as shares do."""
    pairs = list(zip(shares, spreads, strict=True))
    return [min(b, s) for s, b in pairs], [min(b, 1 - s) for s, b in pairs]
