"""Experiments on small twins: what is run, how it is scored, what is said of it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from samecam.datasets import twin
from samecam.errors import SamecamError
from samecam.experiments import EXPERIMENTS, Context, Run, Study, _grid, _words, experiment
from samecam.experiments._methods import METHODS
from samecam.experiments._results import conduct, read_result
from samecam.experiments._sources import Plan, twin_source
from samecam.experiments.few_images import alone_by_size
from samecam.experiments.outliers import strangers
from samecam.experiments.running_time import scaled
from samecam.metrics import scores

OURS = (
    "medium-dresden",
    "medium-vision",
    "large-dresden",
    "large-vision",
    "outliers",
    "few-images",
    "running-time",
    "rivals-table",
)


def small(name="Vs5"):
    """A twin of that name with few photos."""
    found = twin(name)
    return replace(found, sizes=(12, 9, 8), models=(), mean=0.05)


def small_tasks(runs=2, methods=("ours", "ls-ssc", "hierarchical")):
    plan = Plan([twin_source(small("Vs5")), twin_source(small("Va5"))], ())
    return _grid.tasks(plan, [METHODS[key] for key in methods], runs)


def test_random_methods_run_several_times_others_once():
    keys = [task.key for task in small_tasks(runs=3)]
    assert keys[:5] == [
        "Vs5/ours/0",
        *("Vs5/ls-ssc/0", "Vs5/ls-ssc/1", "Vs5/ls-ssc/2"),
        "Vs5/hierarchical/0",
    ]
    assert len(keys) == 10


def test_what_is_said_to_be_random_is():
    """A method counts as random just if its answer may depend on the seed."""
    from samecam.cluster import METHODS as KNOWN

    for method in METHODS.values():
        takes = "random_state" in KNOWN[method.name]().get_params()
        assert takes or not method.random, method.key


def test_every_method_is_compared():
    from samecam.cluster import METHODS as KNOWN

    assert {method.name for method in METHODS.values()} == set(KNOWN)
    assert next(iter(METHODS)) == "ours"


def test_grid_runs_once_and_scores_as_the_metrics_do(tmp_path):
    context = Context(Study(tmp_path))
    todo = small_tasks()
    _grid.run_grid(context, "test", todo)
    assert context.study.made == len(todo)
    again = Context(Study(tmp_path))
    _grid.run_grid(again, "test", todo)
    assert again.study.made == 0
    result = _grid.score_grid(again.study, todo)
    assert len(result["runs"]) == len(todo)
    assert len(result["rows"]) == 6
    run = next(r for r in result["runs"] if r["key"] == "Va5/ls-ssc/1")
    arrays = again.study.load("Va5/ls-ssc/1").arrays
    assert run["f"] == pytest.approx(scores(arrays["truth"].tolist(), arrays["labels"]).f, abs=1e-6)
    row = _grid.cell(result, "Va5", "ls-ssc")
    both = [
        r["f"] for r in result["runs"] if (r["configuration"], r["method"]) == ("Va5", "ls-ssc")
    ]
    assert row["f"] == pytest.approx(np.mean(both), abs=1e-6)
    assert row["f_spread"] == pytest.approx(np.std(both, ddof=1), abs=1e-6)


def test_a_resumed_study_makes_only_what_is_missing(tmp_path):
    todo = small_tasks()
    _grid.run_grid(Context(Study(tmp_path)), "test", todo)
    (tmp_path / "runs/Vs5/ours/0.json").unlink()
    study = Study(tmp_path)
    _grid.run_grid(Context(study), "test", todo)
    assert study.made == 1


def test_another_twin_in_the_same_folder_is_refused(tmp_path):
    todo = small_tasks()
    _grid.run_grid(Context(Study(tmp_path)), "test", todo)
    other = Plan([twin_source(replace(small("Vs5"), mean=0.06))], ())
    with pytest.raises(SamecamError, match="name a new folder"):
        _grid.run_grid(Context(Study(tmp_path)), "test", _grid.tasks(other, [METHODS["ours"]], 1))


def test_a_method_that_cannot_is_listed_with_its_reason(tmp_path, monkeypatch):
    from samecam.cluster import ConsolidatedSSC

    def refuse(*_, **__):
        raise ValueError("X is too odd")

    monkeypatch.setattr(ConsolidatedSSC, "fit", refuse)
    todo = small_tasks(methods=("ours",))
    study = Study(tmp_path)
    _grid.run_grid(Context(study), "test", todo)
    result = _grid.score_grid(study, todo)
    assert [run["failed"] for run in result["runs"]] == ["X is too odd"] * 2
    assert _grid.cell(result, "Vs5", "ours") is None


def planted(ours, other):
    rows = [
        {
            "configuration": "A",
            "method": m,
            "label": m,
            "f": f,
            "runs": 1,
            "precision": 1.0,
            "recall": 0.7,
            "n_clusters": 5,
            "n_cameras": 5,
            "n_unclustered": alone,
        }
        for m, f, alone in (("ours", ours, 7), ("msc", other, 0))
    ]
    return {"rows": rows}


def test_where_ours_is_behind_is_said():
    assert _grid.behind(planted(0.9, 0.8)) == []
    behind = _grid.behind(planted(0.8, 0.9))
    assert [(row["method"], row["f"], row["ours"]) for row in behind] == [("msc", 0.9, 0.8)]
    said = _words.standing(planted(0.8, 0.9), ["A"])
    assert "**Ahead of ours in F:** msc on A (0.900 against 0.800)" in said
    assert (
        "On A ours has precision 1, recall .70, 5 groups for 5 cameras, photos left alone: 7"
        in said
    )
    assert "it asks for evidence" in said
    close = _words.standing(planted(0.8, 0.80001), ["A"])
    assert "**Ahead of ours in F:** msc on A (0.80001 against 0.80000)" in close
    assert "no method is ahead" in _words.standing(planted(0.9, 0.8), ["A"])
    assert _words.level(planted(0.9, 0.9), ["A"]) == 1
    assert _words.level(planted(0.9, 0.8), ["A"]) == 0
    assert "Level with ours: msc on A" in _words.standing(planted(0.9, 0.9), ["A"])


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, ".50"), (0.996, ".996"), (0.99951, "1"), (0, ".00"), (1, "1")]
)
def test_shares(value, text):
    assert _words.share(value) == text


def test_strangers_are_those_whose_camera_took_one_photo():
    truth, labels = [0, 0, 0, 1, 2, 3, 4], [0, 0, -1, -1, 0, 1, 1]
    assert strangers(truth, labels) == (4, 1, 2)


def test_photos_left_alone_by_size_of_their_camera():
    truth, labels = [0, 0, 0, 1, 2, 2, 2, 3], [-1, 0, 0, -1, 1, 1, -1, 2]
    assert alone_by_size(truth, labels) == {"1": 0.5, "3": pytest.approx(2 / 6, abs=1e-6)}


def test_scaled_twins_stand_out_as_much():
    found = scaled(twin("Da10"))
    X, labels = replace(found, sizes=(30, 30), camera_spread=0.0, photo_cv=0.0).fingerprints(128**2)
    G = X @ X.T
    same = labels[:, None] == labels
    off = ~np.eye(60, dtype=bool)
    whole = twin("Da10")
    here = G[same & off].mean() / G[~same].std()
    assert here == pytest.approx(whole.mean / whole.null_scale, rel=0.15)
    alike = twin("Dam5")
    assert scaled(alike).model_mean / alike.model_mean == scaled(alike).mean / alike.mean == 4


def test_reading_is_clocked_and_changes_nothing(tmp_path):
    from samecam import correlate
    from samecam.experiments._clocked import ClockedStore
    from samecam.experiments.running_time import _write
    from samecam.store import DiskStore

    _write(small(), tmp_path / "store")
    store = DiskStore.open(tmp_path / "store")
    clocked = ClockedStore(store)
    assert clocked.seconds == 0
    np.testing.assert_array_equal(clocked.read(), store.read())
    once = clocked.seconds
    assert once > 0
    np.testing.assert_array_equal(correlate.gram(clocked), correlate.gram(store))
    assert clocked.seconds > once
    parts = [part.copy() for _, part in clocked.columns(5000)]
    np.testing.assert_array_equal(np.hstack(parts), store.read())
    store.close()


def fake(name, study):
    """Runs of an experiment with labels made up, so that all that follows can be tested."""
    found = experiment(name)
    rng = np.random.default_rng(0)

    def run(key, *_, **__):
        truth = np.repeat(np.arange(4, dtype=np.int32), 5)
        truth = np.append(truth, [7, 8]).astype(np.int32)
        labels = np.where(rng.random(truth.size) < 0.2, -1, truth % 4).astype(np.int32)
        facts = {"seconds": 1.0 + rng.random(), "reading": 0.25, "processor": 2.0, "seed": 0}
        return Study.run(study, key, lambda: Run({"truth": truth, "labels": labels}, facts))

    study.run = run
    return found


@pytest.mark.parametrize(
    ("name", "quick"),
    [*((name, True) for name in OURS), ("large-dresden", False), ("running-time", False)],
)
def test_results_are_scored_drawn_and_told(tmp_path, name, quick, monkeypatch):
    from samecam.experiments import running_time

    monkeypatch.setattr(running_time, "_write", lambda *_: None)
    monkeypatch.setattr(running_time, "_warm_up", lambda *_: None)
    study = Study(tmp_path / "study")
    found = fake(name, study)
    context = Context(study, quick=quick)
    found.run(context)
    result = json.loads(json.dumps(found.score(study, context)))
    keys = [run["key"] for run in result["runs"]]
    assert len(keys) == len(set(keys)) == len(study.keys())
    assert all({"seed", "commit", "seconds"} <= set(run) for run in result["runs"])
    assert found.name == name
    from samecam.experiments._results import svg

    picture = svg(found.plot(result))
    assert picture == svg(found.plot(result))
    assert "<svg" in picture
    text = found.words(result)
    assert "nan" not in text.lower()
    assert text.count("|") > 10


@pytest.mark.parametrize("name", OURS)
def test_quick_is_the_beginning_of_full(tmp_path, name):
    keys = {}
    for quick in (True, False):
        found = EXPERIMENTS[name]
        module = __import__(f"samecam.experiments.{found.module}", fromlist=["x"])
        context = Context(Study(tmp_path), quick=quick)
        if found.module in ("medium", "large"):
            todo = module._todo(name.split("-")[1], context)[1]
        else:
            todo = module._todo(context)
        keys[quick] = {task.key for task in todo}
    assert keys[True] < keys[False]


def test_a_whole_experiment(tmp_path, monkeypatch):
    """From nothing to JSON and picture, and the same again without running anything."""
    from samecam.experiments import rivals_table

    monkeypatch.setattr(rivals_table, "METHODS", {k: METHODS[k] for k in ("ours", "ls-ssc")})
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    first = conduct("rivals-table", **where)
    path = tmp_path / "results" / "rivals-table.json"
    before = path.read_bytes(), path.with_suffix(".svg").read_bytes()
    assert read_result(path) == first
    assert first["seeds"] == [0, 1, 2]
    assert first["device"] == "cpu"
    assert {first["commit"]} == {run["commit"] for run in first["result"]["runs"]}
    assert first["kind"] == "twin"
    assert first["quick"] is True
    assert first["command"] == "samecam experiment rivals-table --quick"
    conduct("rivals-table", **where)
    assert (path.read_bytes(), path.with_suffix(".svg").read_bytes()) == before


def test_unknown_names_are_sentences():
    with pytest.raises(SamecamError, match="'nonsense' is no experiment: choose from sparse-"):
        experiment("nonsense")
    with pytest.raises(SamecamError, match="few-images has no form for real collections"):
        conduct("few-images", data=".")


def test_all_names_are_there():
    assert len(EXPERIMENTS) == 13
    for name in OURS:
        assert experiment(name).name == name
