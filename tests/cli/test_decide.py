"""`samecam decide`: one decision a command, a table of them, and what was decided."""

import json
import shutil

import pytest

from tests.case.decisions.conftest import planted_case
from tests.processes import run

__all__ = ["planted_case"]


@pytest.fixture
def case(planted_case, tmp_path):
    shutil.copytree(planted_case, tmp_path / "case")
    return tmp_path / "case"


def done(case, *words):
    """Decide, and what is printed as JSON."""
    code, out, error = run("decide", case, "--examiner", "Ada", "--json", *words)
    assert (code, error) == (0, "")
    return json.loads(out)


def path_of(case, camera, which=0):
    lines = (case / "cameras.csv").read_text().splitlines()[1:]
    return [line.split(",")[0] for line in lines if line.split(",")[2] == camera][which]


def test_each_kind_of_decision(case):
    made = done(case, "merge", "camera-0", "camera-1", "--reason", "same scratch")
    assert made["cameras"] == {"camera-0": 16, "camera-2": 8}
    assert made["decisions"][0]["reason"] == "same scratch"
    photo, other = path_of(case, "camera-2"), path_of(case, "camera-2", 1)
    assert done(case, "reject", "camera-2", photo)["cameras"]["camera-2"] == 7
    assert done(case, "move", "camera-0", photo)["cameras"]["camera-0"] == 17
    third = path_of(case, "camera-2", 2)
    assert done(case, "split", "camera-2", other, third)["cameras"]["camera-3"] == 2
    assert "Anna" in done(case, "name", "camera-0", "Anna")["cameras"]
    done(case, "note", "Anna", "black cover")
    done(case, "note", other, "blurred")
    done(case, "status", "Anna", "check")
    done(case, "confirm", "camera-2")
    done(case, "cannot-tell", "Anna", "camera-2")
    done(case, "different", "Anna", "camera-3")
    alone = [line.split(",")[0] for line in (case / "cameras.csv").read_text().splitlines()[1:]
             if line.split(",")[2] == ""]  # fmt: skip
    assert done(case, "same", alone[0], alone[1])["cameras"]["camera-4"] == 2
    assert done(case, "undo", "1")["cameras"]["camera-1"] == 8
    shown = done(case)
    assert [d["decision"] for d in shown["decisions"]][-2:] == ["same", "undo"]
    assert shown["decisions"][0]["in_force"] is False


def test_in_words(case):
    code, out, _ = run("decide", case, "--examiner", "Ada", "merge", "camera-0", "camera-1")
    assert code == 0
    first = [path_of(case, camera) for camera in ("camera-0", "camera-1")]
    assert f"1: merge, 8 photos with {first[0]} and 8 photos with {first[1]}: camera-0" in out
    assert "2 cameras now" in out
    code, out, _ = run("decide", case)
    assert "Ada: merge" in out
    assert "(taken back)" not in out
    run("decide", case, "--examiner", "Bob", "undo", "1", "--reason", "mistaken")
    other = path_of(case, "camera-2", 3)
    run("decide", case, "name", "camera-2", "Anna")
    run("decide", case, "reject", "Anna", other)
    code, out, _ = run("decide", case)
    assert f"name Anna, 8 photos with {path_of(case, 'camera-2')}\n" in out
    assert f": reject, {other} and 7 photos with " in out
    assert "(taken back)" in out
    assert "Bob: undo 1 (mistaken)" in out


def test_a_table_of_decisions_gives_the_same_bytes(case, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(case, other)
    photo = path_of(case, "camera-2")
    done(case, "merge", "camera-0", "camera-1", "--reason", "one, phone")
    done(case, "reject", "camera-2", photo)
    done(case, "name", "camera-2", "Bertha")
    done(case, "status", "Bertha", "ok")
    done(case, "undo", "1")
    table = tmp_path / "decisions.csv"
    table.write_text(
        "decision,camera,other,photos,text,reason\n"
        'merge,camera-0,camera-1,,,"one, phone"\n'
        f"reject,camera-2,,{photo},,\n"
        "name,camera-2,,,Bertha,\n"
        "status,Bertha,,,ok,\n"
        "undo,,,,1,\n"
    )
    assert len(done(other, "--from", str(table))["decisions"]) == 5
    assert (case / "decided.csv").read_bytes() == (other / "decided.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("merge", "camera-0", "camera-9"), "no camera 'camera-9'"),
        (("merge", "camera-0", "camera-0"), "one camera already"),
        (("reject", "camera-0", "nobody.jpg"), "no used photo"),
        (("undo", "1"), "no decision 1"),
        (("name", "camera-0", "camera-7"), "by themselves"),
    ],
)
def test_what_cannot_be_is_one_sentence(case, words, message):
    code, out, error = run("decide", case, "--examiner", "Ada", *words)
    assert (code, out) == (1, "")
    assert message in error
    assert not (case / "decisions.jsonl").exists() or not (case / "decisions.jsonl").read_bytes()


def test_a_wrong_row_is_named_and_those_before_count(case, tmp_path):
    table = tmp_path / "decisions.csv"
    table.write_text("decision,camera,other\nmerge,camera-0,camera-1\nmerge,camera-0,camera-1\n")
    code, _, error = run("decide", case, "--examiner", "Ada", "--from", table)
    assert code == 1
    assert "Row 3" in error
    assert "1 before it count" in error
    for bad in ("", "a,b\n1,2\n", "decision\nburn\n", "decision,text\nundo,x\n", "\x00\xff"):
        table.write_bytes(bad.encode("latin-1"))
        assert run("decide", case, "--examiner", "Ada", "--from", table)[0] == 1


def test_usage(case, tmp_path):
    assert run("decide", case, "--from", tmp_path / "x.csv", "merge", "a", "b")[0] == 2
    assert run("decide", case, "merge", "camera-0")[0] == 2
    assert run("decide", case, "undo", "x")[0] == 2
    assert run("decide", case, "same", "a", "b", "c")[0] == 2
    assert run("decide", case, "burn")[0] == 2
    assert run("decide", tmp_path / "nowhere", "undo", "1")[0] == 1


def test_a_user_without_a_name_is_asked_for_one(case, monkeypatch):
    """As in a container that does not know its user."""
    monkeypatch.setattr("getpass.getuser", lambda: {}[12345])
    code, _, error = run("decide", case, "confirm", "camera-0")
    assert (code, error.count("\n")) == (1, 1)
    assert error.endswith("say who decides by --examiner.\n")
