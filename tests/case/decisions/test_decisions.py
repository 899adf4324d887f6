"""Decisions: written before they count, about photos, taken back and restored, never silent."""

import csv
import json
import os
import signal
import subprocess
import sys

import pytest

from samecam.case import (
    ContradictionError,
    Deciding,
    open_case,
    read_decided,
    read_decisions,
    verify_case,
)
from samecam.errors import SamecamError
from tests.case.decisions.conftest import ALONE, CAMERAS, EACH, hashes_of, members
from tests.processes import PATIENCE


def lines(case):
    with open(case / "decisions.jsonl", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def table(case):
    with open(case / "decided.csv", encoding="utf-8", newline="") as stream:
        return {row["sha256"]: row for row in csv.DictReader(stream)}


def alone_of(held):
    return members(held.decided)[""]


def test_without_decisions_the_answer_is_the_machines(case):
    saved = open_case(case)
    decided = read_decided(saved)
    assert [camera.name for camera in decided.cameras] == ["camera-0", "camera-1", "camera-2"]
    assert decided.camera_of.tolist() == [photo.cluster for photo in saved.used]
    assert decided.differs == []
    assert not decided.counts
    assert not decided.stale
    assert not (case / "decided.csv").exists()


def test_a_merge_joins_two_cameras_and_the_machines_answer_stays(case):
    before = (case / "clusters.csv").read_bytes()
    with Deciding(case, "Ada") as held:
        decision = held.merge("camera-1", "camera-2", "the same scratch")
    assert (decision.number, decision.examiner, decision.camera) == (1, "Ada", "camera-1")
    assert (case / "clusters.csv").read_bytes() == before
    decided = read_decided(open_case(case))
    assert [(c.name, c.size) for c in decided.cameras] == [("camera-1", 16), ("camera-0", 8)]
    assert decided.cameras[0].clusters == (1, 2)
    assert len(decided.differs) == EACH
    rows = table(case)
    assert len(rows) == CAMERAS * EACH + ALONE
    moved = [row for row in rows.values() if row["cluster"] == "2"]
    assert {(row["camera"], row["decision"]) for row in moved} == {("camera-1", "1")}
    (line,) = lines(case)
    assert (line["event"], line["examiner"], line["reason"]) == ("merge", "Ada", "the same scratch")
    assert len(line["photos"]) == len(line["others"]) == EACH


def test_a_split_makes_a_camera_of_its_own(deciding):
    some = deciding.hashes("camera-0")[:3]
    decision = deciding.split("camera-0", some)
    assert decision.camera == "camera-3"
    assert sorted(deciding.hashes("camera-3")) == sorted(some)
    assert len(deciding.hashes("camera-0")) == EACH - 3
    assert deciding.split("camera-1", deciding.hashes("camera-1")[:2]).camera == "camera-4"


def test_a_rejected_photo_is_of_no_camera(deciding):
    photo = deciding.hashes("camera-0")[2]
    deciding.reject("camera-0", [photo])
    assert photo in alone_of(deciding)
    with pytest.raises(ContradictionError, match="decision 1") as raised:
        deciding.move([photo], "camera-0")
    assert raised.value.against == 1
    deciding.move([photo], "camera-1")
    assert photo in deciding.hashes("camera-1")


def test_photos_alone_join_or_make_a_camera(deciding):
    first, second = alone_of(deciding)
    deciding.same([first], deciding.hashes("camera-2"))
    assert first in deciding.hashes("camera-2")
    deciding.undo(1)
    decision = deciding.same([first], [second])
    assert sorted(deciding.hashes(decision.camera)) == sorted([first, second])
    assert alone_of_all(deciding) == []


def alone_of_all(held):
    return members(held.decided).get("", [])


def test_any_step_is_undone_and_restored(deciding):
    start = members(deciding.decided)
    deciding.merge("camera-0", "camera-1")
    merged = members(deciding.decided)
    deciding.name("camera-2", "Bertha's phone")
    deciding.undo(1)
    assert members(deciding.decided) == {
        ("Bertha's phone" if name == "camera-2" else name): some for name, some in start.items()
    }
    deciding.undo(3)  # redo
    assert members(deciding.decided)["camera-0"] == merged["camera-0"]
    assert deciding.decided.in_force == {1, 2, 4}
    with pytest.raises(SamecamError, match="taken back already"):
        deciding.undo(3)
    with pytest.raises(SamecamError, match="no decision 9"):
        deciding.undo(9)


def test_what_contradicts_is_refused_and_not_written(case, deciding):
    deciding.different(deciding.hashes("camera-0"), deciding.hashes("camera-1"))
    with pytest.raises(ContradictionError, match="cannot stand beside decision 1"):
        deciding.merge("camera-0", "camera-1")
    assert len(lines(case)) == 1
    assert sorted(deciding.decided.names) == ["camera-0", "camera-1", "camera-2"]
    # neither by a way round
    deciding.merge("camera-0", "camera-2")
    with pytest.raises(ContradictionError):
        deciding.merge("camera-0", "camera-1")
    deciding.undo(1)
    deciding.merge("camera-0", "camera-1")
    assert len(deciding.decided.cameras) == 1


def test_restoring_what_now_contradicts_is_listed(deciding):
    deciding.different(deciding.hashes("camera-0"), deciding.hashes("camera-1"))
    deciding.undo(1)
    deciding.merge("camera-0", "camera-1")
    deciding.undo(2)
    (found,) = deciding.decided.contradictions
    assert (found.decision, found.against) == (3, 1)
    assert len(deciding.decided.cameras) == CAMERAS


def test_confirmed_photos_stay(deciding):
    deciding.confirm("camera-1")
    assert [c.confirmed for c in deciding.decided.cameras] == [False, True, False]
    with pytest.raises(ContradictionError, match="decision 1"):
        deciding.reject("camera-1", deciding.hashes("camera-1")[:1])
    deciding.merge("camera-1", "camera-2")  # more photos than were confirmed
    assert not deciding.decided.cameras[0].confirmed


def test_cannot_tell_changes_nothing_but_is_kept(deciding):
    before = members(deciding.decided)
    deciding.cannot_tell(deciding.hashes("camera-0"), deciding.hashes("camera-1"), "too few")
    assert members(deciding.decided) == before
    assert deciding.decided.decisions[-1].kind == "cannot tell"


def test_notes_names_and_statuses(case, deciding):
    deciding.name("camera-0", "  Anna’s phone ")
    deciding.note("Anna’s phone", "black cover")
    deciding.note(deciding.hashes("camera-1")[:1], "blurred")
    deciding.status("camera-1", "warning", "few photos")
    first, second, _ = deciding.decided.cameras
    assert (first.name, first.named, [n.text for n in first.notes]) == (
        "Anna’s phone",
        True,
        ["black cover"],
    )
    assert (second.status, second.notes) == ("warning", ())
    for bad in ("", " ", "a\nb", "camera-9", "x" * 101, "Anna’s phone\u202e"):
        with pytest.raises(SamecamError):
            deciding.name("camera-1", bad)
    with pytest.raises(SamecamError, match="already"):
        deciding.name("camera-1", "Anna’s phone")
    with pytest.raises(SamecamError, match="no status"):
        deciding.status("camera-1", "fine")
    assert len(lines(case)) == 4


def test_a_named_camera_gives_its_name_to_a_merged_one(deciding):
    deciding.name("camera-2", "Bertha")
    deciding.merge("camera-0", "Bertha")
    assert deciding.decided.cameras[0].name == "Bertha"
    deciding.undo(1)
    assert deciding.decided.cameras[0].name == "camera-0"


@pytest.mark.parametrize("photos", [[], ["0" * 64], ["no hash"]])
def test_photos_that_are_not_there_are_refused(deciding, photos):
    with pytest.raises(SamecamError):
        deciding.same(photos, deciding.hashes("camera-0"))
    assert deciding.decided.decisions == []


def test_a_camera_cannot_lose_all_its_photos_nor_photos_it_has_not(deciding):
    with pytest.raises(SamecamError, match="all photos"):
        deciding.split("camera-0", deciding.hashes("camera-0"))
    with pytest.raises(SamecamError, match="not a photo of"):
        deciding.reject("camera-0", deciding.hashes("camera-1")[:1])
    with pytest.raises(SamecamError, match="no camera 'camera-7'"):
        deciding.merge("camera-0", "camera-7")


@pytest.mark.usefixtures("deciding")
def test_only_one_decides(case):
    with pytest.raises(SamecamError, match="in use"):
        Deciding(case, "Bob")
    assert read_decided(open_case(case)).cameras  # others may read


@pytest.mark.parametrize("name", ["", "  ", "a\x00b"])
def test_somebody_must_decide(case, name):
    with pytest.raises(SamecamError):
        Deciding(case, name)


def test_a_changed_file_of_decisions_is_refused(case):
    with Deciding(case, "Ada") as held:
        held.merge("camera-0", "camera-1")
        held.name("camera-2", "Bertha")
    path = case / "decisions.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"Ada"', b'"Eve"', 1))
    with pytest.raises(SamecamError, match=r"Line 2 of .*decisions.jsonl"):
        read_decided(open_case(case))
    first = whole.splitlines(keepends=True)[0]
    path.write_bytes(first + b'{"event": "merge"')  # killed in the midst of a line
    assert len(read_decisions(case)) == 1
    with Deciding(case, "Ada") as held:
        held.name("camera-2", "Clara")
    assert [line["event"] for line in lines(case)] == ["merge", "name"]


def test_lines_that_are_no_decisions_are_refused(case):
    hashes = hashes_of(case)
    base = {"time": "t", "examiner": "a", "reason": ""}
    bad = [
        {"event": "undo", "of": 1},
        {"event": "merge", "photos": hashes[:1]},
        {"event": "merge", "photos": hashes[:2], "others": hashes[1:3]},
        {"event": "same", "photos": ["x"], "others": hashes[:1]},
        {"event": "burn", "photos": hashes[:1]},
        {"event": "note", "photos": hashes[:1]},
        {"event": "status", "photos": hashes[:1], "status": "fine"},
        {"event": "name", "photos": hashes[:1], "camera": 3},
    ]
    for more in bad:
        line = json.dumps({**base, **more, "previous": ""})
        (case / "decisions.jsonl").write_text(line + "\n", encoding="utf-8")
        with pytest.raises(SamecamError, match="Line 1"):
            read_decisions(case)


def test_decisions_about_photos_that_are_gone_are_void(case):
    hashes = hashes_of(case)
    line = {
        "time": "t",
        "event": "same",
        "examiner": "a",
        "reason": "",
        "photos": ["0" * 64],
        "others": hashes[:2],
        "previous": "",
    }
    (case / "decisions.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    decided = read_decided(open_case(case))
    assert decided.void == [1]
    assert decided.differs == []


KILLED = """
import os, signal, sys
from samecam.case import Deciding
held = Deciding(sys.argv[1], "Ada")
for k in range(int(sys.argv[2])):
    held.note("camera-0", f"note {k}")
    print(k, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_loses_nothing_that_was_acknowledged(case):
    words = [sys.executable, "-c", KILLED, str(case), "5"]
    result = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=False)
    assert result.returncode == -signal.SIGKILL
    assert len(read_decisions(case)) == len(result.stdout.split()) == 5
    with Deciding(case, "Ada") as held:  # the lock went with the process
        held.note("camera-0", "afterwards")
    assert (case / "decided.csv").exists()


@pytest.mark.parametrize("kills", [1, 2])
def test_decisions_killed_before_the_log_knew_them_are_no_tampering(case, kills):
    with Deciding(case, "Ada") as held:
        held.name("camera-0", "Anna")
    for k in range(kills):
        with Deciding(case, "Ada") as held:
            log = (case / "log.jsonl").read_bytes()  # all there is when the decision is written
            held.note("Anna", f"killed {k}")
        (case / "log.jsonl").write_bytes(log)
    for text in ("one", "two"):
        with Deciding(case, "Ada") as held:
            held.note("Anna", text)
    known = [(e["number"], e.get("found")) for e in open_case(case).log_entries("decided")]
    found = [None, *[True] * kills, None, None]
    assert known == list(enumerate(found, start=1))
    assert verify_case(case).troubles == []


def test_a_log_that_cannot_be_written_lets_go_of_the_case(case, monkeypatch):
    with Deciding(case, "Ada") as held:
        log = (case / "log.jsonl").read_bytes()
        held.name("camera-0", "Anna")
    (case / "log.jsonl").write_bytes(log)

    def full(*_):
        raise OSError(28, os.strerror(28))

    opened = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(SamecamError, match="cannot be written"):
            Deciding(case, "Ada")
    assert len(os.listdir("/proc/self/fd")) == opened
    with Deciding(case, "Ada"):
        pass
    assert verify_case(case).troubles == []


def test_a_decision_waits_until_the_log_knows_the_one_before(case, deciding, monkeypatch):
    write = os.write

    def full(fd, data):
        if b"decided" in bytes(data):
            raise OSError(28, os.strerror(28))
        return write(fd, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        deciding.name("camera-0", "Anna")
        with pytest.raises(SamecamError, match="cannot be written"):
            deciding.name("camera-1", "Bob")
        assert len(read_decisions(case)) == 1
    deciding.name("camera-1", "Bob")
    assert [entry["number"] for entry in open_case(case).log_entries("decided")] == [1, 2]


def test_what_cannot_be_written_does_not_count(case, deciding, monkeypatch):
    before = members(deciding.decided)

    def full(*_):
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(SamecamError, match="cannot be written"):
            deciding.merge("camera-0", "camera-1")
    assert members(deciding.decided) == before
    assert (case / "decisions.jsonl").read_bytes() == b""
    deciding.merge("camera-0", "camera-1")
    assert len(read_decisions(case)) == 1
