"""A cluster makes every file of a case as this machine alone does."""

import json
import pickle
from contextlib import closing

import pytest

from samecam import cluster_photos, compute
from samecam.case import ClusteringSettings, check_log, extract_photos
from samecam.case.extraction import _worker
from samecam.case.extraction._worker import ExtractionTask
from samecam.compute import Resources
from samecam.photos import scan
from samecam.store import DiskStore
from tests.case.conftest import SIZE, same_answer
from tests.case.dask.clusters import SETTINGS
from tests.processes import PATIENCE, run

TABLES = ("images.csv", "clusters.csv", "evidence.csv", "clusters.json")


METHODS = {
    "auto": ClusteringSettings(),
    "batched": ClusteringSettings("ls-ssc", {"batch_size": 12}),
}


@pytest.mark.usefixtures("small_batches")
def test_every_file_of_a_case_is_the_same(photos, cluster, tmp_path, monkeypatch):
    """Once here, once there: fingerprints in batches of four, then two ways of grouping."""
    submit, grouped = compute.DaskPool.submit, []

    def note(pool, function, argument):
        grouped.append(len(pickle.dumps(argument)))
        return submit(pool, function, argument)

    monkeypatch.setattr(compute.DaskPool, "submit", note)
    cases = {None: tmp_path / "here", cluster.address: tmp_path / "there"}
    for settings in METHODS.values():
        for scheduler, case in cases.items():
            result = cluster_photos(
                photos, case, SETTINGS, settings, resources=Resources(scheduler=scheduler)
            )
            assert result.sizes, settings
        here, there = cases.values()
        assert same_answer(here, there)
        for name in TABLES:
            assert (here / name).read_bytes() == (there / name).read_bytes(), name
    assert len(grouped) >= 3, "batches were grouped there"
    assert max(grouped) < 2 * 256 * 256, "and read from the case's folder"
    info = json.loads((there / "case.json").read_text())
    assert info["counts"]["duplicate"] >= 13
    assert (info["device"], info["clustering"]["details"]["device"]) == ("cpu", "cpu")
    assert check_log(there / "log.jsonl") is None
    again = extract_photos(photos, there, SETTINGS, resources=Resources(scheduler=cluster.address))
    assert again.done == 0


def test_fingerprints_do_not_travel(photos, cluster, tmp_path):
    """What comes back is little, and does not grow with the fingerprints."""
    with DiskStore.create(tmp_path / "store", n_pixels=256 * 256):
        pass
    start = {"initializer": _worker.start, "initargs": (SETTINGS, tmp_path / "store")}
    tasks = [ExtractionTask(f.path, f.file) for f in scan([photos / "images"])]
    with closing(compute.DaskPool(cluster.address, **start)) as pool:
        answers = pool.submit_many(_worker.extract, tasks).result(PATIENCE)
    rows = sum(outcome.place is not None for outcome in answers.items)
    written = sum(f.stat().st_size for f in (tmp_path / "store" / "shards").iterdir())
    assert written == rows * 2 * 256 * 256
    assert rows > 30
    assert len(pickle.dumps(answers)) < min(4096 * len(tasks), written / 50)


@pytest.mark.slow
def test_a_local_cluster_needs_no_more_than_the_word(slow, undisturbed, tmp_path):
    code, out, error = run(
        *("extract", slow, "-o", tmp_path / "case", "--size", SIZE, "--workers", 2),
        *("--scheduler", "local", "--json"),
    )
    assert code == 3, error
    assert "distributed" not in error
    assert json.loads(out)["counts"]["good"] == 26
    assert same_answer(tmp_path / "case", undisturbed)
