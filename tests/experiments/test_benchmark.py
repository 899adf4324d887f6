"""Any method on fixed sets: who may take part, what is scored, what fails, what is kept."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import samecam
from samecam.errors import SamecamError
from samecam.experiments import Study, benchmark
from samecam.experiments._methods import METHODS
from samecam.experiments.benchmarking import _benchmark
from samecam.experiments.benchmarking._entrants import entrants
from samecam.metrics import scores
from tests.experiments import benchmarked
from tests.experiments.small_sets import SMALL

SPEC = "tests.experiments.benchmarked:"


def row(result, name, method):
    rows = result.content["result"]["rows"]
    return next(r for r in rows if (r["configuration"], r["label"]) == (name, method))


@pytest.mark.usefixtures("here")
def test_methods_are_scored_and_put_in_order(tmp_path):
    result = benchmark("hdbscan", "ours", SPEC + "Plain", out=tmp_path, runs=2)
    content = json.loads((tmp_path / "benchmark.json").read_text())
    assert content == result.as_dict()
    assert (content["format"], content["version"], content["sets_version"]) == (
        *("samecam-benchmark", 1, 1),
    )
    assert {one["name"]: one["sha256"] for one in content["sets"]} == {
        name: one.sha256 for name, one in SMALL.items()
    }
    assert {"numpy", "scikit-learn", "samecam"} <= set(content["versions"])
    assert content["processor"]
    assert content["cores"]
    assert content["command"] == "samecam benchmark hdbscan ours Plain --runs 2"
    ranked = result.ranking
    assert [one["f"] for one in ranked] == sorted((one["f"] for one in ranked), reverse=True)
    assert ranked[-1]["label"] == "Plain"
    ours = next(one for one in ranked if one["method"] == "ours")
    assert ours["f"] == 1
    assert (ours["groups"], ours["cameras"], ours["unclustered"], ours["strangers"]) == (5, 5, 2, 2)
    assert ours["sets"] == 2
    for name in SMALL:
        run = Study(tmp_path).load(f"{name}/hdbscan/0")
        expected = scores(SMALL[name].gram().labels.tolist(), run.arrays["labels"])
        found = row(result, name, "HDBSCAN")
        for measure in ("f", "precision", "recall", "ari", "n_clusters", "n_unclustered"):
            assert found[measure] == pytest.approx(getattr(expected, measure), abs=1e-6)


@pytest.mark.usefixtures("here")
def test_means_and_spreads_are_over_runs(tmp_path):
    """The seeds 0, 1 and 2 take photos of different cameras out."""
    result = benchmark(benchmarked.Plain(), out=tmp_path, runs=3)
    runs = [run for run in result.content["result"]["runs"] if run["configuration"] == "b"]
    assert [run["seed"] for run in runs] == [0, 1, 2]
    values = [run["f"] for run in runs]
    assert len(set(values)) > 1
    found = row(result, "b", "Plain")
    assert found["f"] == pytest.approx(np.mean(values), abs=1e-6)
    assert found["f_spread"] == pytest.approx(np.std(values, ddof=1), abs=1e-6)
    assert found["runs"] == result.ranking[0]["runs"] == 3
    both = [np.mean([r["f"] for r in result.content["result"]["runs"] if r["seed"] == k])
            for k in range(3)]  # fmt: skip
    assert result.ranking[0]["f_spread"] == pytest.approx(np.std(both, ddof=1), abs=1e-6)


@pytest.mark.parametrize("name", ["Strong", "Fingers", "READY", "made"])
@pytest.mark.usefixtures("here")
def test_an_estimator_is_given_what_it_takes(tmp_path, name):
    """Its own asserts see to the input; all below 0, and groups of one, are no group."""
    result = benchmark(SPEC + name, out=tmp_path)
    assert result.failures == []
    assert [row["f"] for row in result.content["result"]["rows"]] == [1, 1]
    labels = Study(tmp_path).load(f"b/{result.ranking[0]['method']}/0").arrays["labels"]
    assert np.count_nonzero(labels == -1) == 2
    assert labels.min() == -1
    told = result.content["methods"][0]
    assert told["input"] == ("fingerprints" if name == "Fingers" else "correlations")
    assert told["whose"] == "yours"
    assert len(told["source_sha256"]) == 64


@pytest.mark.usefixtures("here")
def test_a_class_or_an_object_is_taken_as_it_is(tmp_path):
    class Local(benchmarked.Strong):
        """Nobody can import it."""

    result = benchmark(Local(), benchmarked.Strong, out=tmp_path)
    assert {one["label"]: one["f"] for one in result.ranking} == {"Local": 1, "Strong": 1}


def test_which_methods_are_meant():
    assert [m.key for m in entrants(())] == ["ours"]
    assert [m.key for m in entrants(("all",))] == list(METHODS)
    assert [m.key for m in entrants(("consolidated", "SSC-NC", "ours"))] == ["ours", "ssc-nc"]
    for given, words in (
        ("best", "'best' is no method: choose all, ours, ls-ssc, .* or file.py:Class"),
        ("nowhere.py:Mine", "nowhere.py:Mine' cannot be loaded .*FileNotFoundError"),
        ("samecam.metrics:Nothing", "cannot be loaded .AttributeError"),
        (SPEC + "os", "has neither fit_predict nor fit"),
        (object(), "'object' has neither fit_predict nor fit"),
    ):
        with pytest.raises(SamecamError, match=words):
            entrants((given,))


@pytest.mark.usefixtures("here")
def test_what_is_asked_for_must_be_there(tmp_path):
    with pytest.raises(SamecamError, match="'c' is no set: choose from a, b, or none"):
        benchmark(out=tmp_path, sets=["c"])
    with pytest.raises(SamecamError, match="There is no set to run on"):
        benchmark(out=tmp_path, sets=["none"])
    with pytest.raises(SamecamError, match="limit is 0: give seconds above 0"):
        benchmark(out=tmp_path, limit=0)
    assert not (tmp_path / "runs").exists()


@pytest.mark.usefixtures("small")
def test_what_fails_is_listed_and_the_rest_goes_on(tmp_path):
    """In processes of their own, one of which ends itself."""
    source = shutil.copy(Path(benchmarked.__file__), tmp_path / "mine.py")
    names = ("Unfit", "Gone", "Hungry", "Strong")
    out = tmp_path / "out"
    result = benchmark(*(f"{source}:{name}" for name in names), out=out, sets=["a"])
    reasons = {r["label"]: r.get("failed") for r in result.content["result"]["rows"]}
    assert reasons == {
        "Unfit": "TypeError: it was not meant.",
        "Gone": "Its process failed.",
        "Hungry": "There is not enough memory.",
        "Strong": None,
    }
    assert result.ranking[0]["label"] == "Strong"
    assert [one["f"] for one in result.ranking[1:]] == [0, 0, 0]
    assert "Hungry gives no answer on a: There is not enough memory." in result.failures
    facts = Study(out).load(f"a/{result.ranking[0]['method']}/0").facts
    assert facts["peak_memory"] > 2**24
    assert facts["threads"] >= 1


@pytest.mark.usefixtures("here")
def test_labels_that_are_none_are_a_failure(tmp_path):
    result = benchmark(SPEC + "Broken", SPEC + "Halves", out=tmp_path, sets=["a"])
    assert row(result, "a", "Broken")["failed"].startswith(
        "labels are int64 of shape (23,): give 24"
    )
    assert row(result, "a", "Halves")["failed"].startswith("labels are float64 of shape (24,)")


@pytest.mark.usefixtures("small")
def test_a_run_over_its_limit_is_made_again_with_a_higher_one(tmp_path, monkeypatch):
    slow, given = SPEC + "Slow", {"out": tmp_path, "sets": ["a"]}
    result = benchmark(slow, limit=0.3, **given)
    assert result.failures == ["Slow gives no answer on a: It took longer than 0.3 seconds."]
    monkeypatch.setenv("SLOW", "0")
    again = benchmark(slow, limit=0.3, **given)
    assert again.failures == result.failures
    assert benchmark(slow, limit=60, **given).failures == []


def counted(monkeypatch, stop_at=None):
    """Keys of the runs that are made from now on; a kill in place of one of them."""
    made, run_one = [], _benchmark.run_one

    def run(planned, *given):
        if len(made) == stop_at:
            raise KeyboardInterrupt
        made.append(planned.key)
        return run_one(planned, *given)

    monkeypatch.setattr(_benchmark, "run_one", run)
    return made


@pytest.mark.usefixtures("here")
def test_the_same_command_goes_on(tmp_path, monkeypatch):
    with pytest.MonkeyPatch.context() as patch:
        first = counted(patch, stop_at=2)
        with pytest.raises(KeyboardInterrupt):
            benchmark("ours", "hdbscan", out=tmp_path)
    assert first == ["a/ours/0", "a/hdbscan/0"]
    assert not list(tmp_path.glob(".samecam*"))
    then = counted(monkeypatch)
    result = benchmark("ours", "hdbscan", out=tmp_path)
    assert then == ["b/ours/0", "b/hdbscan/0"]
    before = result.file.read_bytes()
    benchmark("ours", "hdbscan", out=tmp_path)
    assert len(then) == 2
    assert result.file.read_bytes() == before


@pytest.mark.usefixtures("here")
def test_another_text_or_parameter_is_another_method(tmp_path, monkeypatch):
    source = tmp_path / "mine.py"
    source.write_text(Path(benchmarked.__file__).read_text())
    spec, out = f"{source}:Strong", tmp_path / "out"
    made = counted(monkeypatch)
    benchmark(spec, out=out, sets=["a"])
    benchmark(spec, out=out, sets=["a"])
    assert len(made) == 1
    source.write_text(source.read_text() + "\n# better\n")
    result = benchmark(spec, out=out, sets=["a"])
    assert len(set(made)) == 2
    assert len(result.ranking) == 1, "what was run before is no part of it"
    first, second = (entrants((benchmarked.Strong(metric),))[0]
                     for metric in ("precomputed", "cosine"))  # fmt: skip
    assert first.key != second.key


def test_a_set_that_comes_out_different_is_not_used(here, tmp_path):
    here(b=replace(SMALL["b"], sha256="0" * 64))
    result = benchmark("hdbscan", out=tmp_path)
    assert len(result.different) == 1
    assert "'b' comes out different here" in result.different[0]
    assert [r["configuration"] for r in result.content["result"]["rows"]] == ["a"]
    assert result.ranking[0]["f"] > 0.5
    assert not (tmp_path / "runs" / "b").exists()


def test_it_is_checked_also_where_nothing_is_run(here, tmp_path):
    benchmark("hdbscan", out=tmp_path)
    here(b=replace(SMALL["b"], model=replace(SMALL["b"].model, seed=9)))
    result = benchmark("hdbscan", out=tmp_path)
    assert len(result.different) == 1
    assert [r["configuration"] for r in result.content["result"]["rows"]] == ["a"]


@pytest.mark.usefixtures("here")
def test_real_photographs(tmp_path, shots):
    root = tmp_path / "photos"
    rows = ["path,camera"]
    for k, camera in enumerate(shots):
        for path in camera[: 4 if k else 1]:
            (root / f"c{k}").mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / f"c{k}")
            rows.append(f"c{k}/{path.name},camera {k}")
    (root / "truth.csv").write_text("\n".join(rows) + "\n")
    result = benchmark("ours", SPEC + "Fingers", out=tmp_path / "out", data=root, sets=["none"])
    assert result.failures == []
    (one,) = result.content["sets"]
    assert (one["name"], one["kind"]) == ("truth", "real")
    assert (one["cameras"], one["strangers"]) == (5, 1)
    assert one["photos"] == row(result, "truth", "ours")["n_images"] > 12
    assert row(result, "truth", "ours")["precision"] == 1
    assert row(result, "truth", "Fingers")["runs"] == 1
    assert str(tmp_path) not in result.file.read_text(), "where photos lie is told to nobody"
    assert result.content["command"] == "samecam benchmark ours Fingers --data DIR --sets none"


@pytest.mark.usefixtures("here")
def test_what_a_notebook_shows(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    result = samecam.benchmark("ours", SPEC + "Broken", out=tmp_path)
    assert repr(result) == "<Benchmark of 2 methods on 2 sets: ours first>"
    frame = result.to_frame()
    assert list(frame["set"]) == ["a", "a", "b", "b"]
    assert frame["f"].isna().sum() == 2
    assert "Broken gives no answer on a: labels are" in result._repr_html_()
    axes = result.plot().axes[0]
    words = {text.get_text() for text in axes.texts}
    assert words == {"1", "–"}
    assert [t.get_text() for t in axes.get_yticklabels()] == ["ours", "Broken"]
