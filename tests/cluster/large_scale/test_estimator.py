"""LS-SSC from end to end."""

import csv
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from samecam import correlate
from samecam.cluster import METHODS, LargeScaleSSC
from samecam.compute import LocalPool, WorkerDiedError
from samecam.errors import SamecamError
from samecam.fingerprint import fingerprint
from samecam.metrics import scores
from samecam.photos import exposure
from samecam.simulate import fingerprints, gram
from samecam.store import DiskStore, MemoryStore, Subset
from tests.cluster.large_scale.collections import as_sets, on_disk

PRESETS = pytest.mark.parametrize("preset", ["default", "paper"])
WITHOUT = {
    "check_clustering": "asks for three groups of blobs in the plane; rows of two numbers, "
    "centred and brought to unit norm, can only be equal or opposite, so only two can be found"
}


@parametrize_with_checks([LargeScaleSSC()], expected_failed_checks=lambda _: WITHOUT)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def fit(G, **options):
    return LargeScaleSSC(metric="precomputed", n_pixels=512**2, **options).fit(G)


@pytest.fixture(scope="module")
def planted():
    """Five cameras and some strangers, as fingerprints."""
    return fingerprints([30] * 5 + [1] * 10, 0.05, 16384, seed=1)


# What is found.


@pytest.mark.parametrize("n_batches", [1, 2, 4])
@pytest.mark.parametrize("seed", range(2))
def test_planted_cameras_are_recovered(n_batches, seed):
    G, truth = gram([40] * 8 + [1] * 20, 0.03, seed=seed)
    fitted = fit(G, n_batches=n_batches, random_state=seed)
    found = scores(truth, fitted.labels_)
    assert found.f >= 0.96
    assert found.precision >= 0.99
    assert fitted.n_clusters_ == 8


def test_the_paper_finds_them_too():
    G, truth = gram([40] * 8, 0.01, seed=0)
    fitted = fit(G, preset="paper", n_batches=2)
    assert 0.6 < scores(truth, fitted.labels_).f < scores(truth, fit(G, n_batches=2).labels_).f
    assert fitted.gamma_ == 0.0036
    assert fitted.null_scale_ == 1 / 512


@pytest.mark.parametrize("threshold", ["half", "min"])
def test_strong_cameras_do_not_fall_apart(threshold):
    G, truth = gram([30] * 6, 0.2, photo_cv=0.2, seed=1)
    assert as_sets(fit(G, n_batches=3, threshold=threshold).labels_) == as_sets(truth)


def test_array_stores_and_correlations_are_one(planted, tmp_path):
    X = planted.X
    options = {"n_batches": 3, "random_state": 4}
    memory = MemoryStore(X.shape[1])
    for i, row in enumerate(X):
        memory.add(f"{i:05d}", row)
    memory.commit()
    given = LargeScaleSSC(metric="precomputed", n_pixels=X.shape[1], **options)
    given.fit(correlate.gram(X))
    assert scores(planted.labels, given.labels_).f > 0.9
    with DiskStore.open(on_disk(tmp_path / "store", X)) as store:
        for source in (X, memory, store):
            fitted = LargeScaleSSC(**options).fit(source)
            np.testing.assert_array_equal(fitted.labels_, given.labels_)
            assert fitted.null_scale_ == pytest.approx(given.null_scale_, rel=1e-3)
            assert fitted.n_features_in_ == X.shape[1]
            assert [e["new"] for e in fitted.trace_ if "new" in e] == [
                e["new"] for e in given.trace_ if "new" in e
            ]


def test_little_memory_changes_nothing(planted):
    """Sums and correlations in small parts, those of photos left over in a file."""
    from samecam.cluster.large_scale._source import RowSource
    from samecam.cluster.large_scale._split import batch_bytes

    rows = np.arange(len(planted.X))
    tight = RowSource(planted.X, batch_bytes(len(rows)) - 1)
    roomy = RowSource(planted.X, 2**31)
    assert isinstance(tight.gram(rows), np.memmap)
    np.testing.assert_allclose(tight.gram(rows), roomy.gram(rows), atol=1e-6)
    labels = np.where(planted.labels < 5, planted.labels, -1)
    some = rows[::3]
    np.testing.assert_allclose(
        tight.products(some, labels), roomy.products(some, labels), atol=1e-5
    )
    np.testing.assert_allclose(
        tight.group_products(labels), roomy.group_products(labels), atol=1e-5
    )


# Workers.


class Here:
    """An executor that runs at once, and tells what it was given."""

    elsewhere = False

    def __init__(self, workers=3):
        self.workers = workers
        self.tasks = []

    def submit(self, function, argument):
        import pickle
        from concurrent.futures import Future

        future = Future()
        self.tasks.append(pickle.loads(pickle.dumps((function, argument))))
        function, argument = self.tasks[-1]
        future.set_result(function(argument))
        return future

    def close(self):
        pass


def test_workers_give_the_same(planted, tmp_path):
    folder = on_disk(tmp_path / "store", planted.X, "float16")
    pool = LocalPool(2)
    try:
        with DiskStore.open(folder) as store:
            alone = LargeScaleSSC(n_batches=4).fit(store)
            together = LargeScaleSSC(n_batches=4).fit(store, executor=pool)
        np.testing.assert_array_equal(alone.labels_, together.labels_)
        assert alone.trace_ == together.trace_
        X = planted.X
        array = LargeScaleSSC(n_batches=4).fit(X, executor=pool)
        np.testing.assert_array_equal(array.labels_, LargeScaleSSC(n_batches=4).fit(X).labels_)
        given = correlate.gram(X)
        settings = {"metric": "precomputed", "n_pixels": 16384, "n_batches": 4}
        of_gram = LargeScaleSSC(**settings).fit(given, executor=pool)
        np.testing.assert_array_equal(of_gram.labels_, LargeScaleSSC(**settings).fit(given).labels_)
    finally:
        pool.close()


def test_of_a_store_is_sent_where_the_rows_lie(planted, tmp_path):
    executor = Here()
    with DiskStore.open(on_disk(tmp_path / "store", planted.X)) as store:
        LargeScaleSSC(n_batches=2).fit(store, executor=executor)
        LargeScaleSSC(n_batches=2).fit(Subset(store, np.arange(3, 60)), executor=executor)
    first = 0
    for _, task in executor.tasks:
        rows = task.data.fingerprints
        assert task.data.gram is None
        assert rows.folder == tmp_path / "store"
        assert len(pickle.dumps(task)) < 60 * len(rows) + 2000
        first += list(rows.keys) == [f"{row:05d}" for row in task.data.rows]
    assert 2 <= first < len(executor.tasks)  # of the subset, row 0 is photo 3


@pytest.mark.parametrize("trouble", [WorkerDiedError(-9), MemoryError("137 MiB")])
def test_a_dead_or_poor_worker_gets_a_sentence(trouble):
    class Dead(Here):
        def submit(self, function, argument):  # noqa: ARG002
            from concurrent.futures import Future

            future = Future()
            future.set_exception(trouble)
            return future

    with pytest.raises(SamecamError, match="batch of up to 20 photos"):
        LargeScaleSSC(metric="precomputed").fit(gram([20], seed=0).gram, executor=Dead())


MEASURE = """
import json, re, sys
from pathlib import Path
from samecam.cluster import LargeScaleSSC
from samecam.simulate import gram
from samecam.store import DiskStore
LargeScaleSSC(metric="precomputed").fit(gram([20] * 3 + [1] * 9, .1).gram)   # loads, compiles
def size(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
with DiskStore.open(sys.argv[1]) as store:
    Path("/proc/self/clear_refs").write_text("5")   # the peak begins anew
    before = size("VmRSS")
    fitted = LargeScaleSSC(memory=int(sys.argv[2]), n_batches=int(sys.argv[3]) or None).fit(store)
    batches = sum(e["phase"] == "partition" for e in fitted.trace_)
    peak = size("VmHWM") - before
    print(json.dumps({"peak": peak, "batches": batches, "groups": fitted.n_clusters_}))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_stays_within_the_budget(tmp_path):
    """The correlations of 4,000 photos take 64 MB, their fingerprints as much; 48 are allowed."""
    X, _ = fingerprints([100] * 40, 0.1, 4096, seed=0)
    folder = on_disk(tmp_path / "store", X, "float16")
    told = {}
    for name, budget, n_batches in (("tight", 48 * 2**20, 0), ("roomy", 2**30, 1)):
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, str(folder), str(budget), str(n_batches)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        told[name] = json.loads(done.stdout)
    assert told["tight"]["batches"] >= 2
    assert told["tight"]["groups"] == told["roomy"]["groups"] == 40
    assert told["tight"]["peak"] <= 48 * 2**20 < told["roomy"]["peak"]


# Odd collections.


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
        DiskStore.open(on_disk(tmp_path / "store", X)) as store,
        pytest.raises(ValueError, match="row 17 contains NaN"),
    ):
        LargeScaleSSC(n_batches=2).fit(store)


# Real photographs.


def test_real_photographs(photos_dir):
    rows, cameras = [], []
    with open(photos_dir / "truth.csv", newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            with Image.open(photos_dir / line["path"]) as image:
                pixels = np.asarray(image.crop((0, 0, 512, 512)))
            if exposure(pixels).saturated <= 0.3:
                rows.append(fingerprint(pixels, preset="paper"))
                cameras.append(line["camera"])
    assert len(rows) == 384
    G = correlate.gram(np.stack(rows))
    found = [scores(cameras, fit(G, n_batches=2, random_state=s).labels_).f for s in range(3)]
    assert found[0] >= 0.92
    assert np.mean(found) >= 0.94
    paper = [fit(G, preset="paper", n_batches=2, random_state=s).labels_ for s in range(3)]
    assert np.mean([scores(cameras, labels).f for labels in paper]) >= 0.88
