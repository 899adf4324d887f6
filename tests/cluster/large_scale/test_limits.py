"""LS-SSC at its limits: few photos, noise, wrong parameters, real photographs."""

import numpy as np
import pytest
from sklearn.base import clone

from samecam import correlate
from samecam.cluster import METHODS, LargeScaleSSC
from samecam.simulate import gram
from samecam.store import MemoryStore
from tests.cluster.large_scale.collections import on_disk
from tests.cluster.large_scale.test_estimator import PRESETS, fit


@PRESETS
def test_a_single_photo(preset):
    fitted = fit(np.ones((1, 1)), preset=preset)
    assert fitted.labels_.tolist() == [-1]
    assert fitted.n_clusters_ == 0


def test_two_photos():
    assert fit(np.array([[1, 0.3], [0.3, 1]])).labels_.tolist() == [0, 0]
    assert fit(np.array([[1, 0.001], [0.001, 1]])).labels_.tolist() == [-1, -1]


def test_no_photo_gets_a_sentence():
    with pytest.raises(ValueError, match="0 sample"):
        LargeScaleSSC().fit(np.zeros((0, 5)))
    with pytest.raises(ValueError, match="no fingerprint"):
        LargeScaleSSC().fit(MemoryStore(5))


@pytest.mark.parametrize("n_batches", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_noise_holds_no_group(seed, n_batches):
    fitted = fit(gram([1] * 250, seed=seed).gram, n_batches=n_batches)
    assert (fitted.labels_ == -1).all()
    assert fitted.n_clusters_ == 0
    assert fitted.report_.converged


@pytest.mark.parametrize("size", [10, 60, 200])
def test_one_camera_is_one_group(size):
    G = gram([size], 0.05, photo_cv=0.3, seed=1).gram
    for n_batches in (1, 2):
        labels = fit(G, n_batches=n_batches).labels_
        assert set(labels.tolist()) <= {-1, 0}
        assert np.count_nonzero(labels == 0) >= 0.95 * size


@PRESETS
def test_constant_rows_are_in_no_group(preset, planted):
    X = np.concatenate([planted.X[:90], np.full((5, 16384), 7, dtype=np.float32)])
    labels = LargeScaleSSC(preset=preset, n_batches=2).fit(X).labels_
    assert (labels[90:] == -1).all()
    assert labels.max() >= 0
    assert (LargeScaleSSC(preset=preset).fit(X[90:]).labels_ == -1).all()


def test_copies_go_together(planted):
    first, second = planted.X[0], planted.X[planted.labels != planted.labels[0]][0]
    labels = LargeScaleSSC(gamma=0.05).fit(np.stack([first] * 12 + [second] * 8)).labels_
    assert labels.tolist() == [0] * 12 + [1] * 8


def test_more_batches_than_photos():
    fitted = fit(gram([6], 0.2, photo_cv=0, camera_spread=0).gram, n_batches=50)
    assert fitted.labels_.tolist() == [0] * 6


# Manners.


def test_the_same_at_every_call_and_another_by_seed():
    G, _ = gram([20] * 10, 0.01, seed=5)
    first, again, other = (
        LargeScaleSSC(preset="paper", metric="precomputed", n_pixels=512**2, n_batches=2,
                      random_state=s).fit(G) for s in (7, 7, 8)
    )  # fmt: skip
    np.testing.assert_array_equal(first.labels_, again.labels_)
    assert first.trace_ == again.trace_
    assert first.trace_ != other.trace_


def test_batches_and_rounds_are_as_asked():
    G = gram([30] * 6, 0.02, seed=1).gram
    phases = lambda **o: [e["phase"] for e in fit(G, **o).trace_]  # noqa: E731
    assert phases(batch_size=50).count("partition") == 4
    assert phases(n_batches=3, recycling=0).count("recycle") == 0
    assert phases(n_batches=2, recycling=1).count("recycle") == 1
    assert phases(preset="paper", n_batches=6).count("recycle") == 3
    assert phases(preset="paper", n_batches=2).count("recycle") > 1
    assert phases(n_batches=6, preset="paper")[-2:] == ["merge", "attract"]
    assert phases()[-1] == "reassign"


def test_a_round_of_recycling_holds_no_more_than_a_batch():
    G = gram([40] * 6, 0.01, seed=1).gram
    for entry in fit(G, n_batches=4).trace_:
        assert entry.get("photos", 0) <= 60


def test_progress_by_phase():
    calls = []
    G = gram([30] * 4, 0.03, seed=1).gram
    LargeScaleSSC(metric="precomputed", n_batches=3).fit(G, progress=lambda *c: calls.append(c))
    assert [c for c in calls if c[0] == "partition"] == [("partition", k, 3) for k in range(4)]
    order = list(dict.fromkeys(phase for phase, _, _ in calls))
    assert order == ["partition", "recycle", "merge", "attract", "reassign"]
    for phase in order:
        done, total = [c[1:] for c in calls if c[0] == phase][-1]
        assert done == total


def test_input_is_not_modified(planted):
    X, G = planted.X.copy(), correlate.gram(planted.X)
    before = G.copy()
    LargeScaleSSC(n_batches=2).fit(X)
    LargeScaleSSC(metric="precomputed", n_batches=2).fit(G)
    np.testing.assert_array_equal(X, planted.X)
    np.testing.assert_array_equal(G, before)


def test_parameters_survive_cloning():
    settings = {
        "preset": "paper", "batch_size": 300, "n_batches": None, "gamma": 0.004,
        "n_neighbours": 4, "recycling": 2, "threshold": "min", "false_alarm": 0.01,
        "metric": "precomputed", "memory": 10**9, "null_scale": 0.002, "n_pixels": 4096,
        "random_state": 5, "device": "cuda:1",
    }  # fmt: skip
    first = LargeScaleSSC(**settings)
    assert first.get_params() == clone(first).get_params() == settings
    assert set(LargeScaleSSC().get_params()) == set(settings)
    assert METHODS["ls-ssc"] is LargeScaleSSC


@pytest.mark.parametrize(
    "wrong",
    [
        {"preset": "x"}, {"batch_size": 1}, {"n_batches": 0}, {"recycling": -1}, {"gamma": -1.0},
        {"gamma": "cost"}, {"n_neighbours": 1}, {"threshold": "x"}, {"false_alarm": 0.0},
        {"metric": "x"}, {"null_scale": -1.0}, {"batch_size": 5, "n_batches": 2},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_parameters_get_a_sentence(wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(ValueError, match=f"{name} is .*{value}"):
        LargeScaleSSC(**wrong).fit(np.eye(3))


def test_the_published_constants_need_the_size():
    with pytest.raises(ValueError, match="give n_pixels"):
        LargeScaleSSC(metric="precomputed", preset="paper").fit(np.eye(3))


def test_a_row_without_numbers_is_named(tmp_path, planted):
    X = planted.X[:30].copy()
    X[17, 3] = np.nan
    with (
        on_disk(tmp_path / "store", X) as store,
        pytest.raises(ValueError, match="row 17 contains NaN"),
    ):
        LargeScaleSSC(n_batches=2).fit(store)
