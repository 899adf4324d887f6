"""A cluster makes every file of a case as this machine alone does."""

import json
import pickle
from contextlib import closing

import pytest

from samecam import cluster_photos, compute
from samecam.case import ClusteringSettings, ExtractionSettings, check_log, extract_photos
from samecam.case.extraction import _worker
from samecam.case.extraction._worker import ExtractionTask
from samecam.compute import Resources
from samecam.photos import scan
from samecam.store import DiskStore
from tests.case.conftest import same_answer
from tests.processes import PATIENCE, run

FRAMES = {"512x384", "384x416"}
TABLES = ("images.csv", "clusters.csv", "evidence.csv", "clusters.json")


METHODS = {
    "auto": ClusteringSettings(search="quick"),
    "batched": ClusteringSettings("ls-ssc", {"batch_size": 12}, search="off"),
}


@pytest.mark.slow
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
                photos, case, clustering=settings, resources=Resources(scheduler=scheduler)
            )
            found = {group.frame for group in result.groups}
            assert found == FRAMES if settings.name == "consolidated" else found
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
    again = extract_photos(photos, there, resources=Resources(scheduler=cluster.address))
    assert again.done == 0


def test_fingerprints_do_not_travel(photos, cluster, tmp_path):
    """What comes back is little, and does not grow with the fingerprints."""
    with DiskStore.create(tmp_path / "store"):
        pass
    start = {"initializer": _worker.start, "initargs": (ExtractionSettings(), tmp_path / "store")}
    tasks = [ExtractionTask(f.path, f.file) for f in scan([photos / "images"])]
    with closing(compute.DaskPool(cluster.address, **start)) as pool:
        answers = pool.submit_many(_worker.extract, tasks).result(PATIENCE)
    places = [outcome.place for outcome in answers.items if outcome.place is not None]
    written = sum(f.stat().st_size for f in (tmp_path / "store" / "shards").glob("*/*"))
    assert written == sum(place.frame.n_pixels for place in places)
    assert {place.frame.name for place in places} == FRAMES
    assert len(places) > 30
    assert len(pickle.dumps(answers)) < min(4096 * len(tasks), written / 50)


@pytest.mark.slow
def test_a_local_cluster_needs_no_more_than_the_word(slow, undisturbed, tmp_path):
    code, out, error = run(
        *("extract", slow, "-o", tmp_path / "case", "--workers", 2),
        *("--scheduler", "local", "--json"),
    )
    assert code == 3, error
    assert "distributed" not in error
    assert json.loads(out)["counts"]["good"] == 26
    assert same_answer(tmp_path / "case", undisturbed)
