"""Whether a case is what it says: every change is found, and nothing is written."""

import csv
import hashlib
import json
import os
import shutil
import sqlite3

import numpy as np
import pytest

from samecam import cluster_fingerprints, cluster_photos
from samecam.case import ClusteringSettings, add_photos, extract_photos, verify_case
from samecam.compute import Resources
from samecam.errors import SamecamError
from tests.case.worlds import WHOLE, shared_world, tree


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory, WHOLE)


@pytest.fixture(scope="module")
def made(world, tmp_path_factory):
    """Photos and a case made of them where `place` will be, and a copy of both."""
    root = tmp_path_factory.mktemp("verified")
    place = root / "place"
    shutil.copytree(world.root / "kept", place / "photos")
    cluster_photos(place / "photos", place / "case", WHOLE, search="off")
    place.rename(root / "untouched")
    return root


@pytest.fixture
def place(made):
    """Photos and a case of their own: free to be spoilt."""
    shutil.copytree(made / "untouched", made / "place")
    yield made / "place"
    shutil.rmtree(made / "place")


def info_of(case):
    return json.loads((case / "case.json").read_text())


def test_a_case_agrees_with_itself_and_nothing_is_written(world):
    before = tree(world.root)
    stamps = {path: path.stat().st_mtime_ns for path in world.case.rglob("*")}
    result = verify_case(world.case)
    assert result.agrees
    assert result.replayed
    assert (result.rows, result.inputs.checked) == (len(world.result.paths), 42)
    assert result.as_dict()["agrees"] is True
    json.dumps(result.as_dict())
    assert tree(world.root) == before
    assert {path: path.stat().st_mtime_ns for path in world.case.rglob("*")} == stamps


@pytest.mark.parametrize(("method", "search"), [("ssc", "quick"), ("ls-ssc", "off")])
def test_every_method_can_be_replayed(place, method, search):
    settings = ClusteringSettings(method, search=search)
    cluster_photos(place / "photos", place / "case", WHOLE, settings)
    assert verify_case(place / "case", resources=Resources(workers=1)).agrees
    assert verify_case(place / "case", resources=Resources(workers=2)).agrees


def test_changed_missing_and_new_inputs_are_named(place):
    photos = sorted((place / "photos").iterdir())
    data = bytearray(photos[0].read_bytes())
    data[-5] ^= 1
    status = photos[0].stat()
    photos[0].write_bytes(data)
    os.utime(photos[0], ns=(status.st_atime_ns, status.st_mtime_ns))  # not told by its time
    photos[1].unlink()
    (place / "photos" / "another.txt").write_text("new")
    result = verify_case(place / "case")
    assert not result.agrees
    assert result.inputs.changed == [photos[0].name]
    assert result.inputs.missing == [photos[1].name]
    assert result.inputs.new == 1
    assert result.replayed
    assert result.relabelled == []


def test_a_drive_that_is_not_there(place):
    (place / "photos").rename(place / "moved")
    result = verify_case(place / "case")
    assert result.inputs.lost_sources == [str(place / "photos")]
    assert len(result.inputs.missing) == result.inputs.checked == 42
    assert not result.agrees


def test_of_several_sources_only_the_missing_one_is_missing(world, tmp_path):
    for name in ("a/x", "b/x", "c"):
        (tmp_path / name).mkdir(parents=True)
    files = sorted((world.root / "kept").iterdir())
    for k, file in enumerate(files[:12]):
        shutil.copy(file, tmp_path / ("a/x", "b/x", "c")[k % 3] / f"{k // 3}.jpg")
    case, sources = tmp_path / "case", [tmp_path / name for name in ("a/x", "b/x", "c")]
    cluster_photos(sources, case, WHOLE, search="off")
    assert verify_case(case).agrees
    shutil.rmtree(tmp_path / "b")
    result = verify_case(case)
    assert result.inputs.missing == [f"b/x/{k}.jpg" for k in range(4)]
    assert result.inputs.changed == []
    assert result.inputs.lost_sources == [str(tmp_path / "b/x")]
    shutil.rmtree(tmp_path / "a")
    result = verify_case(case)
    assert result.inputs.missing == [f"{s}/x/{k}.jpg" for s in "ab" for k in range(4)]
    assert result.inputs.changed == []


def test_a_damaged_fingerprint_is_named(place):
    shard = next((place / "case" / "fingerprints" / "shards").glob("*/*"))
    data = bytearray(shard.read_bytes())
    data[1000] ^= 4
    shard.write_bytes(data)
    result = verify_case(place / "case")
    assert len(result.damaged) == 1
    assert not result.replayed
    shard.unlink()
    result = verify_case(place / "case")
    assert not result.agrees
    assert "shard" in result.troubles[0]
    (place / "case" / "fingerprints" / "store.json").unlink()
    result = verify_case(place / "case")
    assert not result.agrees
    assert "holds no fingerprints" in result.troubles[0]


def test_the_log_is_followed(place):
    log = place / "case" / "log.jsonl"
    lines = log.read_bytes().split(b"\n")
    whole = log.read_bytes()
    log.write_bytes(b"\n".join([*lines[:4], *lines[5:]]))
    result = verify_case(place / "case")
    assert any("Line 5" in trouble for trouble in result.troubles)
    # A chain that was made again, with another hash for a photo.
    previous, forged = "", []
    for line in whole.split(b"\n")[:-1]:
        event = json.loads(line)
        if event["event"] == "file" and event["path"].endswith("1.jpg"):
            event["sha256"] = "0" * 64
        event["previous"] = previous
        forged.append(json.dumps(event).encode())
        previous = hashlib.sha256(forged[-1]).hexdigest()
    log.write_bytes(b"\n".join(forged) + b"\n")
    result = verify_case(place / "case")
    assert any("other bytes" in trouble for trouble in result.troubles)
    log.unlink()
    assert any("cannot be read" in t for t in verify_case(place / "case").troubles)


@pytest.mark.parametrize("name", ["images.csv", "clusters.csv", "clusters.json", "evidence.csv"])
def test_a_changed_table_is_named(place, name):
    path = place / "case" / name
    path.write_text(path.read_text().replace("0", "1", 3))
    result = verify_case(place / "case")
    assert any(name in trouble for trouble in result.troubles)
    path.unlink()
    assert not verify_case(place / "case").agrees


def test_a_cell_that_cannot_be_is_named_whichever_it_is(place):
    path = place / "case" / "clusters.csv"
    head, first, *rest = path.read_text().splitlines(keepends=True)
    cells = first.rstrip("\n").split(",")
    for k, name in enumerate(head.rstrip("\n").split(",")):
        path.write_text(head + ",".join([*cells[:k], "-7", *cells[k + 1 :]]) + "\n" + "".join(rest))
        result = verify_case(place / "case")
        assert any("clusters.csv" in trouble for trouble in result.troubles), name


def test_groups_that_were_forged_with_their_hash_do_not_survive_the_replay(place):
    case = place / "case"
    with open(case / "clusters.csv", newline="") as stream:
        row = next(r for r in csv.DictReader(stream) if r["cluster"] == "0")
    text = (case / "clusters.csv").read_text()
    start = f"{row['path']},{row['sha256']},"
    (case / "clusters.csv").write_text(text.replace(f"{start}0,", f"{start}1,"))
    info = info_of(case)
    data = (case / "clusters.csv").read_bytes()
    info["clustering"]["sha256"]["clusters.csv"] = hashlib.sha256(data).hexdigest()
    (case / "case.json").write_text(json.dumps(info))
    result = verify_case(case)
    (trouble,) = result.troubles
    assert "case.json' is not what" in trouble
    assert [(r.path, r.stands, r.replayed) for r in result.relabelled] == [(row["path"], 1, 0)]
    assert not result.agrees


def test_what_adding_began_with_is_checked_too(world, place):
    case = place / "case"
    add_photos(case, world.root / "held")
    assert verify_case(case).agrees
    path = case / "start.csv"
    path.write_text(path.read_text().replace(",0\n", ",1\n", 1))
    result = verify_case(case)
    assert any("start.csv" in trouble for trouble in result.troubles)
    assert not result.replayed


def test_an_unfinished_case_says_so_and_an_extracted_one_agrees(world, tmp_path):
    case = tmp_path / "case"
    extract_photos(world.root / "held", case, WHOLE)
    result = verify_case(case)
    assert result.agrees
    assert not result.replayed
    info = info_of(case)
    (case / "case.json").write_text(json.dumps({**info, "state": "extracting"}))
    result = verify_case(case)
    assert any("not finished (extracting)" in trouble for trouble in result.troubles)
    with pytest.raises(SamecamError, match="no case folder"):
        verify_case(tmp_path)


def test_fingerprints_that_were_brought_are_hashed_row_by_row(tmp_path):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(3, 4000)), 12, axis=0) * 0.25 + rng.normal(size=(36, 4000))
    np.save(tmp_path / "x.npy", X)
    cluster_fingerprints(tmp_path / "x.npy", tmp_path / "case")
    assert verify_case(tmp_path / "case").agrees
    X[7, 3] += 1
    np.save(tmp_path / "x.npy", X)
    assert verify_case(tmp_path / "case").inputs.changed == ["row 000007"]
    (tmp_path / "x.npy").unlink()
    result = verify_case(tmp_path / "case")
    assert len(result.inputs.missing) == 36
    assert result.inputs.lost_sources == [str(tmp_path / "x.npy")]


@pytest.mark.parametrize("key", ["../secret.jpg", "/etc/hostname", "photos/../../secret.jpg"])
def test_a_forged_path_is_never_opened(place, key, monkeypatch):
    (place / "secret.jpg").write_bytes(b"secret")
    db = sqlite3.connect(place / "case" / "fingerprints" / "catalogue.sqlite")
    with db:
        first = db.execute("SELECT key FROM records ORDER BY key").fetchone()[0]
        db.execute("UPDATE records SET key = ? WHERE key = ?", (key.encode(), first))
    db.close()
    opened = []
    real = os.open

    def watched(path, *words, **options):
        opened.append(os.path.realpath(os.fspath(path)))
        return real(path, *words, **options)

    monkeypatch.setattr(os, "open", watched)
    result = verify_case(place / "case")
    assert key in result.inputs.missing
    assert not result.agrees
    inside = (os.path.realpath(place / "photos"), os.path.realpath(place / "case"))
    assert opened
    assert all(path.startswith(inside) for path in opened)
