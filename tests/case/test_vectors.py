"""Fingerprints that somebody brings: named, judged, grouped, and nothing twice."""

import csv
import json
import signal
import threading

import numpy as np
import pytest

from samecam import cluster_fingerprints
from samecam.case import ClusteringSettings, check_log, open_store, verify_case
from samecam.cluster import ConsolidatedSSC
from samecam.errors import SamecamError
from tests.case.conftest import make_photos
from tests.processes import run, run_apart


def planted(cameras=3, each=12, d=4000, seed=0):
    rng = np.random.default_rng(seed)
    patterns = np.repeat(rng.normal(size=(cameras, d)), each, axis=0)
    return 0.25 * patterns + rng.normal(size=(cameras * each, d))


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "x.npy", planted().astype(np.float32))
    return tmp_path / "x.npy"


def table(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        return {row["path"]: row for row in csv.DictReader(stream)}


@pytest.mark.parametrize("kind", ["<f2", "<f4", ">f4", "<f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_groups_are_those_of_the_array(tmp_path, kind, order):
    X = planted().astype(kind, order=order)
    np.save(tmp_path / "x.npy", X)
    result = cluster_fingerprints(tmp_path / "x.npy", tmp_path / "c")
    wanted = ConsolidatedSSC().fit(np.ascontiguousarray(X, dtype=np.float32)).labels_
    np.testing.assert_array_equal(result.labels, wanted)
    assert result.sizes == [12, 12, 12]
    assert result.paths == [f"row {k:06d}" for k in range(36)]
    with open_store(tmp_path / "c") as store:
        kept = store.rows().read()
        assert store.rows().frame == (4000, 1)
    centred = X.astype(float) - X.astype(float).mean(axis=1, keepdims=True)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    np.testing.assert_allclose(kept, centred, atol=2e-4)


def test_bad_rows_are_listed_with_the_reason(tmp_path):
    X = planted()
    X[3, 7], X[5, 0], X[8], X[9], X[11] = np.nan, -np.inf, 0, 4.5, X[10]
    np.save(tmp_path / "x.npy", X)
    result = cluster_fingerprints(tmp_path / "x.npy", tmp_path / "c")
    rows = table(tmp_path / "c" / "images.csv")
    assert len(rows) == 36
    for k in (3, 5):
        assert rows[f"row {k:06d}"]["reason"] == "contains NaN or infinite numbers"
    for k in (8, 9):
        assert rows[f"row {k:06d}"]["reason"] == "all numbers are the same"
    assert {rows[f"row {k:06d}"]["status"] for k in (3, 5, 8, 9)} == {"unusable"}
    assert rows["row 000011"]["status"] == "duplicate"
    assert rows["row 000011"]["reason"] == "same bytes as row 000010"
    assert len(result.paths) == 31
    assert result.extraction.counts["unusable"] == 4


def test_the_command_and_its_names_and_evaluate(file, tmp_path):
    names = [f"cam{k // 12}/{chr(122 - k % 12)}.jpg" for k in range(36)]
    (tmp_path / "names.txt").write_text("\n".join(names) + "\n")
    lines = [f"{name},{name.split('/')[0]}" for name in names]
    (tmp_path / "truth.csv").write_text("path,camera\n" + "\n".join(lines) + "\n")
    words = ("cluster", "--fingerprints", file, "--names", tmp_path / "names.txt")
    words = (*words, "-o", tmp_path / "c")
    code, out, error = run(*words)
    assert code == 0, error
    assert out.startswith("36 fingerprints: 36 good.\n3 cameras with 12 photos each; 0 photos of")
    assert list(table(tmp_path / "c" / "clusters.csv")) == sorted(names)
    code, out, _ = run("evaluate", tmp_path / "c", "--truth", tmp_path / "truth.csv", "--json")
    assert json.loads(out)["scores"]["f"] == 1.0
    before = {p.name: p.read_bytes() for p in (tmp_path / "c").glob("clusters.*")}
    code, out, _ = run(*words)
    assert code == 0
    assert "Nothing was to be done" in out
    assert {p.name: p.read_bytes() for p in (tmp_path / "c").glob("clusters.*")} == before
    assert check_log(tmp_path / "c" / "log.jsonl") is None


def test_nothing_twice_other_settings_and_a_changed_file(file, tmp_path):
    first = cluster_fingerprints(file, tmp_path / "c")
    again = cluster_fingerprints(file, tmp_path / "c")
    assert (again.extraction.done, again.seconds) == (0, 0)
    other = cluster_fingerprints(file, tmp_path / "c", ClusteringSettings("ssc-nc"))
    assert other.extraction.done == 0
    assert other.seconds > 0
    np.save(file, planted(4, 9, seed=1).astype(np.float32))
    changed = cluster_fingerprints(file, tmp_path / "c")
    assert changed.extraction.done == 36
    assert (first.sizes, changed.sizes) == ([12] * 3, [9] * 4)
    np.save(file, planted(2, 9, seed=1).astype(np.float32))
    assert cluster_fingerprints(file, tmp_path / "c").paths == first.paths[:18]


def test_names_that_change_in_their_file_are_those_of_the_rows(tmp_path):
    X = planted().astype(np.float32)
    X[20] = X[10]
    np.save(tmp_path / "x.npy", X)
    names = [f"p{k:02d}" for k in range(36)]
    given = {
        "first": names,
        "swapped": [*names[:3], "p30", *names[4:30], "p03", *names[31:]],
        "reversed": names[::-1],
        "owner": [*names[:10], "p10 mended", *names[11:]],
    }
    for called in given.values():
        (tmp_path / "names").write_text("\n".join(called) + "\n")
        tables = []
        for case in (tmp_path / "c", tmp_path / called[10] / called[3]):
            cluster_fingerprints(tmp_path / "x.npy", case, names=tmp_path / "names")
            tables.append([table(case / name) for name in ("images.csv", "clusters.csv")])
            assert verify_case(case).agrees
        assert tables[0] == tables[1]


def test_stopped_and_killed_it_goes_on(file, tmp_path):
    whole = cluster_fingerprints(file, tmp_path / "whole")
    stop = threading.Event()
    stop.set()
    assert cluster_fingerprints(file, tmp_path / "c", stop=stop).extraction.interrupted
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import os, signal\nimport samecam.case.extraction._vectors as v\n"
        "v._BLOCK = 8 * 4000 * 5\nadd = v._add\n"
        "def slow(case, vectors, rows, owners):\n"
        "    if rows[0] >= 15: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    add(case, vectors, rows, owners)\n"
        "v._add = slow\n"
    )
    words = ("cluster", "--fingerprints", file, "-o", tmp_path / "c", "-q")
    assert run_apart(*words, module_path=hook)[0] == -signal.SIGKILL
    with open_store(tmp_path / "c") as store:
        assert len(store.rows()) == 15
    result = cluster_fingerprints(file, tmp_path / "c")
    assert result.extraction.done == 21
    for name in ("clusters.csv", "clusters.json", "images.csv"):
        assert (tmp_path / "c" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert result.groups == whole.groups


def archive(path):
    with open(path, "wb") as stream:
        np.savez(stream, x=np.zeros((2, 2)))


BAD = {
    "no .npy file": lambda p: p.write_bytes(b"hello"),
    "write it with": archive,
    "Python objects": lambda p: np.save(p, np.array([[{}]]), allow_pickle=True),
    "of shape": lambda p: np.save(p, np.zeros(9)),
    "floating point": lambda p: np.save(p, np.zeros((3, 3), dtype=int)),
    "no fingerprint": lambda p: np.save(p, np.zeros((0, 3))),
    "cannot be read": lambda p: p.mkdir(),
    "as .npy": lambda p: p.write_bytes(b"\x93NUMPY\x01\x00\xff\xff{'descr"),
}


@pytest.mark.parametrize("words", BAD)
def test_files_that_are_none_get_an_error(tmp_path, words):
    BAD[words](tmp_path / "x.npy")
    with pytest.raises(SamecamError, match=words):
        cluster_fingerprints(tmp_path / "x.npy", tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_a_file_cut_short_and_a_missing_one(file, tmp_path):
    file.write_bytes(file.read_bytes()[:9000])
    for name in ("x.npy", "none.npy"):
        with pytest.raises(SamecamError, match="cannot be read"):
            cluster_fingerprints(tmp_path / name, tmp_path / "c")


def test_names_that_are_wrong_get_an_error(file, tmp_path):
    for text, words in (
        ("a\n" * 36, "names 'a' a second time"),
        ("a\nb\n", "has 2 lines but there are 36"),
        ("\n" * 36, "Line 1 .* is empty"),
    ):
        (tmp_path / "n.txt").write_text(text)
        with pytest.raises(SamecamError, match=words):
            cluster_fingerprints(file, tmp_path / "c", names=tmp_path / "n.txt")
    with pytest.raises(SamecamError, match="No such file"):
        cluster_fingerprints(file, tmp_path / "c", names=tmp_path / "none.txt")


def test_photos_and_fingerprints_do_not_mix(file, tmp_path):
    photos = make_photos(tmp_path / "photos", 2)
    cluster_fingerprints(file, tmp_path / "c")
    code, _, error = run("cluster", photos, "-o", tmp_path / "c")
    assert code == 1
    assert "was made from a file of fingerprints" in error
    run("extract", photos, "-o", tmp_path / "p")
    code, _, error = run("cluster", "--fingerprints", file, "-o", tmp_path / "p")
    assert code == 1
    assert "was made from photos" in error
    for words in (
        (photos, "--fingerprints", file),
        (),
        (photos, "--names", file),
        ("--fingerprints", file, "--size", 64),
        ("--fingerprints", file, "--timeout", 5),
    ):
        assert run("cluster", *words, "-o", tmp_path / "q")[0] == 2
