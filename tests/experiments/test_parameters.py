"""Runs carry what they depend on: after a change of the twins they are not taken for new ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

from samecam.datasets import twin
from samecam.errors import SamecamError
from samecam.experiments import Context, Run, Study, _hyper_sets, hyperparameters, running_time
from samecam.experiments._sources import twin_parameters, twin_source

CHANGES = {
    "mean": 0.021,
    "camera_spread": 0.5,
    "photo_cv": 0.6,
    "null_scale": 0.003,
    "seed": 7,
    "model_mean": 0.002,
}


def other_sizes(model):
    """As many photos of as many cameras, one of them of another camera."""
    sizes = list(model.sizes)
    return replace(model, sizes=(sizes[0] + 1, sizes[1] - 1, *sizes[2:]))


@pytest.fixture
def timed(monkeypatch):
    """Twins of running-time, which may be exchanged; no run takes time."""
    known = {}
    monkeypatch.setattr(running_time, "twin", lambda name: known.get(name, twin(name)))
    monkeypatch.setattr(running_time, "_write", lambda *_: None)
    monkeypatch.setattr(running_time, "_warm_up", lambda *_: None)
    monkeypatch.setattr(running_time, "_timed", lambda *_: Run({}, {"seconds": 1}))
    return known


@pytest.mark.parametrize("name", [*CHANGES, "sizes", "models"])
def test_running_time_refuses_runs_of_other_twins(tmp_path, timed, name):
    context = Context(Study(tmp_path), quick=True)
    running_time.EXPERIMENT.run(context)
    made = context.study.made
    running_time.EXPERIMENT.run(context)
    assert context.study.made == made == 6
    timed["LDa30"] = {
        "sizes": other_sizes(twin("LDa30")),
        "models": replace(twin("LDa30"), models=(0,) * len(twin("LDa30").models)),
    }.get(name) or replace(twin("LDa30"), **{name: CHANGES[name]})
    with pytest.raises(SamecamError, match="'LDa30/ours/0'.*name a new folder"):
        running_time.EXPERIMENT.run(context)


def test_running_time_refuses_runs_of_another_length_or_other_options(tmp_path, timed, monkeypatch):
    context = Context(Study(tmp_path), quick=True)
    running_time.EXPERIMENT.run(context)
    saved = json.loads((tmp_path / "runs/Da10/ls-ssc/0.json").read_text())["parameters"]
    assert saved["options"] == running_time.METHODS["ls-ssc"].settings(twin("Da10").configuration)
    monkeypatch.setattr(running_time, "_SIDE", 64)
    with pytest.raises(SamecamError, match="'Da10/ours/0'.*name a new folder"):
        running_time.EXPERIMENT.run(context)
    assert not timed


def test_what_another_process_times_is_not_removed(tmp_path, timed, monkeypatch):
    def refuse(_self):
        raise SamecamError("in use")

    monkeypatch.setattr(Study, "hold", refuse)
    (tmp_path / "store").mkdir()
    with pytest.raises(SamecamError, match="in use"):
        running_time.EXPERIMENT.run(Context(Study(tmp_path), quick=True))
    assert (tmp_path / "store").is_dir()
    assert not timed


@pytest.fixture
def chosen(monkeypatch):
    """Sets of hyperparameters, whose twins may be exchanged; no run takes time."""
    known = {}
    monkeypatch.setattr(_hyper_sets, "twin", lambda name: known.get(name, twin(name)))
    run = Run({}, {"seconds": 1})
    for name in ("_eta", "_gamma", "_recycle"):
        monkeypatch.setattr(hyperparameters, name, lambda *_: run)
    monkeypatch.setattr(hyperparameters, "simulated_set", lambda *_: None)
    return known


@pytest.mark.parametrize(
    ("name", "change", "key"),
    [
        ("dev", {"mean": 0.06}, "eta/dev/exact"),
        ("dev", {"sizes": (201, 249, 300)}, "eta/dev/exact"),
        ("dev", {"null_scale": 0.003}, "eta/dev/exact"),
        ("Da5", {"seed": 9}, "recycling/Da5-paper/K=3/0"),
        ("Da5", {"camera_spread": 0.3}, "recycling/Da5-paper/K=3/0"),
    ],
)
def test_hyperparameters_refuse_runs_of_other_twins(tmp_path, chosen, name, change, key):
    context = Context(Study(tmp_path), quick=True)
    hyperparameters.EXPERIMENT.run(context)
    made = context.study.made
    hyperparameters.EXPERIMENT.run(context)
    assert context.study.made == made > 0
    chosen[name] = replace(twin(name), **change)
    with pytest.raises(SamecamError, match=f"'{key}'.*name a new folder"):
        hyperparameters.EXPERIMENT.run(context)


@pytest.mark.parametrize(("part", "value"), [("_WEAK_MEAN", 0.02), ("_WEAK_SEED", 3)])
def test_hyperparameters_refuse_runs_of_another_weak_set(
    tmp_path, chosen, monkeypatch, part, value
):
    context = Context(Study(tmp_path), quick=True)
    hyperparameters.EXPERIMENT.run(context)
    monkeypatch.setattr(_hyper_sets, part, value)
    with pytest.raises(SamecamError, match=r"'gamma/weak-256/00'.*name a new folder"):
        hyperparameters.EXPERIMENT.run(context)
    assert not chosen


def test_every_run_of_hyperparameters_names_its_set_and_side(tmp_path, chosen):
    study = Study(tmp_path)
    hyperparameters.EXPERIMENT.run(Context(study, quick=True))
    keys = study.keys()
    for key in keys:
        given = json.loads((tmp_path / "runs" / f"{key}.json").read_text())["parameters"]
        of = key.split("/")[1]
        assert given["twin"] == of.split("-")[0]
        side = int(of.split("-")[1]) if key.startswith("gamma/") else 512
        assert given["n_pixels"] == side**2
        assert given["null_scale"] == pytest.approx(0.0027 * 512 / side)
    assert not chosen


def test_the_weak_set_is_what_it_was():
    from samecam.simulate import gram

    dev = twin("dev")
    sizes = np.random.default_rng(0).integers(10, 50, 20, endpoint=True).tolist()
    slow = gram(
        sizes, 0.01, n_pixels=256**2, null_scale=dev.null_scale * 2, seed=0,
        camera_spread=dev.camera_spread, photo_cv=dev.photo_cv,
    )  # fmt: skip
    weak = _hyper_sets.simulated_set("weak", 256)
    np.testing.assert_array_equal(weak.gram, slow.gram)
    np.testing.assert_array_equal(weak.truth, slow.labels)


def test_parameters_of_other_studies_stay_as_they_were():
    """Saved runs of theirs are found again."""
    model = twin("Dam5")
    assert list(twin_source(model).parameters.items()) == [
        ("twin", "Dam5"),
        ("images", 855),
        ("mean", model.mean),
        ("camera_spread", 0.4),
        ("photo_cv", 0.5),
        ("null_scale", 0.0027),
        ("n_pixels", 262144),
        ("seed", model.seed),
        ("model_mean", model.model_mean),
    ]
    more = twin_parameters(model, whole=True)
    assert set(more) - set(twin_source(model).parameters) == {"cameras_sha256"}
