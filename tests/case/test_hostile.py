"""Cases on read-only disks, and cases that somebody has tampered with.

Every command ends with an exit code and a sentence; `verify` names what is wrong; nothing
outside the case is ever written.
"""

import errno
import fcntl
import itertools
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

from samecam import cluster_fingerprints, cluster_photos
from samecam.case import add_photos, extract_photos, open_case, verify_case
from samecam.errors import SamecamError
from samecam.store import DiskStore
from tests.case.worlds import SETTINGS, shared_world, tree
from tests.processes import run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory)


@pytest.fixture
def case(world, tmp_path):
    """A copy of a clustered case: free to be spoilt."""
    return shutil.copytree(world.case, tmp_path / "case")


def again(world, case):
    """The command that made the case."""
    return ("cluster", world.root / "kept", "-o", case, "--size", 256, "--quiet")


# A read-only file system


@pytest.fixture
def evidence_disk(world, tmp_path):
    """A clustered case on a file system that is read-only."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(*words):
        return subprocess.run(["mount", *words, str(place)], capture_output=True).returncode == 0

    if not shutil.which("mount") or not mount("-t", "tmpfs", "-o", "size=64m", "tmpfs"):
        pytest.skip("cannot mount a file system here")
    try:
        shutil.copytree(world.case, place / "case")
        assert mount("-o", "remount,ro")
        yield place / "case"
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_every_command_that_reads_works_on_a_read_only_disk(evidence_disk, world, tmp_path):
    case, held = evidence_disk, next((world.root / "held").iterdir())
    truth = tmp_path / "truth.csv"
    truth.write_text("path,camera\n" + "".join(f"{p},{c}\n" for p, c in world.truth.items()))
    for words in (
        ("verify", case),
        ("match", case, held),
        ("evaluate", case, "--truth", truth),
        ("report", case, "-o", tmp_path / "r.html", "--no-thumbnails"),
        ("export", case, "--format", "csv", "-o", tmp_path / "e.csv"),
        ("compare", case, "--methods", "consolidated", "-o", tmp_path / "c.json"),
        ("tune", case, "--truth", truth, "-o", tmp_path / "t.json", "--runs", 1),
    ):
        code, _, error = run(*words)
        assert code == 0, (words, error)
    names = {"r.html", "e.csv", "c.json", "c.svg", "t.json"}
    assert names <= set(os.listdir(tmp_path))
    assert (tmp_path / "r.html").read_bytes()[:15] == b"<!DOCTYPE html>"


@pytest.mark.parametrize(
    "words",
    [
        ("report", "--no-thumbnails"),
        ("export", "--format", "json"),
        ("compare", "--methods", "consolidated"),
    ],
)
def test_a_command_that_would_write_there_says_where_else(evidence_disk, words):
    code, out, error = run(words[0], evidence_disk, *words[1:])
    assert (code, out) == (1, "")
    assert error.startswith("Error: ")
    assert "Read-only file system; name a file elsewhere with -o.\n" in error
    assert error.count("\n") == 1


def test_grouping_a_case_on_a_read_only_disk_is_refused(evidence_disk, world):
    code, _, error = run(*again(world, evidence_disk))
    assert code == 1
    assert error.endswith("cannot be written: Read-only file system.\n")


# Another user


@pytest.mark.slow
def test_a_case_of_another_user_can_be_read_and_not_written(world, case, tmp_path):
    """As root without the right to overrule permissions, on files that are not root's."""
    bare = ("-dac_override", "-dac_read_search", "-fowner", "-chown")
    words = ["setpriv", "--bounding-set", ",".join(bare), "--inh-caps", "-all"]
    if os.getuid() or not shutil.which("setpriv") or subprocess.run([*words, "true"]).returncode:
        pytest.skip("needs to be root, and setpriv")
    for path in (case, *case.rglob("*")):
        os.chown(path, 65534, 65534)
        path.chmod(0o755 if path.is_dir() else 0o644)
    before = tree(case)

    def other(*command):
        whole = [*words, sys.executable, "-m", "samecam", *map(str, command)]
        done = subprocess.run(whole, capture_output=True, text=True)
        return done.returncode, done.stderr

    assert other("verify", case) == (0, mock.ANY)
    made = tmp_path / "r.html"
    assert other("report", case, "-o", made, "--no-thumbnails", "--quiet") == (0, "")
    for refused in (("report", case, "--no-thumbnails"), again(world, case)):
        code, error = other(*refused)
        assert code == 1
        assert "cannot be written: Permission denied" in error
    for path in (case / "fingerprints" / "shards").iterdir():
        path.chmod(0o600)
    code, error = other("report", case, "-o", made, "--no-thumbnails")
    assert code == 1
    assert "cannot be read (Permission denied)" in error
    assert other("verify", case)[0] == 4
    assert tree(case) == before


# A file system without locks


@pytest.mark.parametrize("kind", ["flock", "lockf"])
def test_a_file_system_without_locks_is_told(tmp_path, monkeypatch, kind):
    """Not that somebody uses the folder; and no new shard is tried for ever."""

    def no_locks(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, kind, no_locks)
    with pytest.raises(SamecamError, match=r"cannot be locked .*\(No locks available\)"):
        cluster_fingerprints(vectors(tmp_path), tmp_path / "case")


def vectors(folder):
    np.save(folder / "x.npy", np.random.default_rng(0).normal(size=(12, 64)))
    return folder / "x.npy"


# Disks that fail


@pytest.mark.parametrize(
    ("call", "after"),
    [
        *(("pread", 0), ("preadv", 0), ("pwrite", 0), ("pwrite", 3), ("ftruncate", 0)),
        *(("write", 0), ("write", 3), ("write", 7), ("fsync", 0), ("fsync", 3), ("fsync", 7)),
    ],
)
def test_an_error_of_the_disk_is_a_sentence_and_the_same_command_goes_on(
    tmp_path, monkeypatch, call, after
):
    """Every call from some moment on fails, as on a disk that dies; then it lives again."""
    file, case, calls = vectors(tmp_path), tmp_path / "case", itertools.count()
    real = getattr(os, call)

    def failing(*given, **options):
        if next(calls) >= after:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(*given, **options)

    words = ("cluster", "--fingerprints", file, "-o", case, "--quiet", "--no-report")
    assert run(*words, "--workers", 1)[0] == 0
    whole = tree(case)["clusters.csv"]
    shutil.rmtree(case)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        code, _, error = run(*words)
    assert next(calls) > after
    assert code == 1, error
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert run(*words)[0] == 0
    assert tree(case)["clusters.csv"] == whole
    assert verify_case(case).agrees


# Links


def outside_of(tmp_path, target):
    """A file outside, with the bytes of one of the case."""
    outside = tmp_path / "outside" / "precious"
    outside.parent.mkdir(exist_ok=True)
    shutil.copy(target, outside)
    return outside


FILES = (
    *("case.json", "log.jsonl", "images.csv", "clusters.csv", "clusters.json", "evidence.csv"),
    *("lock", "fingerprints/store.json", "fingerprints/catalogue.sqlite"),
    "fingerprints/shards/00000.f16",
)


@pytest.mark.parametrize("name", FILES)
def test_no_command_follows_a_link(world, case, tmp_path, name):
    outside = outside_of(tmp_path, case / name)
    before = outside.read_bytes()
    (case / name).unlink()
    (case / name).symlink_to(outside)
    with pytest.raises(SamecamError, match="is a link, and a case keeps its files itself"):
        open_case(case)
    for words in (again(world, case), ("report", case), ("export", case, "--format", "csv")):
        code, _, error = run(*words)
        assert (code, error.count("\n")) == (1, 1), words
    code, out, _ = run("verify", case)
    assert code == 4
    assert f"{name}' is a link" in out
    assert outside.read_bytes() == before


def test_no_command_follows_a_link_of_a_folder(world, case, tmp_path):
    for name in ("fingerprints/shards", "fingerprints"):
        outside = tmp_path / "outside"
        shutil.move(case / name, outside)
        (case / name).symlink_to(outside)
        before = tree(outside)
        assert run(*again(world, case))[0] == 1
        assert run("verify", case)[0] == 4
        assert tree(outside) == before
        (case / name).unlink()
        shutil.move(outside, case / name)
    assert verify_case(case).agrees


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_a_second_name_is_not_written_to(world, case, tmp_path, name):
    outside = tmp_path / "twin"
    os.link(case / name, outside)
    before = tree(case)
    with pytest.raises(SamecamError, match="one file under several names"):
        cluster_photos(world.root / "kept", case, SETTINGS)
    with pytest.raises(SamecamError, match="one file under several names"):
        add_photos(case, world.root / "held")
    assert tree(case) == before
    assert verify_case(case).agrees  # to read it is no harm


def test_a_journal_that_names_another_file_is_refused(case, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("x")
    name = os.fsencode(precious)
    total = sum(name).to_bytes(4, "big")
    journal = b"\0" * 512 + b"\0" * 4 + name + len(name).to_bytes(4, "big") + total
    path = case / "fingerprints" / "catalogue.sqlite-journal"
    path.write_bytes(journal + bytes.fromhex("d9d505f920a163d7"))
    for mode in ("r", "a"):
        with pytest.raises(SamecamError, match="its journal names another file"):
            DiskStore.open(case / "fingerprints", mode)
    assert precious.read_text() == "x"


# Files that are none


@pytest.mark.parametrize("name", [*FILES, "report.html", "fingerprints/catalogue.sqlite-wal"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "socket"])
def test_a_file_that_is_none_is_told_at_once(world, case, name, kind):
    """A pipe would be waited for until somebody writes to it."""
    path = case / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        here = os.open(path.parent, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)
    code, out, error = run("verify", case)
    told = name in ("lock",)
    assert code == (0 if told else 4), out + error
    if not told:
        assert path.name in out
    for words in (again(world, case), ("report", case, "--no-thumbnails")):
        code, _, error = run(*words)
        assert code in (0, 1, 3), words
        assert code != 1 or error.startswith("Error: "), words
        assert error.count("\n") <= 1, words


# A catalogue that somebody has changed


def change(case, *statements):
    with sqlite3.connect(case / "fingerprints" / "catalogue.sqlite") as db:
        for statement in statements:
            db.execute(statement)
    db.close()


ENDLESS = (
    "ALTER TABLE records RENAME TO old",
    "CREATE VIEW records AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT CAST(i AS BLOB), '', NULL, NULL, NULL, NULL, '{}' FROM n",
)


@pytest.mark.parametrize(
    "statements",
    [
        ENDLESS,
        ("CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",),
        ("CREATE TABLE more (x)",),
        ("CREATE INDEX i ON records (sha256)",),
        ("DROP TABLE records",),
        ("UPDATE records SET shard = -1",),
        ("UPDATE records SET row = 1000000000000",),
        ("UPDATE records SET crc = 'x'",),
        ("UPDATE records SET crc = NULL",),
        ("UPDATE records SET scale = 9e999",),
        ("UPDATE records SET scale = 'x'",),
        ("UPDATE records SET meta = '{}'",),
        ("UPDATE records SET meta = '[]'",),
        ("UPDATE records SET meta = 'x'",),
        ("UPDATE records SET meta = x'ff'",),
        ("UPDATE records SET meta = replace(meta, '\"good\"', '\"best\"')",),
        ("UPDATE records SET meta = replace(meta, '\"bytes\": ', '\"bytes\": 1e999')",),
        (f"UPDATE records SET meta = '{'[' * 100_000}'",),
        (f"UPDATE records SET meta = '{{\"status\": {'9' * 5000}}}'",),
        ('UPDATE records SET meta = \'{"status": "\\ud800"}\'',),
        ("UPDATE records SET sha256 = 'x'",),
        ("UPDATE records SET sha256 = x'ff'",),
        ("UPDATE records SET key = 'text' WHERE key = (SELECT min(key) FROM records)",),
    ],
)
def test_a_catalogue_that_was_changed_is_refused(world, case, statements):
    change(case, *statements)
    code, out, error = run("verify", case)
    assert code == 4, out + error
    assert "catalogue.sqlite' cannot be used" in out
    for words in (
        again(world, case),
        ("report", case, "--no-thumbnails"),
        ("match", case, next((world.root / "held").iterdir())),
    ):
        code, _, error = run(*words)
        assert (code, error.count("\n")) == (1, 1), (words, error)
        assert "catalogue.sqlite' cannot be used" in error


# Lies that verify is told


def edit(path, **changes):
    content = json.loads(path.read_text())
    for name, value in changes.items():
        *parts, last = name.split("__")
        entry = content
        for part in parts:
            entry = entry[part]
        entry[last] = value
    path.write_text(json.dumps(content, indent=2) + "\n")


@pytest.mark.parametrize(
    "lie",
    [
        {"extraction__sigma": 4.0},
        {"versions__numpy": "1.0"},
        {"samecam": "0.0.9"},
        {"created": "2020-01-01T00:00:00+00:00"},
        {"seed": 7},
        {"clustering__seed": 7},
        {"device": "cuda"},
        {"counts__good": 1},
        {"sources": ["/elsewhere"]},
        {"more": "x"},
    ],
)
def test_settings_that_were_changed_are_seen(case, lie):
    assert verify_case(case).agrees
    edit(case / "case.json", **lie)
    result = verify_case(case)
    assert not result.agrees
    assert any("case.json" in trouble for trouble in result.troubles)


@pytest.mark.parametrize(
    "lie",
    [
        {"byte_order": "big"},
        {"samecam": "0.0.9"},
        {"extractor__sigma": 4.0},
        {"dtype": "float32"},
        {"dtype": "complex"},
        {"n_pixels": 10**12},
        {"normalisation": "none"},
    ],
)
def test_a_description_of_the_store_that_was_changed_is_seen(case, lie):
    edit(case / "fingerprints" / "store.json", **lie)
    result = verify_case(case)
    assert not result.agrees
    assert any("store.json" in trouble for trouble in result.troubles)


def test_settings_that_were_changed_in_both_places_are_seen(case):
    edit(case / "case.json", extraction__sigma=4.0)
    edit(case / "fingerprints" / "store.json", extractor__sigma=4.0)
    assert len(verify_case(case).troubles) == 2


def test_a_record_that_was_changed_with_its_table_is_seen(case):
    change(case, "UPDATE records SET meta = replace(meta, '\"Aldine\"', '\"Another\"')")
    table = (case / "images.csv").read_text()
    (case / "images.csv").write_text(table.replace(",Aldine,", ",Another,"))
    (trouble,) = verify_case(case).troubles
    assert "what it says of a photo or of a fingerprint was changed" in trouble


def test_a_change_of_settings_is_not_laundered_by_another_run(world, case):
    edit(case / "case.json", created="2020-01-01T00:00:00+00:00")
    cluster_photos(world.root / "kept", case, SETTINGS)
    (trouble,) = verify_case(case).troubles
    assert "says that case.json had been changed by somebody" in trouble


def test_a_log_that_was_cut_is_seen(case):
    lines = (case / "log.jsonl").read_bytes().splitlines(keepends=True)
    (case / "log.jsonl").write_bytes(b"".join(lines[:-3]))
    assert not verify_case(case).agrees
    (case / "log.jsonl").write_bytes(b"")
    assert not verify_case(case).agrees
    (case / "log.jsonl").unlink()
    assert not verify_case(case).agrees


# The head of the log


def test_a_head_that_was_noted_tells_a_case_that_was_written_anew(world, tmp_path):
    cases = [tmp_path / name for name in ("true", "forged")]
    for case in cases:
        extract_photos(world.root / "held", case, SETTINGS)
    heads = [verify_case(case).head for case in cases]
    assert heads[0] != heads[1]
    for case, head in zip(cases, heads, strict=True):
        assert verify_case(case).agrees
        result = verify_case(case, head=head)
        assert result.agrees
        assert result.noted_line == result.lines
    wrong = verify_case(cases[1], head=heads[0])
    assert not wrong.agrees
    assert "does not hold the head" in wrong.troubles[0]


def test_a_head_of_before_still_holds_when_the_case_has_grown(world, case):
    head = verify_case(case).head
    add_photos(case, world.root / "held")
    result = verify_case(case, head=head)
    assert result.agrees
    assert result.noted_line < result.lines
    code, out, _ = run("verify", case, "--head", head)
    assert code == 0
    assert f"line {result.noted_line} of {result.lines}" in out
    assert run("verify", case, "--head", "0" * 64)[0] == 4


# Leftovers


def test_what_a_killed_run_left_is_swept(world, case):
    leftovers = [
        case / f".samecam-{'0' * 24}.part",
        case / "fingerprints" / f".samecam-{'1' * 24}.part",
    ]
    for path in leftovers:
        path.write_text("half")
    cluster_photos(world.root / "kept", case, SETTINGS)
    assert not any(path.exists() for path in leftovers)
