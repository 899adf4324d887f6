"""Every method on small twins: what is run, saved and scored."""

import time
from dataclasses import replace

import numpy as np
import pytest

from samecam.datasets import twin
from samecam.errors import SamecamError
from samecam.experiments import Context, Study, _grid, _paper, rivals_table
from samecam.experiments._methods import METHODS, make_estimator
from samecam.experiments._sources import Plan, twin_source
from samecam.experiments._text import failures
from samecam.metrics import scores


def small(name="Vs5"):
    """A twin of that name with few photos."""
    model = twin(name)
    return replace(model, sizes=(12, 9, 8), models=(), mean=0.05)


def small_runs(runs=2, methods=("ours", "ls-ssc", "hierarchical")):
    plan = Plan([twin_source(small("Vs5")), twin_source(small("Va5"))], ())
    return _grid.grid_runs(plan, [METHODS[key] for key in methods], runs)


def test_random_methods_run_several_times_others_once():
    keys = [task.key for task in small_runs(runs=3)]
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
    todo = small_runs()
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
    todo = small_runs()
    _grid.run_grid(Context(Study(tmp_path)), "test", todo)
    (tmp_path / "runs/Vs5/ours/0.json").unlink()
    study = Study(tmp_path)
    _grid.run_grid(Context(study), "test", todo)
    assert study.made == 1


def test_another_twin_in_the_same_folder_is_refused(tmp_path):
    todo = small_runs()
    _grid.run_grid(Context(Study(tmp_path)), "test", todo)
    other = Plan([twin_source(replace(small("Vs5"), mean=0.06))], ())
    with pytest.raises(SamecamError, match="name a new folder"):
        _grid.run_grid(
            Context(Study(tmp_path)), "test", _grid.grid_runs(other, [METHODS["ours"]], 1)
        )


def test_a_method_that_cannot_is_listed_with_its_reason(tmp_path, monkeypatch):
    from samecam.cluster import ConsolidatedSSC

    def refuse(*_, **__):
        raise ValueError("X is too odd")

    monkeypatch.setattr(ConsolidatedSSC, "fit", refuse)
    todo = small_runs(methods=("ours",))
    study = Study(tmp_path)
    _grid.run_grid(Context(study), "test", todo)
    result = _grid.score_grid(study, todo)
    assert [run["failed"] for run in result["runs"]] == ["X is too odd"] * 2
    assert _grid.cell(result, "Vs5", "ours") is None
    assert failures(result) == ["ours gives no answer on Vs5 and Va5: X is too odd."]


SHARING = ("ssc", "ssc-nc", "msc", "lin-ls", "lin-ls-measured", "ls-ssc", "ccc", "mrf", "bloy")


def test_runs_that_share_steps_give_what_each_alone_would(tmp_path):
    """Of many small cameras, so that the seed matters."""
    many = replace(twin("Vs5"), sizes=(6,) * 30, models=(), mean=0.02)
    plan = Plan([twin_source(many)], ())
    todo = _grid.grid_runs(plan, [METHODS[key] for key in SHARING], 4)
    study = Study(tmp_path)
    _grid.run_grid(Context(study), "test", todo)
    gram, _ = many.gram()
    for planned in todo:
        method = planned.method
        alone = make_estimator(
            method.name,
            method.settings(many.configuration),
            planned.seed,
            metric="precomputed",
            n_pixels=many.n_pixels,
        )
        shared = study.load(planned.key).arrays["labels"]
        np.testing.assert_array_equal(shared, alone.fit_predict(gram), planned.key)
    for key in ("ssc", "ssc-nc", "msc", "lin-ls"):
        runs = [planned.key for planned in todo if planned.method.key == key]
        assert len({study.load(run).arrays["labels"].tobytes() for run in runs}) > 1, key


def test_what_comes_before_the_seed_is_done_once(tmp_path, monkeypatch):
    """In a run's time it counts nevertheless."""
    from samecam.cluster import _input

    taken = []

    def slow(gram, gamma, *, represent=_input.represent, **options):
        taken.append(options["nonnegative"])
        time.sleep(0.3)
        return represent(gram, gamma, **options)

    monkeypatch.setattr(_input, "represent", slow)
    todo = small_runs(runs=3, methods=("ssc", "ssc-nc"))
    study = Study(tmp_path)
    _grid.run_grid(Context(study), "test", todo)
    assert taken == [False, True] * 2  # once for each method and source
    runs = [study.load(planned.key).facts for planned in todo]
    assert all(run["seconds"] > 0.3 for run in runs)
    assert [run["shared"] > 0.2 for run in runs] == [False, True, True] * 4
