"""Every method on small twins: what is run, saved and scored."""

from dataclasses import replace

import numpy as np
import pytest

from samecam.datasets import twin
from samecam.errors import SamecamError
from samecam.experiments import Context, Study, _grid, _paper, rivals_table
from samecam.experiments._methods import METHODS
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
