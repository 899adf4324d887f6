"""The plot of docs/cost.md: a panel a device, seconds against n, floors dashed."""

from collections.abc import Mapping
from typing import Any

from benchmarks.growth_page import NAMES, Run, devices, exponents, measured, phases_of, where
from samecam.pages import digest, svg

# Colours that people who see few colours can tell apart, and a mark each.
LOOKS = {
    "extraction": ("#999999", "X"),
    "gram": ("#0072B2", "o"),
    "lasso": ("#D55E00", "s"),
    "consolidation": ("#009E73", "D"),
    "ls_ssc": ("#CC79A7", "^"),
    "evidence": ("#E69F00", "v"),
    "report": ("#56B4E9", "P"),
}


def plot(runs: Mapping[str, Run]) -> str:
    """SVG, the same bytes each time."""
    from matplotlib.figure import Figure

    names = devices(runs)
    figure = Figure(figsize=(5.5 * len(names), 4.6), layout="constrained")
    axes = figure.subplots(1, len(names), squeeze=False)[0]
    for ax, name in zip(axes, names, strict=True):
        panel(ax, runs[name])
    return svg(figure, digest(runs), fonts="none")


def panel(ax: Any, run: Run) -> None:
    """One device."""
    powers = exponents(run)
    for phase in phases_of(run):
        colour, mark = LOOKS[phase]
        rows = measured(run, phase)
        if not rows:
            continue
        n = [size for size, _ in rows]
        label = NAMES[phase] + (f", n^{powers[phase]:.2f}" if phase in powers else "")
        ax.plot(n, [f["seconds"] for _, f in rows], color=colour, marker=mark, label=label)
        floors = [(size, f["floor"]) for size, f in rows if "floor" in f]
        if floors:
            ax.plot(*zip(*floors, strict=True), color=colour, linestyle="--", linewidth=1)
    ax.plot([], [], color="#444444", linestyle="--", linewidth=1, label="floor")
    ax.set_xscale("log")
    ax.set_yscale("log")
    sizes = [row["n"] for row in run["rows"]]
    ax.set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize=8)
    ax.set_xticks([], minor=True)
    ax.set_title(where(run), fontsize=10, loc="left", weight="bold")
    ax.set_xlabel("photographs")
    ax.set_ylabel("seconds")
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    beside = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 3}
    ax.legend(frameon=False, fontsize=8, **beside)
