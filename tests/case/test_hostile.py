"""Cases that somebody has tampered with.

Every command ends with an exit code and a sentence; `verify` names what is wrong; nothing
outside the case is ever written.
"""

import hashlib
import json
import os
import shutil
import socket
from unittest import mock

import pytest

from samecam import cluster_photos
from samecam.case import (
    ExtractionSettings,
    add_photos,
    extract_photos,
    open_case,
    verify_case,
)
from samecam.case.folder import _case
from samecam.errors import SamecamError
from samecam.store import DiskStore
from tests.case.conftest import write
from tests.case.worlds import WHOLE, change, copied, shared_world, tree
from tests.photos.pictures import encode, scene
from tests.processes import run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory, WHOLE)


@pytest.fixture
def case(world, tmp_path):
    """A copy of a clustered case: free to be spoilt."""
    return copied(world.case, tmp_path / "case")


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
    "fingerprints/shards/512x384/00000.i8",
)


@pytest.mark.parametrize("name", FILES)
def test_no_command_follows_a_link(world, case, tmp_path, name):
    outside = outside_of(tmp_path, case / name)
    before = outside.read_bytes()
    (case / name).unlink()
    (case / name).symlink_to(outside)
    with pytest.raises(SamecamError, match="is a link, and a case keeps its files itself"):
        open_case(case)
    for words in (world.again(case), ("report", case), ("export", case, "--format", "csv")):
        code, _, error = run(*words)
        assert (code, error.count("\n")) == (1, 1), words
    code, out, _ = run("verify", case)
    assert code == 4
    assert f"{name}' is a link" in out
    assert outside.read_bytes() == before


def test_no_command_follows_a_link_of_a_folder(world, case, tmp_path):
    for name in ("fingerprints/shards/512x384", "fingerprints/shards", "fingerprints"):
        outside = tmp_path / "outside"
        shutil.move(case / name, outside)
        (case / name).symlink_to(outside)
        before = tree(outside)
        assert run(*world.again(case))[0] == 1
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
        cluster_photos(world.root / "kept", case, WHOLE, search="off")
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
    for words in (world.again(case), ("report", case, "--no-thumbnails")):
        code, _, error = run(*words)
        assert code in (0, 1, 3), words
        assert code != 1 or error.startswith("Error: "), words
        assert error.count("\n") <= 1, words


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
        {"frame": "512x384"},
        {"frame": "../x384"},
        {"frame": 7},
        {"normalisation": "none"},
    ],
)
def test_a_description_of_the_store_that_was_changed_is_seen(case, lie):
    edit(case / "fingerprints" / "store.json", **lie)
    result = verify_case(case)
    assert not result.agrees
    assert any("store.json" in trouble for trouble in result.troubles)


@pytest.mark.parametrize(
    "lie",
    [
        {"sources": []},
        {"added": [{"folder": "added 1", "sources": []}]},
        {"clustering__sha256": {"a\0b": "0" * 64}},
        {"clustering__method": "ncuts", "clustering__options": {"threshold": "x"}},
    ],
)
def test_odd_settings_are_named_and_no_fault_of_ours(case, lie):
    edit(case / "case.json", **lie)
    code, out, error = run("verify", case)
    assert code == 4, error
    assert "case.json" in out


def test_a_log_that_names_other_files_is_broken(case):
    path = case / "log.jsonl"
    last = hashlib.sha256(path.read_bytes().splitlines()[-1]).hexdigest()
    line = {"event": "saved", "sha256": {"../x\0": "0" * 64}, "previous": last}
    with open(path, "a") as stream:
        stream.write(json.dumps(line) + "\n")
    (trouble, *_) = verify_case(case).troubles
    assert "does not follow from the one before" in trouble


def test_what_somebody_made_absurdly_long_is_cut(case):
    edit(case / "case.json", sources=["/" + "x" * 200_000])
    code, out, _ = run("verify", case)
    assert code == 4
    assert len(out) < 10_000


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
    cluster_photos(world.root / "kept", case, WHOLE, search="off")
    (trouble,) = verify_case(case).troubles
    assert "says that case.json had been changed by somebody" in trouble


def test_settings_that_were_taken_away_are_missed(world, case):
    (case / "case.json").unlink()
    assert run("verify", case)[0] == 4
    cluster_photos(world.root / "kept", case, WHOLE, search="off")
    (trouble,) = verify_case(case).troubles
    assert "says that case.json had been changed by somebody" in trouble


@pytest.mark.parametrize("kills", [1, 2, 3])
def test_a_run_that_was_killed_is_not_taken_for_a_change(tmp_path, kills):
    """Killed between the line of the log and the file that it names, first of all the first."""
    photos = tmp_path / "photos"
    write(photos / "a.png", encode(scene(1, 100, 100), "PNG"))
    for _ in range(kills):
        killed = mock.patch.object(_case, "write_atomically", side_effect=KeyboardInterrupt)
        with killed, pytest.raises(KeyboardInterrupt):
            extract_photos(photos, tmp_path / "case", ExtractionSettings(size=64))
    extract_photos(photos, tmp_path / "case", ExtractionSettings(size=64))
    assert verify_case(tmp_path / "case").agrees


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
        extract_photos(world.root / "held", case, WHOLE)
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
    cluster_photos(world.root / "kept", case, WHOLE, search="off")
    assert not any(path.exists() for path in leftovers)
