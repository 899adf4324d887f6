"""The picture of a tuning: bars are shares, and words stand beside their line."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from samecam.case.studies._tune_plot import _gamma, _recycling


@pytest.mark.parametrize("chosen", [0.0001, 0.0014, 0.015, 0.02])
def test_the_label_of_gamma_does_not_lie_on_its_line(chosen):
    figure = Figure(figsize=(5, 3.5))
    ax = figure.subplots()
    gammas = np.geomspace(1e-4, 0.02, 25)
    curve = [{"gamma": g, "f": 1.0, "cost": 1 / g} for g in gammas]
    _gamma(ax, {"chosen": chosen, "curve": curve})
    figure.draw_without_rendering()
    (words,) = (text for axes in figure.axes for text in axes.texts)
    assert words.get_text() == f"γ = {chosen:.2g}"
    box = words.get_window_extent()
    (line,) = (line for line in ax.lines if line.get_linestyle() == "--")
    x = ax.transData.transform((line.get_xdata()[0], 0))[0]
    assert x == ax.transData.transform((chosen, 0))[0]
    assert not box.x0 - 2 <= x <= box.x1 + 2
    assert ax.bbox.x0 <= box.x0 < box.x1 <= ax.bbox.x1


def test_bars_stay_among_shares():
    """Means with a spread that would go below 0 and above 1."""
    figure = Figure()
    ax = figure.subplots()
    means, spreads = [0.02, 0.5, 0.97], [0.3, 0.1, 0.3]
    curve = [
        {"n_neighbours": 5, "recycling": r, "precision": m, "precision_spread": s}
        for r, (m, s) in enumerate(zip(means, spreads, strict=True))
    ]
    scored = {"n_neighbours": 5, "recycling": 1, "n_batches": 2, "curve": curve}
    _recycling(ax, scored, "precision", "precision")
    bars = np.array(ax.containers[0].lines[2][0].get_segments())[:, :, 1]
    np.testing.assert_allclose(bars, [[0, 0.32], [0.4, 0.6], [0.67, 1]], atol=1e-12)
