"""A study keeps what was run: nothing twice, nothing by halves, nothing of other parameters."""

import json

import numpy as np
import pytest

from samecam.errors import SamecamError
from samecam.experiments import Run, Study


def made(value=1):
    return Run({"labels": np.array([0, 1, -1]), "name": np.array("x")}, {"seconds": value})


def test_a_run_is_made_once_and_then_loaded(tmp_path):
    calls = []

    def make():
        calls.append(1)
        return made(np.float64(2.5))

    first = Study(tmp_path).run("Va20/ls-ssc/3", make)
    again = Study(tmp_path).run("Va20/ls-ssc/3", make)
    assert len(calls) == 1
    for run in (first, again):
        assert run.facts == {"seconds": 2.5}
        assert run.arrays["labels"].tolist() == [0, 1, -1]


def test_other_runs_are_made(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    study.run("a/2", made)
    assert study.made == 2
    assert Study(tmp_path).keys() == ["a/1", "a/2"]


def test_keys_are_sorted_by_number(tmp_path):
    study = Study(tmp_path)
    for key in ("a/10", "a/9", "b.1/2", "a/x"):
        study.run(key, made)
    assert study.keys() == ["a/9", "a/10", "a/x", "b.1/2"]
    assert study.keys("a/") == ["a/9", "a/10", "a/x"]


def test_a_failure_leaves_nothing(tmp_path):
    def fail():
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        Study(tmp_path).run("a/1", fail)
    assert not Study(tmp_path).has("a/1")


def test_arrays_without_facts_do_not_count(tmp_path):
    """Killed between the two files of a run, it is made again."""
    study = Study(tmp_path)
    study.run("a/1", made)
    (tmp_path / "runs/a/1.json").unlink()
    assert not study.has("a/1")
    assert study.run("a/1", lambda: made(7)).facts["seconds"] == 7


def test_a_run_without_arrays_forgets_older_ones(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    (tmp_path / "runs/a/1.json").unlink()
    assert study.run("a/1", lambda: Run({}, {"failed": "no"})).arrays == {}


def test_other_parameters_are_refused(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made, parameters={"mean": 0.02, "sizes": (1, 2)})
    study.run("a/1", made, parameters={"mean": 0.02, "sizes": [1, 2]})
    with pytest.raises(SamecamError, match=r"'a/1'.*0\.02.*0\.03.*new folder"):
        study.run("a/1", made, parameters={"mean": 0.03, "sizes": [1, 2]})


@pytest.mark.parametrize("key", ["", "../a", "a//b", "/a", "a/", "a b", ".a", "a\n"])
def test_odd_keys_are_refused(tmp_path, key):
    with pytest.raises(ValueError, match="is no key"):
        Study(tmp_path).run(key, made)
    assert not list(tmp_path.iterdir())


def test_what_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(SamecamError, match=r"has no run 'a/1': run the experiment first"):
        Study(tmp_path).load("a/1")


def test_damaged_files_are_named(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    (tmp_path / "runs/a/1.npz").write_bytes(b"no zip")
    with pytest.raises(SamecamError, match=r"1\.npz' cannot be read"):
        study.load("a/1")
    (tmp_path / "runs/a/1.json").write_text("{")
    with pytest.raises(SamecamError, match=r"1\.json' cannot be read"):
        study.load("a/1")


def test_a_run_tells_where_it_comes_from(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    found = study.provenance("a/1")
    assert set(found) == {"commit", "versions", "processor"}
    assert found["versions"]["samecam"]
    assert json.loads((tmp_path / "runs/a/1.json").read_text())["key"] == "a/1"
