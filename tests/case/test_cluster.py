"""The whole job: photos in, groups out, nothing done twice."""

import csv
import hashlib
import json
import shutil
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from samecam import cluster_photos
from samecam.case import ClusteringSettings, ExtractionSettings
from samecam.cluster import METHODS, RIVALS
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.metrics import scores
from samecam.notebook import counted
from samecam.simulate import simulate_photos
from tests.case.conftest import make_photos
from tests.processes import PATIENCE, command, run, run_apart, wait_for

SETTINGS = ExtractionSettings()
# Looking for views takes ten times as long as the rest, and has tests of its own.
AS_SEEN = ClusteringSettings(search="off")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Three cameras with strong patterns: 512×384 pixels must do."""
    folder = tmp_path_factory.mktemp("cluster") / "photos"
    simulate_photos(folder, cameras=3, images=12, size=(512, 384), seed=2)
    return folder


@pytest.fixture(scope="module")
def result(photos, tmp_path_factory):
    case = tmp_path_factory.mktemp("cluster") / "case"
    return cluster_photos([photos / "images"], case, SETTINGS, AS_SEEN)


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
        image = images[row["path"]]
        assert row["sha256"] == image["sha256"]
        assert row["frame"] == f"{image['width']}x{image['height']}" == "512x384"
        if row["cluster"] == "-1":
            assert (row["correlation"], row["margin"], row["p_value"]) == ("", "", "")
        else:
            assert float(row["correlation"]) > 0
            assert float(row["margin"]) > 0
            assert 0 < float(row["p_value"]) <= 1
    assert result.sizes == sorted(result.sizes, reverse=True)
    assert sum(result.sizes) + result.n_unclustered == len(rows)


def test_the_case_records_what_was_chosen(result):
    info = json.loads((result.case / "case.json").read_text())
    assert info["state"] == "clustered"
    assert info["seed"] == 0
    assert info["clustering"]["method"] == "auto"
    assert info["clustering"]["details"]["parameters"]["join_rate"] == (
        METHODS["consolidated"]().join_rate
    )
    facts = info["clustering"]["details"]["frames"]["512x384"]
    assert facts["solver"]["converged"] is True
    assert facts["gamma"] == pytest.approx(2 * facts["null_scale"])
    assert info["clustering"]["groups"] == len(result.sizes)


def test_clusters_json_has_the_same_numbers(result):
    rows = read(result.case / "clusters.csv")
    images = {r["path"]: r for r in read(result.case / "images.csv")}
    content = json.loads((result.case / "clusters.json").read_text())
    assert (content["format"], content["version"]) == ("samecam-clusters", 3)
    table = (result.case / "clusters.csv").read_bytes()
    assert content["sha256"]["clusters.csv"] == hashlib.sha256(table).hexdigest()
    members = {(r["path"], r["sha256"]): r["cluster"] for r in rows}
    for k, camera in enumerate(content["clusters"]):
        (group,) = camera["groups"]
        assert (camera["id"], camera["size"], camera["placed"]) == (k, group["size"], [])
        assert (group["id"], group["size"]) == (k, len(group["members"]))
        assert group["frame"] == "512x384"
        for member in group["members"]:
            assert members.pop((member["path"], member["sha256"])) == str(k)
        seen = Counter((images[m["path"]]["make"], images[m["path"]]["model"])
                       for m in group["members"])  # fmt: skip
        assert {(c["make"], c["model"]): c["photos"] for c in group["cameras"]} == seen
        assert 0 < group["correlation"] < group["quality"] < 1
        assert group["nearest"] != k
        assert group["nearest_correlation"] < group["quality"]
    left = [(m["path"], m["sha256"]) for m in content["unclustered"]]
    assert sorted(left) == sorted(members)
    assert set(members.values()) <= {"-1"}
    assert [camera.as_dict() for camera in result.cameras] == content["clusters"]


def test_the_result_speaks_for_itself(result):
    sizes = result.sizes
    assert repr(result) == (
        f"<Clustering of {len(result.paths)} photos: 3 cameras of {sizes[0]} to {sizes[-1]} "
        f"photos, {counted(result.n_unclustered, 'photo')} of none; case {str(result.case)!r}>"
    )
    assert len(result.unclustered) == result.n_unclustered
    for group in result.groups:
        assert [result.paths[k] for k in np.flatnonzero(result.labels == group.id)] == group.paths


def test_the_same_again_is_given_again_and_other_settings_reuse_fingerprints(photos, result):
    before = (result.case / "clusters.csv").read_bytes()
    again = cluster_photos([photos / "images"], result.case, SETTINGS, AS_SEEN)
    assert again.extraction.done == 0
    assert again.seconds == 0
    assert again.groups == result.groups
    assert json.loads((result.case / "case.json").read_text())["state"] == "clustered"
    np.testing.assert_array_equal(again.labels, result.labels)
    other = cluster_photos(
        [photos / "images"],
        result.case,
        SETTINGS,
        ClusteringSettings("ssc-nc", {"n_clusters": 2}, search="off"),
    )
    assert other.extraction.done == 0
    assert other.seconds > 0
    assert len(other.sizes) == 2
    back = cluster_photos([photos / "images"], result.case, SETTINGS, AS_SEEN)
    assert back.seconds > 0
    assert (result.case / "clusters.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["clusters.csv", "clusters.json"])
def test_a_lost_or_changed_answer_is_made_again(photos, result, name):
    file = result.case / name
    before = {n: (result.case / n).read_bytes() for n in ("clusters.csv", "clusters.json")}
    whole = before[name]
    for damaged in (None, b"", b"path,cluster\n", whole[: len(whole) // 2], whole + b" "):
        file.unlink() if damaged is None else file.write_bytes(damaged)
        again = cluster_photos([photos / "images"], result.case, SETTINGS, AS_SEEN)
        assert {n: (result.case / n).read_bytes() for n in before} == before
        assert again.groups == result.groups


@pytest.mark.parametrize("method", ["auto", *(m for m in METHODS if m not in RIVALS)])
def test_the_command(photos, tmp_path, method):
    words = ("cluster", photos / "images", "-o", tmp_path / "c", "--method", method)
    words = words if method == "auto" else (*words, "--search", "off")
    code, out, error = run(*words, "--json", "--quiet")
    assert code == 0, error
    assert error == ""
    answer = json.loads(out)
    assert answer["groups"] == len(answer["sizes"]) >= 2
    code, out, _ = run(*words)
    assert code == 0
    assert f"{answer['groups']} cameras with " in out
    assert "Nothing was to be done" in out
    code, out, _ = run("evaluate", tmp_path / "c", "--truth", photos / "truth.csv", "--json")
    assert code == 0
    assert json.loads(out)["scores"]["precision"] > 0.8


def test_the_command_ends_with_a_report_of_this_answer(photos, tmp_path):
    case = tmp_path / "c"
    words = ("cluster", photos / "images", "-o", case, "--search", "off", "--json", "--quiet")
    code, out, error = run(*words, "--no-report")
    assert (code, json.loads(out)["report"]) == (0, None), error
    assert not (case / "report.html").exists()
    code, out, error = run(*words)
    assert json.loads(out)["report"] == str(case / "report.html"), error
    first = (case / "report.html").read_bytes()
    run(*words)
    assert (case / "report.html").read_bytes() == first
    run(*words, "--join-rate", 0.4, "--no-report")
    assert not (case / "report.html").exists()  # no page of an answer that is gone
    run(*words, "--join-rate", 0.4)
    assert (case / "report.html").read_bytes() != first


def test_nothing_usable_is_no_crash(tmp_path):
    make_photos(tmp_path / "photos", 2)
    (tmp_path / "photos" / "b" / "weak.png").unlink()
    words = ("cluster", tmp_path / "photos" / "b", "-o", tmp_path / "c")
    code, out, error = run(*words)
    assert code == 3, error
    assert "No camera was found; 0 photos of no camera." in out
    assert "2 unusable (1 flat, 1 over-exposed), 3 skipped (1 empty, 1 no photo, 1 too" in out


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_photos_are_no_crash(tmp_path, count):
    from tests.case.conftest import write
    from tests.photos.pictures import encode, scene

    for k in range(count):
        write(tmp_path / "photos" / f"{k}.jpg", encode(scene(k, 90, 90)))
    result = cluster_photos(tmp_path / "photos", tmp_path / "c")
    assert len(result.labels) == count


def test_bad_settings_get_an_error(photos, result, tmp_path):
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
            resources=Resources(memory=5000),
        )


def test_an_answer_left_by_a_kill_is_not_taken_for_another(photos, tmp_path, monkeypatch):
    """Killed between the answer and its record: the files belong to other settings."""
    from samecam.case.folder import Case

    case = tmp_path / "case"
    first = cluster_photos([photos / "images"], case, SETTINGS, AS_SEEN)
    save = Case.save

    def killed(self, **changes):
        if "seed" in changes:
            raise KeyboardInterrupt
        save(self, **changes)

    other = ClusteringSettings("ssc-nc", {"n_clusters": 1}, search="off")
    with monkeypatch.context() as patch:
        patch.setattr(Case, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            cluster_photos([photos / "images"], case, SETTINGS, other)
    again = cluster_photos([photos / "images"], case, SETTINGS, AS_SEEN)
    np.testing.assert_array_equal(again.labels, first.labels)
    assert again.seconds > 0


def test_bad_parameters_are_told_before_the_work(photos, tmp_path):
    for bad in ({"gamma": 0.0}, {"random_state": 3}, {"metric": "precomputed"}, {"memory": 5}):
        with pytest.raises(SamecamError, match=next(iter(bad))):
            cluster_photos(photos, tmp_path / "c", SETTINGS, ClusteringSettings("ssc", bad))
    assert not (tmp_path / "c").exists()


HOOK = """
import sys
if '-c' not in sys.argv[:1]:
    import os, signal, time
    import samecam.correlate as c, samecam.case.grouping._answer as a
"""
DEATH = "lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
KILLS = {
    "while clustering": f"    c.gram_on = {DEATH}",
    "before the table": f"    a.csv_text = {DEATH}",
    "between the two": f"    a.clusters_json = {DEATH}",
    "before the record": f"    a.versions = {DEATH}",
}


def hook(folder, text):
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HOOK + text)
    return folder


@pytest.fixture(scope="module")
def other(photos, tmp_path_factory):
    """A case with another answer than `result`."""
    case = tmp_path_factory.mktemp("other") / "case"
    options = ClusteringSettings(options={"join_rate": 0.4}, search="off")
    cluster_photos([photos / "images"], case, SETTINGS, options)
    return case


@pytest.mark.parametrize("moment", KILLS)
def test_killed_while_it_answers(photos, result, other, tmp_path, moment):
    """No reader finds files of two answers, and the same command gives the right one."""
    case, names = tmp_path / "c", ("clusters.csv", "clusters.json")
    shutil.copytree(other, case)
    old = (case / "clusters.csv").read_bytes()
    words = ("cluster", photos / "images", "-o", case, "--search", "off", "--quiet")
    faulty = hook(tmp_path / "hook", KILLS[moment])
    assert run_apart(*words, module_path=faulty)[0] == -signal.SIGKILL
    table = (case / "clusters.csv").read_bytes()
    if (case / "clusters.json").exists():
        content = json.loads((case / "clusters.json").read_text())
        assert content["sha256"]["clusters.csv"] == hashlib.sha256(table).hexdigest()
    state = json.loads((case / "case.json").read_text())["state"]
    assert (state == "clustering") == (moment != "while clustering")
    if moment == "while clustering":
        assert table == old
    assert run(*words)[0] == 0
    assert [(case / n).read_bytes() for n in names] == [
        (result.case / n).read_bytes() for n in names
    ]


def test_a_signal_during_clustering_ends_it(photos, tmp_path):
    reached = tmp_path / "reached"
    wait = (
        f"    c.gram_on = lambda *a, **k: open({str(reached)!r}, 'w').close() or time.sleep(3600)\n"
    )
    few = sorted((photos / "images").iterdir())[:4]
    process = command(
        *("cluster", *few, "-o", tmp_path / "c"), module_path=hook(tmp_path / "hook", wait)
    )
    assert wait_for(reached.exists)
    process.terminate()
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, error.decode()
    assert not (tmp_path / "c" / "clusters.csv").exists()


def test_the_example_of_the_readme_runs(photos, result, tmp_path):
    """The first Python block of the README, on other photos."""
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = next(b for b in text.split("\n\n") if "cluster_photos(" in b)
    start = text.index("    import samecam\n")
    end = text.index(block) + len(block)
    (tmp_path / "photos").mkdir()
    for path in result.groups[0].paths:
        shutil.copy(photos / "images" / path, tmp_path / "photos")
    (tmp_path / "script.py").write_text(textwrap.dedent(text[start:end]))
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert "<Clustering of " in done.stdout
    assert result.groups[0].paths[0] in done.stdout
    assert (tmp_path / "CASE" / "clusters.json").exists()
