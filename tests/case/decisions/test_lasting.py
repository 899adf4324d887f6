"""Decisions through new runs and more photos: what was found to be lost on the way, and is not."""

import csv
import hashlib
import json
import os

import numpy as np
import pytest

from samecam.case import Deciding, open_case, read_decided, read_decisions, verify_case
from samecam.errors import SamecamError
from tests.case.decisions.conftest import members
from tests.case.decisions.test_names import Pile


def cameras(sizes, seed, strength=0.4, d=3000):
    rng = np.random.default_rng(seed)
    patterns = [np.repeat(rng.normal(size=(1, d)), size, axis=0) for size in sizes]
    return np.concatenate([strength * p + rng.normal(size=p.shape) for p in patterns])


def name_with(pile, row):
    decided = read_decided(open_case(pile.case))
    return next(name for name in decided.names if row in pile.paths(name))


def alone(pile):
    decided = read_decided(open_case(pile.case))
    return [p.path for k, p in enumerate(decided.photos) if decided.camera_of[k] < 0]


@pytest.mark.parametrize("seed", range(4))
def test_both_parts_of_a_split_camera_stay_whatever_comes(tmp_path, seed):
    pile = Pile(tmp_path, cameras([14, 8], seed))
    pile.run([*range(8), *range(14, 22)])
    name = name_with(pile, 0)
    with Deciding(pile.case, "Ada") as held:
        new = held.split(name, pile.hashes([0, 1, 2])).camera
    pile.run(range(8, 14))  # six more of the camera that was split
    assert pile.paths(name) >= {3, 4, 5, 6, 7}
    assert pile.paths(new) >= {0, 1, 2}
    assert pile.paths(name) | pile.paths(new) <= set(range(14))
    assert alone(pile) == []
    assert verify_case(pile.case).agrees


@pytest.mark.parametrize("seed", range(3))
def test_a_rejected_photo_stays_out_of_what_it_was_rejected_from(tmp_path, seed):
    pile = Pile(tmp_path, cameras([20, 8], seed))
    pile.run([*range(10), *range(20, 28)])
    name = name_with(pile, 0)
    with Deciding(pile.case, "Ada") as held:
        held.split(name, pile.hashes([6, 7, 8, 9]))
    pile.run(range(10, 20))
    place = name_with(pile, 6)
    assert len(pile.paths(place)) > 1
    with Deciding(pile.case, "Ada") as held:
        held.reject(place, pile.hashes([6]))
    pile.run()
    assert 6 not in pile.paths(name_with(pile, 7))
    assert verify_case(pile.case).agrees


@pytest.mark.parametrize("how", ["move", "same"])
@pytest.mark.parametrize("sent", [1, 5])
def test_photos_that_were_sent_to_a_camera_take_no_others_there(tmp_path, how, sent):
    pile = Pile(tmp_path, cameras([12, 12, 8], 3))
    pile.run([*range(8), *range(12, 20), *range(24, 32)])
    to, of, other = (name_with(pile, row) for row in (0, 12, 24))
    with Deciding(pile.case, "Ada") as held:
        for row in range(12, 12 + sent):
            (photo,) = pile.hashes([row])
            held.move([photo], to) if how == "move" else held.same([photo], pile.hashes([0]))
    stay, gone = {*range(12 + sent, 20)}, {*range(12, 12 + sent)}
    for more in ((), (), [*range(8, 12), *range(20, 24)]):  # again, again, and with more photos
        pile.run(more)
        assert pile.paths(to) == {*range(8)} | gone | {k for k in more if k < 12}
        assert pile.paths(of) == stay | {k for k in more if k >= 12}
        assert pile.paths(other) == {*range(24, 32)}
        assert verify_case(pile.case).agrees


def test_a_run_without_new_photos_changes_nothing_that_stands(tmp_path):
    pile = Pile(tmp_path, cameras([8, 8, 8], 1))
    pile.run(range(24))
    names = [name_with(pile, k) for k in (0, 8, 16)]
    with Deciding(pile.case, "Ada") as held:
        held.name(names[0], "Anna")
        held.split("Anna", pile.hashes([0, 1, 2, 3, 4]))
        held.status(names[1], "ok")
        held.status(names[2], "warning")
        held.merge(names[1], names[2])
        held.note(names[1], "seen")
        held.undo(3)
        held.name(names[1], "Bertha")
    before = (pile.case / "decided.csv").read_bytes()
    stood = read_decided(open_case(pile.case))
    pile.run()
    assert (pile.case / "decided.csv").read_bytes() == before
    again = read_decided(open_case(pile.case))
    for one, two in zip(stood.cameras, again.cameras, strict=True):
        assert (one.name, one.status, one.notes) == (two.name, two.status, two.notes)
        assert (one.decisions, one.confirmed) == (two.decisions, two.confirmed)
    assert pile.paths("Anna") == {5, 6, 7}
    with open(pile.case / "decided.csv", newline="") as stream:
        decided = {row["path"]: row["decision"] for row in csv.DictReader(stream)}
    assert decided["0000"] == "2"


def test_taking_back_a_note_is_not_stale(tmp_path):
    pile = Pile(tmp_path, cameras([8, 8], 1))
    pile.run(range(16))
    with Deciding(pile.case, "Ada") as held:
        held.merge("camera-0", "camera-1")
        held.note("camera-0", "seen")
        held.name("camera-0", "Anna")
    pile.run()
    with Deciding(pile.case, "Ada") as held:
        held.undo(2)
        held.undo(3)
        assert not held.decided.stale
        (camera,) = held.decided.cameras
        assert (camera.name, camera.notes) == ("camera-0", ())


def test_a_camera_of_one_photo_merges_as_a_camera(deciding):
    rest = deciding.hashes("camera-0")
    deciding.split("camera-0", rest[1:])
    deciding.name("camera-0", "Anna")
    deciding.note("Anna", "the only one")
    assert deciding.merge("Anna", "camera-1").camera == "Anna"
    camera = deciding.decided.cameras[deciding.number("Anna")]
    assert (camera.size, [note.text for note in camera.notes]) == (9, ["the only one"])


def test_a_full_disk_of_the_log_does_not_shift_numbers(case, monkeypatch):
    calls, real = [], os.fsync

    def full_second(fd):
        calls.append(fd)
        if len(calls) == 2:
            raise OSError(28, os.strerror(28))
        real(fd)

    with Deciding(case, "Ada") as held:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full_second)
            held.merge("camera-0", "camera-1")
        assert held.name("camera-2", "Clara").number == 2
        held.undo(1)
        assert len(read_decisions(case)) == 3
        stands = members(held.decided)
    assert members(read_decided(open_case(case))) == stands
    assert len(stands["Clara"]) == 8
    assert verify_case(case).troubles == []


def test_a_decision_that_the_log_does_not_know_is_seen(case):

    with Deciding(case, "Ada") as held:
        held.name("camera-0", "Anna")
    path = case / "decisions.jsonl"
    for examiner in ("Eve", "Eve"):
        last = path.read_bytes().splitlines()[-1]
        line = {
            "time": "t",
            "event": "note",
            "examiner": examiner,
            "reason": "",
            "text": "x",
            "photos": [open_case(case).used[0].sha256],
            "previous": hashlib.sha256(last).hexdigest(),
        }
        with open(path, "a", encoding="ascii") as stream:
            stream.write(json.dumps(line) + "\n")
    with Deciding(case, "Ada"):
        pass
    assert any("does not know" in text for text in verify_case(case).troubles)


@pytest.mark.parametrize("name", ["a\x1bb", "x" * 20_000, "a\u202eb"])
def test_odd_names_in_the_file_are_refused(case, name):

    line = {
        "time": "t",
        "event": "name",
        "examiner": "a",
        "reason": "",
        "camera": name,
        "photos": [open_case(case).used[0].sha256],
        "previous": "",
    }
    (case / "decisions.jsonl").write_text(json.dumps(line) + "\n", encoding="ascii")
    with pytest.raises(SamecamError, match="Line 1"):
        read_decided(open_case(case))
