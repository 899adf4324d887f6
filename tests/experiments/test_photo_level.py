"""Experiments on photographs: choice of photos, runs, and what is said of them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samecam.datasets import configuration
from samecam.errors import SamecamError
from samecam.experiments import Context, Run, Study, double_jpeg, sizes
from samecam.experiments import _photo_level as level
from samecam.experiments import _photo_sets as sets
from samecam.experiments._photo_sets import PhotoSet, Setting

# A set of six photos by two cameras at two settings, planted: photo 2 has no fingerprint at
# quality 50, photo 3 is saturated, photo 4 is dark; the rows come in another order than the photos.
ONCE, AGAIN = Setting(None, 512), Setting(50, 512)
TRUTH = np.array([0, 1, 0, 1, 0, 1])


def _planted(folder):
    study = Study(folder)
    files = tuple(Path(f"{k}.jpg") for k in range(6))
    photos = PhotoSet("real", "real", files, tuple("ab"[k] for k in TRUTH))
    for setting, rows in ((ONCE, [5, 4, 3, 2, 1, 0]), (AGAIN, [5, 4, 3, 1, 0])):
        at = np.array(rows)
        gram = np.where(TRUTH[at][:, None] == TRUTH[at], 0.5, 0.0) + 0.001 * (at[:, None] + at)
        run = Run(
            {"gram": gram, "rows": at, "weak": at == 3, "dark": at == 4}, {"null_scale": 0.002}
        )
        study.run(f"real/{setting.key}/correlations", lambda run=run: run)
    study.run("real/photos", lambda: level._population(study, photos, [ONCE, AGAIN]))
    return study, photos


def test_the_same_photos_are_grouped_at_all_settings(tmp_path):
    saved = _planted(tmp_path)[0].load("real/photos")
    assert np.flatnonzero(saved.arrays["good"]).tolist() == [0, 1, 4, 5]
    assert np.flatnonzero(saved.arrays["lit"]).tolist() == [0, 1, 5]
    assert saved.facts["photos"] == {"lit": 3, "good": 4}
    assert saved.facts["cameras"] == {"lit": 2, "good": 2}


def test_correlations_come_with_their_own_cameras(tmp_path):
    study, _ = _planted(tmp_path)
    sources = {source.name: source for source in level._plan(study, "real").sources}
    assert len(sources) == 4
    gram, truth = sources["real/once-512/good"].load()
    assert truth.tolist() == [1, 0, 1, 0]  # photos 5, 4, 1, 0
    np.testing.assert_allclose(gram[0], [0.51, 0.009, 0.506, 0.005])
    assert sources["real/once-512/good"].n_pixels == 512**2


def test_no_photo_that_can_be_used(tmp_path):
    study, photos = _planted(tmp_path)
    none = Run({"rows": np.array([], int)}, {})
    study.run("real/q70-512/correlations", lambda: none)
    with pytest.raises(SamecamError, match="None of the 6 photos"):
        level._population(study, photos, [ONCE, Setting(70, 512)])


def test_what_is_printed_is_what_the_configurations_say(tmp_path):
    study, _ = _planted(tmp_path)
    context = Context(study, data=tmp_path, repeats=1)
    for module, values in ((double_jpeg, range(50, 100, 5)), (sizes, (256, 512, 768, 1024))):
        printed = _score_printed(module, study, context)
        assert [value for value in printed if value != "place"] == [str(v) for v in values]
        for value in values:
            mark = "q" if module is double_jpeg else ""
            name = "Va20" if value == 512 else f"Va20-{mark}{value}"
            assert printed[str(value)] == dict(configuration(name).printed)


def _score_printed(module, study, context):
    """Let the methods give everything one label, and score."""
    from samecam.experiments._grid import grid_runs

    for task in grid_runs(level._plan(study, "real"), level.COMPARED, context.runs):
        count = task.source.parameters["photos"]
        arrays = {"labels": np.zeros(count, int), "truth": TRUTH[:count]}
        study.run(task.key, lambda arrays=arrays: Run(arrays, {"seconds": 1.0}))
    return module.score(study, context)["printed"]


def _result(leads=(), axis="quality", more=()):
    """A result in which ours has F .9 and others .8, but for `leads`: {(setting, key): F}.

    `more` has other numbers of the same places: {(setting, key): {name: number}}.
    """
    values = (
        ((50, 512), (95, 512), (None, 512)) if axis == "quality" else ((None, 256), (None, 512))
    )
    rows = []
    for quality, side in values:
        for subset in level.SUBSETS:
            for method in level.COMPARED:
                f = dict(leads).get((quality, side, subset, method.key))
                f = f if f is not None else 0.9 if method.key == "ours" else 0.8
                left = 7 if method.key == "ours" else 2
                row = _result_row(Setting(quality, side), subset, method, f, left)
                rows.append(row | dict(more).get((quality, side, subset, method.key), {}))
    return {
        "axis": axis,
        "set": {
            "name": "real",
            "kind": "real",
            "title": "real photographs, 2 cameras, 40 files",
            "notes": ["3 photos are not there."],
            "photos": {"lit": 30, "good": 40},
            "cameras": {"lit": 2, "good": 2},
            "settings": [list(value) for value in values],
        },
        "null_scales": [0.004, 0.003, 0.002][: len(values)],
        "printed": {
            "place": "Table III",
            "50": {"f": 0.67, "precision": 0.79, "recall": 0.58, "ari": 0.65},
            "95": {"f": 0.92, "precision": 0.96, "recall": 0.88, "ari": 0.88},
            "256": {"f": 0.84, "precision": 0.85, "recall": 0.84, "ari": 0.83},
        },
        "rows": rows,
        "runs": [],
    }


def _result_row(setting, subset, method, f, unclustered):
    return {
        "configuration": f"real/{setting.key}/{subset}",
        "method": method.key,
        "label": method.label,
        "runs": 10 if method.random else 1,
        "f": f,
        "f_spread": 0.012 if method.random else 0.0,
        "precision": 0.95,
        "recall": f - 0.03,
        "ari": f - 0.01,
        "n_unclustered": unclustered,
        "n_images": 40,
    }


def test_rivals_that_come_near_are_compared():
    """What is said of all methods must know those that are ahead of ours in other results."""
    keys = [method.key for method in level.COMPARED]
    assert keys[0] == "ours"
    assert {"ls-ssc", "ssc-nc", "lin-ls", "lin-ls-measured", "ccc"} < set(keys)


def test_the_text_says_where_ours_is_behind():
    assert "In F, no method is ahead of ours by .0005 or more." in sizes.EXPERIMENT.text(_result())
    lead = {(50, 512, "lit", "ls-ssc"): 0.934, (95, 512, "lit", "ls-ssc"): 0.951}
    lead[95, 512, "good", "ccc"] = 0.93
    more = {(50, 512, "lit", "ls-ssc"): {"precision": 0.2, "n_unclustered": 7}}
    text = sizes.EXPERIMENT.text(_result(lead, more=more))
    (line,) = [line for line in text.splitlines() if "Ahead of ours" in line]
    assert line == (
        "- **Ahead of ours in F**, of 6 settings (largest lead): LS-SSC "
        "at 2 (.951:.900) and CCC at 1 (.930:.900). At 2 of 3 ours leaves "
        "more photos alone, and at 1 most pairs of the other are wrong."
    )


def test_photos_that_the_table_does_not_show_are_told():
    lead = {(50, 512, "good", "ours"): 0.456}
    assert "- Ours elsewhere: with dark photos .456 to .900." in sizes.EXPERIMENT.text(
        _result(lead)
    )


def test_ours_stands_in_the_text_beside_what_is_printed():
    lead = {(50, 512, "lit", "ssc-nc"): 0.823, (50, 512, "lit", "ours"): 0.456}
    text = sizes.EXPERIMENT.text(_result(lead))
    line = next(line for line in text.splitlines() if line.startswith("| 50 |"))
    assert line == (
        "| 50 | **.456** (.950, .426) | 7 | .67 (.79, .58) | .800 ± .012 | .823 SSC-NC |"
    )
    assert "| none | **.900** (.950, .870) | 7 | – |" in text
    assert "- 3 photos are not there." in text
    assert "| 256 | **.900**" in sizes.EXPERIMENT.text(_result(axis="side"))


def test_nearly_one_is_not_one():
    lead = {(50, 512, "lit", "ours"): 0.9997}
    text = sizes.EXPERIMENT.text(_result(lead))
    assert "| 50 | **.9997** (" in text


def test_a_method_that_failed_is_told_with_its_reason():
    result = _result()
    place = "real/q50-512/lit"
    for row in result["rows"]:
        if (row["configuration"], row["method"]) == (place, "ccc"):
            row |= {"runs": 0, "failed": "Too few."}
    result["runs"] = [
        {"configuration": place, "method": "ccc", "label": "CCC", "failed": "Too few."}
    ]
    text = sizes.EXPERIMENT.text(result)
    assert "- CCC gives no answer on real/q50-512/lit: Too few." in text
    lines = level.plot_photos(result).axes[0].containers
    assert len(lines[-1].lines[0].get_xdata()) == 2


@pytest.mark.parametrize("axis", ["quality", "side"])
def test_the_picture_has_a_line_a_method_and_a_star_for_print(axis):
    leads = {(50, 512, "lit", "ours"): 0.777, (95, 512, "good", "ssc-nc"): 0.1}
    result = _result(leads, axis)
    figure = level.plot_photos(json.loads(json.dumps(result)))
    assert len(figure.axes) == 2
    assert figure.axes[1].get_ylim()[0] == (0.5 if axis == "side" else -0.03)
    lines = figure.axes[0].containers
    assert [line.get_label() for line in lines] == [method.label for method in level.COMPARED]
    ours = lines[0].lines[0].get_ydata()
    assert list(ours) == ([0.777, 0.9, 0.9] if axis == "quality" else [0.9, 0.9])
    stars = [line for line in figure.axes[0].lines if line.get_marker() == "*"]
    assert {star.get_ydata()[0] for star in stars} >= {0.67 if axis == "quality" else 0.84}


@pytest.fixture
def small(monkeypatch, tmp_path, shots):
    """Fewer photographs, qualities and methods; the folder of a study with the photographs."""
    monkeypatch.setattr(sets, "QUICK_CAMERAS", (3, 6))
    monkeypatch.setattr(double_jpeg, "QUICK_QUALITIES", (30, 98))
    monkeypatch.setattr(level, "COMPARED", level.COMPARED[:2])
    folder = tmp_path / "photos" / "simulated-3x6"
    folder.mkdir(parents=True)
    lines = ["path,camera"]
    for camera, files in zip("abc", shots, strict=False):
        for file in files[:6]:
            (folder / file.name).symlink_to(file)
            lines.append(f"{file.name},{camera}")
    (folder / "truth.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_second_compression_from_photographs_to_scores(small):
    tmp_path, context = small, Context(Study(small), quick=True, workers=1, repeats=2)
    double_jpeg.run(context)
    assert not any(tmp_path.glob("work/**/*.jpg")), "copies are gone when they are done with"
    result = json.loads(json.dumps(double_jpeg.score(context.study, context)))
    assert result["set"]["title"] == "simulated photographs, 3 cameras, 18 files"
    assert len(result["runs"]) == 3 * 2 * (1 + 2)
    f = {row["configuration"].split("/")[1]: row["f"] for row in result["rows"]
         if row["method"] == "ours" and row["configuration"].endswith("/lit")}  # fmt: skip
    assert f["once-512"] >= f["q98-512"] > f["q30-512"]
    assert f["once-512"] > 0.9
    level.plot_photos(result)
    assert "| 98 |" in sizes.EXPERIMENT.text(result)
    again = replace(context, study=Study(tmp_path))
    double_jpeg.run(again)
    assert again.study.made == 0


@pytest.mark.long
def test_sizes_of_real_photographs(tmp_path, photos_dir):
    from samecam.metrics import read_truth

    kept = {}
    for path, camera in read_truth(photos_dir / "truth.csv").items():
        if "powershots100" in camera or "iphone7" in camera:
            kept.setdefault(camera, []).append(path)
    data = tmp_path / "data"
    (data / "images").mkdir(parents=True)
    lines = ["path,camera"]
    for camera, paths in kept.items():
        for path in paths[:6]:
            (data / path).symlink_to(photos_dir / path)
            lines.append(f"{path},{camera}")
    (data / "truth.csv").write_text("\n".join(lines) + "\n")
    context = Context(Study(tmp_path / "study"), quick=True, data=data, workers=2)
    sizes.run(context)
    result = sizes.score(context.study, context)
    assert [side for _, side in result["set"]["settings"]] == [256, 512, 768, 1024]
    assert result["set"]["title"] == "real photographs, 2 cameras, 12 files"
    assert str(tmp_path) not in json.dumps(result)
    ours = [row["f"] for row in result["rows"] if row["method"] == "ours"]
    assert max(ours) > 0.9
