"""Pictures of a case: drawn where they are asked for, with nothing cut off."""

import shutil
import sys
from dataclasses import replace

import pytest

import samecam
from samecam.case import ComparedMethod, Comparison, open_case
from samecam.errors import ParameterError, SamecamError
from samecam.metrics import scores
from samecam.plots import KINDS, comparison, correlations, evidence, groups, plot, views

pytest.importorskip("matplotlib")
OF_CASES = {name: draw for name, draw in KINDS.items() if name != "comparison"}


def check_nothing_is_cut(figure):
    """All that is drawn lies within the picture, but for what is less than a pixel or two."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure).draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 > -0.03
    assert box.y0 > -0.03
    assert box.x1 < width + 0.03
    assert box.y1 < height + 0.03


@pytest.fixture(scope="module")
def saved(case):
    return open_case(case)


@pytest.mark.parametrize("kind", OF_CASES)
def test_each_draws_a_case_a_folder_and_a_result(kind, case, result, saved):
    from matplotlib.figure import Figure

    for given in (case, result, saved):
        figure = OF_CASES[kind](given)
        assert isinstance(figure, Figure)
    check_nothing_is_cut(figure)
    assert result.plot(kind).axes
    assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", OF_CASES)
def test_each_draws_into_axes_that_are_given(kind, saved):
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert OF_CASES[kind](saved, ax=right) is figure
    assert right.get_title(loc="left")
    assert not left.has_data()


def test_bars_are_as_long_as_cameras_are_large(saved):
    (ax,) = groups(saved).axes
    ends = {}
    for bar in ax.patches:
        y = round(bar.get_y() + bar.get_height() / 2)
        ends[y] = max(ends.get(y, 0), bar.get_x() + bar.get_width())
    sizes = [camera.size for camera in saved.cameras]
    assert [ends[k] for k in sorted(ends)] == [*sizes, len(saved.alone)]


def test_many_cameras_are_the_largest_and_a_rest(saved, monkeypatch):
    monkeypatch.setattr("samecam.plots._groups._MOST", 2)
    figure = groups(saved)
    (ax,) = figure.axes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        *("camera 0", "camera 1", "3 more", "no camera"),
    ]
    check_nothing_is_cut(figure)


def test_shades_are_correlations_in_the_order_of_groups(saved):
    ax = correlations(saved).axes[0]
    drawn = ax.images[0].get_array()
    n = len(saved.used)
    assert drawn.shape == (n, n)
    assert drawn.mask.diagonal().all()
    squares = [(square.get_x(), square.get_width()) for square in ax.patches]
    start = -0.5
    for (x, width), group in zip(squares, saved.groups, strict=True):
        assert (x, width) == (start, group.size)
        start += group.size


def test_scores_are_those_of_the_case(saved):
    (ax,) = evidence(saved).axes
    drawn = sum(len(marks.get_offsets()) for marks in ax.collections)
    scored = [p for p in saved.used if p.cluster >= 0 and p.figure("score") is not None]
    others = [p for p in scored if p.figure("nearest_score") is not None]
    assert drawn == len(scored) + len(others)
    assert 0 < len(others) < len(scored)


def test_views_lie_where_the_case_says(saved):
    (ax,) = views(saved).axes
    camera = saved.cameras[0]
    outlines = [line for line in ax.lines if len(line.get_xdata()) > 1]
    assert len(outlines) == len(camera.groups) + len(camera.placed)
    widths = [float(max(line.get_xdata()) - min(line.get_xdata())) for line in outlines]
    assert widths[0] == pytest.approx(95)
    assert widths[1] == pytest.approx(widths[0] / 2, rel=0.1)  # of the double zoom
    with pytest.raises(ParameterError, match="camera is 99, and .* has 5 cameras"):
        views(saved, camera=99)


def test_a_comparison_is_drawn_with_and_without_truth(tmp_path):
    from matplotlib.figure import Figure

    scored = scores(["a", "a", "b", "b"], [0, 0, 1, -1])
    rows = tuple(
        ComparedMethod(name, "correlations", "", 3, 2, scored, 0.25, 2**28)
        for name in ("consolidated", "ssc-nc", "average-linkage")
    )
    compared = Comparison(tmp_path, "t", 9, {}, rows, None, tmp_path / "compare.json")
    figure = compared.plot()
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["F", "precision", "recall", "seconds", "peak memory, MiB"]
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert names == ["consolidated", "ssc-nc", "average-linkage"]
    low, high = figure.axes[0].get_ylim()
    assert low > high  # first on top
    assert figure.get_figwidth() < 11, "legible at the width of a page"
    check_nothing_is_cut(figure)
    failed = ComparedMethod("ssc", "correlations", "It took too long.")
    unscored = replace(compared, rows=(*(replace(row, scores=None) for row in rows), failed))
    axes = Figure().subplots()
    comparison(unscored, ax=axes)
    assert axes.get_title(loc="left") == "photos in no group"
    with pytest.raises(SamecamError, match="No method gave an answer"):
        comparison(replace(compared, rows=(failed,)))


def test_names_are_no_formulas_and_not_endless():
    from samecam.plots._case import text

    assert text("$x^2$") == r"\$x^2\$"
    assert len(text("a" * 999)) == 34
    assert text("a\udcff\n") == "a\\xff\\n"


def test_what_cannot_be_drawn_is_said(case, saved, tmp_path, monkeypatch):
    with pytest.raises(ParameterError, match="kind is 'pie'; choose one of 'groups'"):
        plot(saved, "pie")
    copy = tmp_path / "case"
    shutil.copytree(case, copy)
    shutil.rmtree(copy / "fingerprints")
    with pytest.raises(SamecamError):
        correlations(copy)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SamecamError, match=r"Plots need matplotlib: install samecam\[plots\]"):
        samecam.plots.groups(saved)
