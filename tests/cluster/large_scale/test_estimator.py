"""LS-SSC from end to end."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from samecam import correlate
from samecam.cluster import LargeScaleSSC
from samecam.compute import LocalPool, WorkerDiedError
from samecam.errors import SamecamError
from samecam.metrics import scores
from samecam.simulate import fingerprints, gram
from samecam.store import MemoryStore, Subset
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
    with on_disk(tmp_path / "store", X) as store:
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

    remote = False

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
    pool = LocalPool(2)
    try:
        with on_disk(tmp_path / "store", planted.X, "float16") as store:
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
    with on_disk(tmp_path / "store", planted.X) as store:
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
with DiskStore.open(sys.argv[1]).rows() as store:
    Path("/proc/self/clear_refs").write_text("5")   # the peak begins anew
    before = size("VmRSS")
    fitted = LargeScaleSSC(memory=int(sys.argv[2]), n_batches=int(sys.argv[3]) or None).fit(store)
    batches = sum(e["phase"] == "partition" for e in fitted.trace_)
    peak = size("VmHWM") - before
    print(json.dumps({"peak": peak, "batches": batches, "groups": fitted.n_clusters_}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_stays_within_the_budget(tmp_path):
    """The correlations of 4,000 photos take 64 MB, their fingerprints as much; 48 are allowed."""
    X, _ = fingerprints([100] * 40, 0.1, 4096, seed=0)
    folder = on_disk(tmp_path / "store", X, "float16").folder
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
