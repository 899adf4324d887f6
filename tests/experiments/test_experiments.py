"""Experiments on small twins: what is run, how it is scored, what is said of it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from samecam.datasets import twin
from samecam.errors import SamecamError
from samecam.experiments import (
    EXPERIMENTS,
    Context,
    Run,
    Study,
    _grid,
    _paper,
    _pictures,
    _words,
    experiment,
    outliers,
    rivals_table,
)
from samecam.experiments._made import each_version, versions
from samecam.experiments._methods import METHODS
from samecam.experiments._results import conduct, digest, digest_in, photographs, read_result
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


def test_the_table_of_phan_has_their_threshold(tmp_path):
    """Not that of the authors of NCuts: what is printed beside it was made with theirs."""
    todo = rivals_table._todo(Context(Study(tmp_path)))
    ((_, ncuts),) = {t.method.key: t.method for t in todo if t.method.name == "ncuts"}.items()
    assert ncuts.settings(None) == {"threshold": 0.032}
    assert {task.key for task in todo if task.method is ncuts} == {
        f"phan-D{n}/ncuts-032/0" for n in (1, 2, 3, 4)
    }
    assert len({task.method.name for task in todo}) == len({m.name for m in METHODS.values()})
    printed = {entry.method for entry in _paper.RIVALS_TABLE}
    assert printed <= {task.method.key for task in todo}


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
    assert _words.failures(result) == ["ours gives no answer on Vs5 and Va5: X is too odd."]


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
    lead, why = _words.standing(planted(0.8, 0.9), ["A"])
    assert lead == "**Ahead of ours in F:** msc on A (.900 against .800)."
    assert why.startswith(
        "On A ours has precision 1, recall .70, 5 groups for 5 cameras, photos left alone: 7, more"
    )
    assert "it asks for evidence" in why
    close = _words.standing(planted(0.8, 0.80001), ["A"])[0]
    assert close == "**Ahead of ours in F:** msc on A (.80001 against .80000)."
    near = _words.standing(planted(0.9997, 1.0), ["A"])[0]
    assert near == "**Ahead of ours in F:** msc on A (1 against .9997)."
    assert _words.standing(planted(0.9, 0.8), ["A"]) == ["In F, no method is ahead of ours."]
    assert _words.standing(planted(0.9, 0.9), ["A"])[1:] == [
        "Level with ours, where F does not tell the best apart: msc on A."
    ]


def test_strangers_are_no_cameras_that_a_group_is_missing_of():
    result = planted(0.8, 0.9)
    result["rows"][0] |= {"n_cameras": 55, "strangers": 50, "n_clusters": 6, "n_unclustered": 0}
    why = _words.standing(result, ["A"])[1]
    assert "6 groups for 5 cameras and 50 strangers, photos left alone: 0" in why
    assert "it splits a camera" in why


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0.5, ".50"), (0.996, ".996"), (0.99951, ".9995"), (0.999749, ".9997")),
        *((0.999999, ".999999"), (0.9999996, "1"), (0, ".00"), (1, "1"), (0.9949, ".99")),
    ],
)
def test_shares(value, text):
    assert _words.share(value) == text


def test_nothing_below_one_is_shown_as_one():
    for value in 1 - np.geomspace(1e-6, 0.9, 400):
        for digits in (2, 3):
            shown = _words.share(value, digits)
            assert float(shown) < 1
            assert float(shown) == pytest.approx(value, abs=0.5 * 10**-digits)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0.0%"), (1, "100.0%"), (0.0005, "0.1%"), (0.0004, "0.04%")),
        *((0.9998, "99.98%"), (0.5, "50.0%")),
    ],
)
def test_rates_read_nought_or_all_only_where_they_are(value, text):
    assert _words.rate(value) == text


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [
        *((0.9, 0.02, ".90 ± .02"), (0.9997, 0.0002, ".9997 ± .0002"), (1, 0.0, "1 ± 0")),
        *((0.9, 0.0, ".90 ± 0"), (0.9, 0.0007, ".90 ± .001")),
    ],
)
def test_a_spread_has_the_digits_of_its_mean(mean, spread, text):
    row = {"f": mean, "f_spread": spread, "runs": 10}
    assert _words.with_spread(row) == text
    assert _words.with_spread({**row, "runs": 1}) == text.partition(" ")[0]


def test_a_failure_is_told_with_its_reason():
    def run(place, **more):
        return {"configuration": place, "method": "msc", "label": "MSC", **more}

    runs = [
        *(run("A", failed="X is odd."), run("A", failed="X is odd.")),
        *(run("B", failed="X is odd."), run("B", f=1.0)),
        run("C", f=1.0),
    ]
    assert _words.failures({"runs": runs}) == [
        "MSC gives no answer on A and B (1 of 2 runs): X is odd."
    ]
    assert _words.failures({"rows": []}) == []


def test_strangers_are_those_whose_camera_took_one_photo():
    truth, labels = [0, 0, 0, 1, 2, 3, 4], [0, 0, -1, -1, 0, 1, 1]
    assert strangers(truth, labels) == (4, 1, 2)


def test_strangers_that_join_are_held_against_the_rate():
    ours = {"method": "ours", "label": "ours", "strangers": 50.0, "strangers_left": 47.0}
    other = {"method": "hdbscan", "label": "HDBSCAN", "strangers_left": 50.0}
    first, second = outliers._let_in({"ours": ours, "hdbscan": other})
    assert "lets in 3 of 50 strangers on this one draw" in first
    assert "`join_rate` of 1 % would be 0.5 on average" in first
    assert "3 or more come up in 1.4% of all draws: one draw cannot tell" in first
    assert second.startswith("**Fewer strangers get into groups with HDBSCAN**")
    (usual,) = outliers._let_in({"ours": {**ours, "strangers_left": 49.0}})
    assert "1 or more come up in 39.5% of all draws, so this is no sign" in usual
    assert outliers._let_in({"ours": {**ours, "strangers_left": 50.0}}) == []
    from samecam.cluster import METHODS as KNOWN

    assert KNOWN["consolidated"]().join_rate == outliers._JOIN_RATE


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


def phan(names, scores, printed=()):
    """A result of the table of Phan 2017: {method: F on each}."""
    rows = [
        dict.fromkeys(("f", "precision", "recall"), f)
        | dict.fromkeys(("f_spread", "n_unclustered"), 0.0)
        | {"configuration": name, "method": method, "label": method.upper(), "runs": 1}
        | {"n_clusters": 4.0, "n_cameras": 3.0}
        for method, values in scores.items()
        for name, f in zip(names, values, strict=True)
    ]
    return {"configurations": names, "printed": list(printed), "rows": rows, "runs": [],
            "notes": [], "skipped": []}  # fmt: skip


def test_rivals_are_ranked_by_what_is_there():
    small = phan(["all"], {"ours": [0.2], "msc": [0.3], "mrf": [0.9], "ccc": [0.6]})
    assert [key for key, _ in rivals_table._methods(small)] == ["ours", "mrf", "ccc", "msc"]
    names = ["phan-D1", "phan-D2", "phan-D4"]
    scores = {"ours": [1, 1, 1], "msc": [1, 0.5, 0.5], "mrf": [0.1, 0.6, 0.6]}
    assert [key for key, _ in rivals_table._methods(phan(names, scores))][1:] == ["mrf", "msc"]


def test_what_is_printed_of_groups_stands_beside_ours():
    entry = next(
        e for e in _paper.RIVALS_TABLE if (e.method, e.configuration[-2:]) == ("msc", "D2")
    )
    names = ["phan-D2"]
    result = phan(names, {"ours": [0.9], "msc": [0.9997]}, [_paper.as_json(entry)])
    text = rivals_table.EXPERIMENT.words(result)
    assert "| MSC | .9997, 4/3 (.80, 21.7/10) |" in text
    figure = rivals_table.EXPERIMENT.plot(result)
    assert [text.get_text() for text in figure.axes[1].texts] == ["", ".80, 21.7/10"]
    without = rivals_table.EXPERIMENT.plot(phan(["all"], {"ours": [0.9], "msc": [0.8]}))
    assert len(without.axes) == 1


def test_a_single_point_is_not_hidden_and_counts_are_whole():
    figure = _pictures.blank(4, 3)
    ax = figure.subplots()
    _pictures.line(ax, "ours", "ours", [30, 74], [0, 1], [0, 0])
    _pictures.line(ax, "lin-ls", "Lin-LS", [30], [0], [0])
    _pictures.at_cameras(ax, [74, 30, 30])
    _pictures.whole_numbers(ax)
    ours, alone = (container.lines[0] for container in ax.containers)
    assert alone.get_zorder() > ours.get_zorder()
    assert alone.get_markerfacecolor() == "none"
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["30", "74"]
    assert all(tick == round(tick) for tick in ax.get_yticks())


def test_bars_have_the_digits_of_the_table():
    figure = _pictures.blank(4, 3)
    ax = figure.subplots()
    rows = [_pictures.Bar("ours", "ours", 0.999749, 0.0, None)]
    _pictures.bars(ax, rows, "F", _words.share)
    assert [text.get_text() for text in ax.texts] == [".9997"]


def test_a_whole_experiment(tmp_path, monkeypatch):
    """From nothing to JSON and picture, and the same again without running anything."""
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
    assert digest_in(path.with_suffix(".svg").read_text()) == digest(first["result"])
    conduct("rivals-table", **where)
    assert (path.read_bytes(), path.with_suffix(".svg").read_bytes()) == before


def test_versions_and_commits_are_those_of_the_runs(tmp_path, monkeypatch):
    """Not those of the day they are scored, nor those of runs of another result."""
    monkeypatch.setattr(rivals_table, "METHODS", {k: METHODS[k] for k in ("ours", "hdbscan")})
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    conduct("rivals-table", **where)
    older = tmp_path / "study/runs/phan-D1/ours/0.json"
    document = json.loads(older.read_text())
    document["made"]["versions"] = {"samecam": "0.0.1", "numpy": "1.0"}
    document["made"]["commit"] = "abc"
    older.write_text(json.dumps(document))
    foreign = tmp_path / "study/runs/elsewhere/ours/0.json"
    foreign.parent.mkdir(parents=True)
    document["made"]["versions"] = {"samecam": "9.9"}
    foreign.write_text(json.dumps(document | {"arrays": []}))
    found = conduct("rivals-table", **where)
    assert found["versions"]["samecam"].startswith("0.0.1, ")
    assert "9.9" not in found["versions"]["samecam"]
    assert found["versions"]["numpy"].startswith("1.0, ")
    assert "not recorded" in found["versions"]["scipy"]
    assert "abc" in found["commit"].split(", ")
    assert "photographs" not in found


def test_photographs_of_configurations_are_named_once():
    def document(name, cameras, **more):
        return {"cameras": cameras, "parameters": {"collection": name, "images": 30, **more}}

    sets = [
        document("Da5", 5, sha256="a" * 64),
        document("Da5", 5, sha256="a" * 64, options={"x": 1}),
        document("Da10", 10, sha256="b" * 64),
        document("Da10", 0, sha256="b" * 64),  # a method that could not do them
        {"cameras": 3, "parameters": {"twin": "Da5"}},
        {"cameras": 0, "parameters": {"photos": "real photographs, 1 cameras", "sha256": "c"}},
    ]
    assert photographs(sets) == [
        {"photos": "Da5, 5 cameras, 30 files", "sha256": "a" * 64},
        {"photos": "Da10, 10 cameras, 30 files", "sha256": "b" * 64},
        {"photos": "real photographs, 1 cameras", "sha256": "c"},
    ]


def test_versions_name_what_methods_compute_with():
    import scipy
    import sklearn

    found = versions()
    assert (found["scipy"], found["scikit-learn"]) == (scipy.__version__, sklearn.__version__)
    assert {"samecam", "numpy", "numba"} <= set(found)
    assert each_version([found, {**found, "scipy": "1"}])["scipy"] == f"1, {scipy.__version__}"


def test_unknown_names_are_sentences():
    with pytest.raises(SamecamError, match="'nonsense' is no experiment: choose from sparse-"):
        experiment("nonsense")
    with pytest.raises(SamecamError, match="few-images has no form for real collections"):
        conduct("few-images", data=".")


def test_all_names_are_there():
    assert len(EXPERIMENTS) == 13
    for name in OURS:
        assert experiment(name).name == name
