"""`samecam evaluate` on cases made by hand."""

import csv
import hashlib
import json

import pytest
from click.testing import CliRunner

from samecam.case import COLUMNS, ExtractionSettings
from samecam.cli._evaluate import evaluate
from samecam.errors import SamecamError

ODD = 'o\n"d"d,\udcff.jpg'


def write_csv(path, *rows):
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
        csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return path


def sha256(content):
    """Of a file with this content; "" of one that could not be read."""
    data = content.encode("utf-8", "surrogateescape")
    return hashlib.sha256(data).hexdigest() if content else ""


def write_case(folder, clusters, others=()):
    """A case: clusters by path, and (path, status, bytes) of files without fingerprint."""
    folder.mkdir()
    info = {
        "format": "samecam-case",
        "version": 2,
        "samecam": "0",
        "created": "",
        "state": "new",
        "sources": ["/photos"],
        "extraction": ExtractionSettings().as_dict(),
    }
    (folder / "case.json").write_text(json.dumps(info))
    rows = [(path, sha256(path), cluster, "", "", "", "") for path, cluster in clusters.items()]
    header = ("path", "sha256", "cluster", "frame", "correlation", "margin", "p_value")
    write_csv(folder / "clusters.csv", header, *rows)
    files = [*((path, "good", path) for path in clusters), *others]
    images = [
        {"path": path, "status": status, "sha256": sha256(content)}
        for path, status, content in files
    ]
    rows = [[image.get(name, "") for name in COLUMNS] for image in images]
    write_csv(folder / "images.csv", COLUMNS, *rows)
    return folder


def write_truth(path, cameras):
    return write_csv(path, ("path", "camera"), *cameras.items())


def call(grouping, truth, *words):
    return CliRunner().invoke(
        evaluate, [str(grouping), "--truth", str(truth), *words], catch_exceptions=False
    )


def answer(grouping, truth):
    result = call(grouping, truth, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


@pytest.fixture
def mixed(tmp_path):
    """Five photos each by A and B: some grouped, one of every other fate, one foreign.

    Cluster 0: a1 a2 and a3 (a duplicate of a1), b1; cluster 1: b2; the rest has none.
    """
    case = write_case(
        tmp_path / "CASE",
        {"a1": 0, "a2": 0, "b1": 0, "b2": 1, "b3": -1, "foreign": 0},
        [
            ("a3", "duplicate", "a1"),
            ("a4", "unusable", "a4"),
            ("a5", "skipped", "a5"),
            ("b4", "duplicate", "a5"),
        ],
    )
    cameras = {f"photos/{c}{k}": c.upper() for c in "ab" for k in range(1, 6)}
    return case, write_truth(tmp_path / "truth.csv", cameras)


def test_scores_by_hand(mixed):
    scored = answer(*mixed)
    scores = scored["scores"]
    # Cluster 0 holds a1 a2 a3 b1: 3 pairs right, 3 wrong; 10 + 10 pairs share a camera.
    assert (scores["true_positives"], scores["false_positives"]) == (3, 3)
    assert (scores["false_negatives"], scores["true_negatives"]) == (17, 45 - 3 - 3 - 17)
    assert scores["precision"] == 3 / 6
    assert scores["recall"] == 3 / 20
    assert scores["f"] == 6 / 26
    assert scores["rand_index"] == 25 / 45
    assert scores["ari"] == pytest.approx(2 * (3 * 22 - 17 * 3) / (20 * 39 + 6 * 25))
    assert scores["purity"] == 4 / 5
    assert (scores["lp_over_lg"], scores["ld_over_lg"]) == (1, 1)
    assert (scores["n_images"], scores["n_unclustered"]) == (10, 5)
    assert scored["per_camera"][0] == {
        "camera": "A", "n_images": 5, "n_unclustered": 2, "n_clusters": 1, "main_cluster": 0,
        "n_in_main": 3, "recall": 3 / 10, "discovered": True,
    }  # fmt: skip
    assert [row["cluster"] for row in scored["per_cluster"]] == [0, 1]
    assert scored["per_cluster"][0]["purity"] == 3 / 4


def test_what_became_of_the_photos_is_counted(mixed):
    assert answer(*mixed)["photos"] == {
        "truth": 10,
        "clustered": 5,
        "clustered_as_duplicate": 1,
        "clustered_as_copy": 0,
        "unclustered": {
            "left_alone": 1, "weak": 0, "unusable": 1, "skipped": 1, "duplicate": 1, "copy": 0,
            "pending": 0,
            "not_found": 1,
        },
        "not_in_truth": 1,
        "matched_in_other_folder": 0,
    }  # fmt: skip


def test_words(mixed):
    result = call(*mixed)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[:9] == [
        "precision    0.5000",
        "recall       0.1500",
        "F            0.2308",
        "ARI          0.0323",
        "RI           0.5556",
        "purity       0.8000",
        "Lp/Lg        1.0000  (2 clusters, 2 cameras)",
        "Ld/Lg        1.0000  (2 cameras discovered)",
        "unclustered  5 of 10 photos",
    ]
    assert lines[10:13] == [
        "Photos in the truth: 10, of them 5 in clusters and 5 unclustered (1 left alone by the "
        "method, 1 unusable, 1 skipped, 1 duplicate of a photo without cluster, 1 not found).",
        "Duplicates, counted with the photo they equal: 1.",
        "Clustered but not in the truth, left out: 1.",
    ]
    assert lines[14:] == [
        "camera  photos  unclustered  clusters  main cluster  in it  recall  discovered",
        "A            5            2         1             0      3  0.3000  yes",
        "B            5            3         2             0      1  0.0000  yes",
    ]


def test_quiet_prints_nothing_but_json(mixed):
    assert call(*mixed, "--quiet").output == ""
    both = call(*mixed, "--quiet", "--json")
    assert json.loads(both.output)["scores"]["n_images"] == 10


def test_a_csv_will_do(tmp_path):
    grouping = write_csv(
        tmp_path / "g.csv", ("cluster", "path"), (0, "x/1"), (0, "x/2"), (1, "x/3"), (-1, "x/4")
    )
    truth = write_truth(tmp_path / "t.csv", {"1": "A", "2": "A", "3": "B", "4": "B", "5": "C"})
    scored = answer(grouping, truth)
    assert scored["scores"]["precision"] == 1
    assert scored["scores"]["recall"] == 1 / 2
    assert scored["scores"]["ld_over_lg"] == 2 / 3
    lost = scored["photos"]["unclustered"]
    assert {fate: number for fate, number in lost.items() if number} == {
        "left_alone": 1, "not_found": 1,
    }  # fmt: skip
    assert scored["per_camera"][2]["main_cluster"] == -1
    assert "C            1            1         0             -      0  1.0000  no" in (
        call(grouping, truth).stdout
    )


def test_all_right(tmp_path):
    cameras = {f"{c}/{k}.jpg": c for c in "abc" for k in range(4)}
    case = write_case(tmp_path / "c", {path: "abc".index(c) for path, c in cameras.items()})
    result = call(case, write_truth(tmp_path / "t.csv", cameras))
    assert "F            1.0000\nARI          1.0000" in result.stdout
    assert "12 in clusters and 0 unclustered.\n\ncamera" in result.stdout


def test_photos_added_since_are_pending_and_nothing_need_be_clustered(tmp_path):
    case = write_case(tmp_path / "c", {}, [("1", "good", "1"), ("2", "weak", "2")])
    truth = write_truth(tmp_path / "t.csv", {"1": "A", "2": "A"})
    scored = answer(case, truth)
    assert scored["photos"]["unclustered"]["pending"] == 2
    assert scored["scores"]["recall"] == 0
    assert "2 in the case but not clustered yet" in call(case, truth).stdout


def test_files_without_cluster_take_part_in_the_matching(tmp_path):
    case = write_case(tmp_path / "c", {"x/1": 0, "2": 0}, [("b/1", "unusable", "b/1")])
    scored = answer(case, write_truth(tmp_path / "t.csv", {"q/b/1": "A", "2": "A"}))
    assert scored["photos"]["unclustered"]["unusable"] == 1
    assert scored["photos"]["not_in_truth"] == 1


def test_folders_that_differ_are_told(tmp_path):
    case = write_case(tmp_path / "c", {"a/1": 0, "2": 0})
    truth = write_truth(tmp_path / "t.csv", {"b/1": "A", "b/2": "A"})
    assert answer(case, truth)["photos"]["matched_in_other_folder"] == 1
    words = "folders differ: 1, for instance 'a/1' with 'b/1' of the truth."
    assert words in call(case, truth).stdout


def test_odd_names(tmp_path):
    case = write_case(tmp_path / "c", {ODD: 0, "2": 0}, [("3", "duplicate", ODD)])
    truth = write_truth(
        tmp_path / "t.csv", {f"q/{ODD}": "\udcfe\n", "2": "\udcfe\n", "3": "x" * 50}
    )
    scored = answer(case, truth)
    assert scored["scores"]["n_unclustered"] == 0
    assert scored["per_camera"][0]["camera"] == "\udcfe\n"
    out = call(case, truth).stdout
    assert "\n\\udcfe\\n " in out
    assert f"\n{'x' * 39}…  " in out


def test_many_cameras_are_cut_short_for_people_only(tmp_path):
    cameras = {f"{k}.jpg": f"camera {k}" for k in range(33)}
    case = write_case(tmp_path / "c", {path: k for k, path in enumerate(cameras)})
    truth = write_truth(tmp_path / "t.csv", cameras)
    lines = call(case, truth).stdout.splitlines()
    assert lines[-2].startswith("camera 29 ")
    assert lines[-1].startswith("… (3 more cameras")
    assert len(answer(case, truth)["per_camera"]) == 33


@pytest.mark.slow
def test_a_hundred_thousand_photos(tmp_path):
    cameras = {f"cam{k % 200}/{k // 200}.jpg": f"cam{k % 200}" for k in range(100_000)}
    case = write_case(tmp_path / "c", {path: k % 200 for k, path in enumerate(cameras)})
    scored = answer(
        case, write_truth(tmp_path / "t.csv", {f"q/{p}": c for p, c in cameras.items()})
    )
    assert scored["scores"]["f"] == 1


def error(grouping, truth):
    with pytest.raises(SamecamError) as caught:
        call(grouping, truth)
    assert str(caught.value).endswith(".")
    return str(caught.value)


def test_errors_say_what_is_wrong(mixed, tmp_path):
    case, truth = mixed
    assert "none' cannot be read: No such file" in error(tmp_path / "none", truth)
    assert "none.csv' cannot be read" in error(case, tmp_path / "none.csv")
    other = write_truth(tmp_path / "other.csv", {"z": "A"})
    assert error(case, other).startswith("None of the 10 photos of")
    twice = write_truth(tmp_path / "twice.csv", {"x/a1": "A", "y/a1": "A"})
    assert error(case, twice).startswith("'a1' may be 'x/a1' or 'y/a1' of the truth")
    (tmp_path / "empty").mkdir()
    assert "is no case folder" in error(tmp_path / "empty", truth)
    (case / "clusters.csv").unlink()
    assert error(case, truth) == (f"{str(case)!r} has not been clustered yet: run samecam cluster.")


def test_files_that_could_not_be_read_equal_no_photo(tmp_path):
    case = write_case(tmp_path / "c", {"1": 0, "2": 0}, [("3", "duplicate", "")])
    images = (case / "images.csv").read_text().replace(sha256("1"), "")
    (case / "images.csv").write_text(images)
    truth = write_truth(tmp_path / "t.csv", {"1": "A", "2": "A", "3": "A"})
    assert answer(case, truth)["photos"]["unclustered"]["duplicate"] == 1


def test_one_is_not_many(tmp_path):
    case = write_case(tmp_path / "c", {"1": 0})
    out = call(case, write_truth(tmp_path / "t.csv", {"1": "A"})).stdout
    for text in ("(1 cluster, 1 camera)", "(1 camera discovered)", "0 of 1 photo\n"):
        assert text in out


def test_the_truth_must_be_named(mixed):
    assert CliRunner().invoke(evaluate, [str(mixed[0])]).exit_code == 2


def test_help_states_the_rules():
    words = " ".join(CliRunner().invoke(evaluate, ["--help"]).output.split())
    assert "longest common ending" in words
    assert "A duplicate counts with the cluster of the photo it has the same bytes as." in words
