"""The whole job: photos in, groups out, nothing done twice."""

import csv
import json
import time

import numpy as np
import pytest

from samecam import cluster_photos
from samecam.case import ClusteringSettings, ExtractionSettings
from samecam.errors import SamecamError
from samecam.metrics import scores
from samecam.simulate import simulate_photos
from tests.case.conftest import command, make_photos, run

SETTINGS = ExtractionSettings(size=256)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Three cameras with strong patterns: 256² pixels must do."""
    folder = tmp_path_factory.mktemp("cluster") / "photos"
    simulate_photos(folder, cameras=3, images=16, size=(512, 384), seed=2)
    return folder


@pytest.fixture(scope="module")
def result(photos, tmp_path_factory):
    case = tmp_path_factory.mktemp("cluster") / "case"
    return cluster_photos([photos / "images"], case, SETTINGS)


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        return list(csv.DictReader(stream))


def test_cameras_are_found(photos, result):
    truth = {r["path"].split("/")[-1]: r["camera"] for r in read(photos / "truth.csv")}
    score = scores([truth[p] for p in result.paths], result.labels)
    assert score.precision > 0.9
    assert score.n_discovered == 3


def test_clusters_csv_has_a_row_for_every_used_photo(result):
    rows = read(result.case / "clusters.csv")
    images = {r["path"]: r for r in read(result.case / "images.csv")}
    assert [r["path"] for r in rows] == result.paths == sorted(result.paths)
    assert [int(r["cluster"]) for r in rows] == result.labels.tolist()
    assert {p for p, r in images.items() if r["status"] in ("good", "weak")} == set(result.paths)
    for row in rows:
        assert row["sha256"] == images[row["path"]]["sha256"]
        assert (row["correlation"], row["margin"], row["p_value"]) == ("", "", "")
        if images[row["path"]]["status"] == "weak":
            assert row["cluster"] == "-1"
    assert result.sizes == sorted(result.sizes, reverse=True)
    assert sum(result.sizes) + result.n_unclustered == len(rows)


def test_the_case_records_what_was_chosen(result):
    info = json.loads((result.case / "case.json").read_text())
    assert info["state"] == "clustered"
    assert info["seed"] == 0
    assert info["clustering"]["method"] == "auto"
    assert info["clustering"]["details"]["parameters"]["join_rate"] == 0.005
    assert info["clustering"]["details"]["solver"]["converged"] is True
    assert info["clustering"]["details"]["gamma"] == pytest.approx(
        2 * info["clustering"]["details"]["null_scale"]
    )
    assert info["clustering"]["groups"] == len(result.sizes)


def test_the_same_again_is_given_again_and_other_settings_reuse_fingerprints(photos, result):
    before = (result.case / "clusters.csv").read_bytes()
    again = cluster_photos([photos / "images"], result.case, SETTINGS)
    assert again.extraction.done == 0
    assert again.seconds == 0
    np.testing.assert_array_equal(again.labels, result.labels)
    other = cluster_photos(
        [photos / "images"],
        result.case,
        SETTINGS,
        ClusteringSettings("ssc-nc", {"n_clusters": 2}),
    )
    assert other.extraction.done == 0
    assert other.seconds > 0
    assert len(other.sizes) == 2
    back = cluster_photos([photos / "images"], result.case, SETTINGS)
    assert back.seconds > 0
    assert (result.case / "clusters.csv").read_bytes() == before


def test_a_lost_or_changed_answer_is_made_again(photos, result):
    file = result.case / "clusters.csv"
    before = file.read_bytes()
    for damaged in (b"", b"path,cluster\n", before[: len(before) // 2]):
        file.write_bytes(damaged)
        cluster_photos([photos / "images"], result.case, SETTINGS)
        assert file.read_bytes() == before


@pytest.mark.parametrize("method", ["auto", "consolidated", "ssc", "ssc-nc"])
def test_the_command(photos, tmp_path, method):
    words = ("cluster", photos / "images", "-o", tmp_path / "c", "--size", 256, "--method", method)
    code, out, error = run(*words, "--json", "--quiet")
    assert code == 0, error
    assert error == ""
    answer = json.loads(out)
    assert answer["groups"] == len(answer["sizes"]) >= 2
    code, out, _ = run(*words)
    assert code == 0
    assert f"{answer['groups']} groups, each by one camera" in out
    code, out, _ = run("evaluate", tmp_path / "c", "--truth", photos / "truth.csv", "--json")
    assert code == 0
    assert json.loads(out)["scores"]["precision"] > 0.8


def test_nothing_usable_is_no_crash(tmp_path):
    make_photos(tmp_path / "photos", 2)
    (tmp_path / "photos" / "b" / "weak.png").unlink()
    words = ("cluster", tmp_path / "photos" / "b", "-o", tmp_path / "c", "--size", 64)
    code, out, error = run(*words)
    assert code == 3, error
    assert "0 groups" in out


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_photos_are_no_crash(tmp_path, count):
    from tests.case.conftest import write
    from tests.photos.pictures import encode, scene

    for k in range(count):
        write(tmp_path / "photos" / f"{k}.jpg", encode(scene(k, 90, 90)))
    result = cluster_photos(tmp_path / "photos", tmp_path / "c", ExtractionSettings(size=64))
    assert len(result.labels) == count


def test_bad_settings_get_a_sentence(photos, result, tmp_path):
    with pytest.raises(SamecamError, match="is no method"):
        cluster_photos(photos, tmp_path / "c", SETTINGS, ClusteringSettings(method="magic"))
    for bad, words in (
        (ClusteringSettings("ssc", {"gamma": -1.0}), "gamma"),
        (ClusteringSettings("ssc-nc", {"n_clusters": 1000}), "n_clusters"),
        (ClusteringSettings("auto", {"join_rate": 2.0}), "join_rate"),
        (ClusteringSettings("auto", {"gamma": 0.1}), "has no option gamma"),
    ):
        with pytest.raises(SamecamError, match=words):
            cluster_photos([photos / "images"], result.case, SETTINGS, bad)
    with pytest.raises(SamecamError, match="raise it"):
        cluster_photos(
            [photos / "images"],
            result.case,
            SETTINGS,
            ClusteringSettings("ssc-nc", {"n_clusters": 4}),
            memory=5000,
        )


def test_an_answer_left_by_a_kill_is_not_taken_for_another(photos, tmp_path, monkeypatch):
    """Killed between the answer and its record: the file belongs to other settings."""
    from samecam.case import _cluster

    case = tmp_path / "case"
    first = cluster_photos([photos / "images"], case, SETTINGS)
    with monkeypatch.context() as patch:
        patch.setattr(_cluster, "_record", lambda *_: None)
        other = ClusteringSettings("ssc-nc", {"n_clusters": 1})
        cluster_photos([photos / "images"], case, SETTINGS, other)
    again = cluster_photos([photos / "images"], case, SETTINGS)
    np.testing.assert_array_equal(again.labels, first.labels)
    assert again.seconds > 0


def test_bad_parameters_are_told_before_the_work(photos, tmp_path):
    for bad in ({"gamma": 0.0}, {"random_state": 3}, {"metric": "precomputed"}, {"memory": 5}):
        with pytest.raises(SamecamError, match=next(iter(bad))):
            cluster_photos(photos, tmp_path / "c", SETTINGS, ClusteringSettings("ssc", bad))
    assert not (tmp_path / "c").exists()


def test_a_signal_during_clustering_ends_it(photos, tmp_path):
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import sys\n"
        "if '-c' not in sys.argv[:1]:\n"
        "    import samecam.correlate as c, time\n"
        "    c.gram = lambda *a, **k: time.sleep(60)\n"
    )
    words = ("cluster", photos / "images", "-o", tmp_path / "c", "--size", 64)
    process = command(*words, module_path=hook)
    time.sleep(6)
    process.terminate()
    _, error = process.communicate(timeout=20)
    assert process.returncode == 130, error.decode()
    assert not (tmp_path / "c" / "clusters.csv").exists()
