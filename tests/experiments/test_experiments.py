"""Experiments with runs made up: what is scored, drawn and said of them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from samecam.datasets import twin
from samecam.experiments import EXPERIMENTS, Context, Run, Study, experiment
from samecam.experiments.few_images import alone_by_size
from samecam.experiments.outliers import strangers
from samecam.experiments.running_time import scaled

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
    model = twin(name)
    return replace(model, sizes=(12, 9, 8), models=(), mean=0.05)


def test_strangers_are_those_whose_camera_took_one_photo():
    truth, labels = [0, 0, 0, 1, 2, 3, 4], [0, 0, -1, -1, 0, 1, 1]
    assert strangers(truth, labels) == (4, 1, 2)


def test_photos_left_alone_by_size_of_their_camera():
    truth, labels = [0, 0, 0, 1, 2, 2, 2, 3], [-1, 0, 0, -1, 1, 1, -1, 2]
    assert alone_by_size(truth, labels) == {"1": 0.5, "3": pytest.approx(2 / 6, abs=1e-6)}


def test_scaled_twins_stand_out_as_much():
    model = scaled(twin("Da10"))
    X, labels = replace(model, sizes=(30, 30), camera_spread=0.0, photo_cv=0.0).fingerprints(128**2)
    G = X @ X.T
    same = labels[:, None] == labels
    off = ~np.eye(60, dtype=bool)
    whole = twin("Da10")
    here = G[same & off].mean() / G[~same].std()
    assert here == pytest.approx(whole.mean / whole.null_scale, rel=0.15)
    alike = twin("Dam5")
    assert scaled(alike).model_mean / alike.model_mean == scaled(alike).mean / alike.mean == 4


def test_reading_is_timed_and_changes_nothing(tmp_path):
    from samecam import correlate
    from samecam.experiments._timed import TimedStore
    from samecam.experiments.running_time import _write
    from samecam.store import DiskStore

    _write(small(), tmp_path / "store")
    made = DiskStore.open(tmp_path / "store")
    store = made.rows()
    timed = TimedStore(store)
    assert timed.seconds == 0
    np.testing.assert_array_equal(timed.read(), store.read())
    once = timed.seconds
    assert once > 0
    np.testing.assert_array_equal(correlate.gram(timed), correlate.gram(store))
    assert timed.seconds > once
    parts = [part.copy() for _, part in timed.columns(5000)]
    np.testing.assert_array_equal(np.hstack(parts), store.read())
    made.close()


def fake(name, study):
    """Runs of an experiment with labels made up, so that all that follows can be tested."""
    wanted = experiment(name)
    rng = np.random.default_rng(0)

    def run(key, *_, **__):
        truth = np.repeat(np.arange(4, dtype=np.int32), 5)
        truth = np.append(truth, [7, 8]).astype(np.int32)
        labels = np.where(rng.random(truth.size) < 0.2, -1, truth % 4).astype(np.int32)
        facts = {"seconds": 1.0 + rng.random(), "reading": 0.25, "processor": 2.0, "seed": 0}
        return Study.run(study, key, lambda: Run({"truth": truth, "labels": labels}, facts))

    study.run = run
    return wanted


@pytest.mark.parametrize(
    ("name", "quick"),
    [*((name, True) for name in OURS), ("large-dresden", False), ("running-time", False)],
)
def test_results_are_scored_drawn_and_told(tmp_path, name, quick, monkeypatch):
    from samecam.experiments import running_time

    monkeypatch.setattr(running_time, "_write", lambda *_: None)
    monkeypatch.setattr(running_time, "_warm_up", lambda *_: None)
    study = Study(tmp_path / "study")
    wanted = fake(name, study)
    context = Context(study, quick=quick)
    wanted.run(context)
    result = json.loads(json.dumps(wanted.score(study, context)))
    keys = [run["key"] for run in result["runs"]]
    assert len(keys) == len(set(keys)) == len(study.keys())
    assert all({"seed", "commit", "seconds"} <= set(run) for run in result["runs"])
    assert wanted.name == name
    from samecam.experiments._results import svg

    picture = svg(wanted.plot(result))
    assert picture == svg(wanted.plot(result))
    assert "<svg" in picture
    text = wanted.text(result)
    assert "nan" not in text.lower()
    assert text.count("|") > 10


@pytest.mark.parametrize("name", OURS)
def test_quick_is_the_beginning_of_full(tmp_path, name):
    keys = {}
    for quick in (True, False):
        entry = EXPERIMENTS[name]
        module = __import__(f"samecam.experiments.{entry.module}", fromlist=["x"])
        context = Context(Study(tmp_path), quick=quick)
        if entry.module in ("medium", "large"):
            todo = module._todo(name.split("-")[1], context)[1]
        else:
            todo = module._todo(context)
        keys[quick] = {task.key for task in todo}
    assert keys[True] < keys[False]


def test_all_names_are_there():
    assert len(EXPERIMENTS) == 18
    for name in OURS:
        assert experiment(name).name == name
