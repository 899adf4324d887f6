"""Cases of the format before: refused with a sentence by every command, and left as they are."""

import csv
import json
import shutil
import sqlite3

import pytest

from samecam import cluster_photos
from samecam.case import ExtractionSettings, open_case, open_store, verify_case
from samecam.errors import SamecamError
from samecam.store import DiskStore
from tests.case.many import hashes, make_pile
from tests.processes import run

SENTENCE = "was made by an earlier samecam (case format 1, this one reads 2): begin a new case in"
SCHEMA = """CREATE TABLE records (
    key BLOB PRIMARY KEY,   -- UTF-8, odd bytes as they are
    sha256 TEXT NOT NULL,
    shard INTEGER, row INTEGER, crc INTEGER, scale REAL,  -- NULL: no fingerprint
    meta TEXT NOT NULL      -- JSON
)"""


def change(path, **values):
    """Entries of a JSON file, None for those to be taken away."""
    content = {**json.loads(path.read_text()), **values}
    kept = {name: value for name, value in content.items() if value is not None}
    path.write_text(json.dumps(kept, indent=2) + "\n")


def drop_column(path, name):
    with open(path, newline="") as stream:
        rows = [{k: v for k, v in row.items() if k != name} for row in csv.DictReader(stream)]
    with open(path, "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def as_before(case):
    """Make a case of squares what it would have been in the format before."""
    store = case / "fingerprints"
    extraction = dict(json.loads((case / "case.json").read_text())["extraction"])
    del extraction["at"]
    details = {"gamma": 0.04, "null_scale": 0.02, "device": "cpu", "memory_bytes": 2**30}
    clustering = json.loads((case / "case.json").read_text())["clustering"]
    change(
        case / "case.json",
        version=1,
        samecam="0.1.0",
        extraction=extraction,
        clustering={**clustering, "details": details},
    )
    change(
        store / "store.json",
        version=1,
        samecam="0.1.0",
        n_pixels=64 * 64,
        frame=None,
        normalisation="zero mean, unit norm",
        extractor=extraction,
    )
    change(case / "clusters.json", version=1)
    drop_column(case / "clusters.csv", "frame")
    drop_column(case / "images.csv", "flat")
    for shard in (store / "shards" / "64x64").iterdir():
        shutil.move(shard, store / "shards" / shard.name)
    (store / "shards" / "64x64").rmdir()
    with sqlite3.connect(store / "catalogue.sqlite") as db:
        rows = db.execute("SELECT key, sha256, shard, row, crc, scale, meta FROM records")
        kept = rows.fetchall()
        db.execute("DROP TABLE records")
        db.execute(SCHEMA)
        db.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", kept)
    db.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Photos, their case as it was before, and a truth."""
    root = tmp_path_factory.mktemp("earlier")
    pile = make_pile(root / "photos", {"a": ((64, 80), 5), "b": ((80, 64), 5)})
    cluster_photos(pile.folder, root / "case", ExtractionSettings(size=64))
    as_before(root / "case")
    rows = "".join(f"{name},{camera}\n" for name, camera in pile.camera.items())
    (root / "truth.csv").write_text(f"path,camera\n{rows}")
    return root


COMMANDS = {
    "cluster": ("PHOTOS", "-o", "CASE"),
    "cluster with its size": ("PHOTOS", "-o", "CASE", "--size", 64),
    "cluster elsewhere": ("TRUTH", "-o", "CASE"),
    "extract": ("PHOTOS", "-o", "CASE"),
    "extract --dry-run": ("PHOTOS", "-o", "CASE", "--size", 64, "--dry-run"),
    "add": ("CASE", "PHOTOS"),
    "match": ("CASE", "PHOTOS"),
    "verify": ("CASE",),
    "report": ("CASE",),
    "export": ("CASE", "--format", "csv"),
    "evaluate": ("CASE", "--truth", "TRUTH"),
    "compare": ("CASE", "--methods", "consolidated"),
    "tune": ("CASE", "--truth", "TRUTH"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_it_with_one_sentence_and_touches_nothing(world, command):
    names = {"PHOTOS": world / "photos", "CASE": world / "case", "TRUTH": world / "truth.csv"}
    words = [names.get(word, word) for word in COMMANDS[command]]
    before = hashes(world)
    code, out, error = run(command.split()[0], *words)
    told = out if command == "verify" else error
    assert code == (4 if command == "verify" else 1), (out, error)
    assert SENTENCE in told
    assert "another folder, or go on with samecam 0.1.0 for this one." in told
    assert told.count("earlier samecam") == 1
    if command != "verify":
        assert (out, error.count("\n")) == ("", 1)
    assert hashes(world) == before


def test_so_does_the_library(world):
    before = hashes(world)
    for look in (open_case, open_store):
        with pytest.raises(SamecamError, match="earlier samecam"):
            look(world / "case")
    for mode in ("r", "a"):
        with pytest.raises(SamecamError, match=r"earlier samecam \(store format 1"):
            DiskStore.open(world / "case" / "fingerprints", mode)
    result = verify_case(world / "case")
    assert not result.agrees
    assert any("earlier samecam" in trouble for trouble in result.troubles)
    assert hashes(world) == before


def test_fingerprints_of_before_in_a_case_of_now_are_refused_too(world, tmp_path):
    """As when somebody puts an old folder in the place of the new one."""
    cluster_photos(world / "photos", tmp_path / "case", ExtractionSettings(size=64))
    shutil.rmtree(tmp_path / "case" / "fingerprints")
    shutil.copytree(world / "case" / "fingerprints", tmp_path / "case" / "fingerprints")
    before = hashes(tmp_path)
    for words in (
        ("cluster", world / "photos", "-o", tmp_path / "case", "--size", 64),
        ("report", tmp_path / "case"),
    ):
        code, _, error = run(*words)
        assert (code, error.count("\n")) == (1, 1)
        assert "earlier samecam (store format 1, this one reads 2)" in error
    code, out, _ = run("verify", tmp_path / "case")
    assert code == 4
    assert "earlier samecam (store format 1, this one reads 2)" in out
    assert hashes(tmp_path) == before
