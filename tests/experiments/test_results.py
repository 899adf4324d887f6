"""Results on disk: from nothing to JSON and picture, with where they come from."""

import json

import pytest

from samecam.errors import SamecamError
from samecam.experiments import Run, Study, experiment
from samecam.experiments._results import conduct, each_version, photographs, read_result
from samecam.pages import digest, digest_in


def test_a_whole_experiment(tmp_path, small_table):
    """From nothing to JSON and picture, and the same again without running anything."""
    small_table("ours", "ls-ssc")
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


def test_versions_and_commits_are_those_of_the_runs(tmp_path, small_table):
    """Not those of the day they are scored, nor those of runs of another result."""
    small_table("ours", "hdbscan")
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    conduct("rivals-table", **where)
    older = tmp_path / "study/runs/phan-D1/ours/0.json"
    document = json.loads(older.read_text())
    document["made"]["versions"] = {"samecam": "0.0.1", "numpy": "1.0"}
    document["made"]["commit"] = "abc"
    older.write_text(json.dumps(document))
    foreign = tmp_path / "study/runs/other/ours/0.json"
    foreign.parent.mkdir(parents=True)
    document["made"]["versions"] = {"samecam": "9.9"}
    foreign.write_text(json.dumps(document | {"arrays": []}))
    after = conduct("rivals-table", **where)
    assert after["versions"]["samecam"].startswith("0.0.1, ")
    assert "9.9" not in after["versions"]["samecam"]
    assert after["versions"]["numpy"].startswith("1.0, ")
    assert "not recorded" in after["versions"]["scipy"]
    assert "abc" in after["commit"].split(", ")
    assert "photographs" not in after


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


def test_versions_name_what_methods_compute_with(tmp_path):
    import scipy
    import sklearn

    study = Study(tmp_path)
    study.run("a", Run)
    versions = study.provenance("a")["versions"]
    assert versions["scipy"] == scipy.__version__
    assert versions["scikit-learn"] == sklearn.__version__
    assert {"samecam", "numpy", "numba"} <= set(versions)
    both = each_version([versions, {**versions, "scipy": "1"}])
    assert both["scipy"] == f"1, {scipy.__version__}"


def test_unknown_names_are_errors():
    with pytest.raises(SamecamError, match="'nonsense' is no experiment: choose from sparse-"):
        experiment("nonsense")
    with pytest.raises(SamecamError, match="few-images has no form for real collections"):
        conduct("few-images", data=".")
