"""The soak in short: every part of `make soak`, by the same functions, in seconds each."""

import json
import shutil

import pytest

from benchmarks import soak
from tests.soak import damaged, disks
from tests.soak.jobs import JOBS
from tests.soak.kills import Killing
from tests.soak.parts import FULL, PATIENCE, QUICK, chunks, run_chunk
from tests.soak.runs import finish
from tests.soak.slots import Slot
from tests.soak.tampered import World, make_world, tamperings

COMMANDS = {
    *("cluster", "extract", "add", "match", "verify", "report", "export", "compare", "tune"),
    *("experiment", "simulate"),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Without comparing and tuning, which take longest: nothing here begins with them."""
    root = tmp_path_factory.mktemp("soak")
    with Slot(root) as slot:
        return make_world(root, lambda *words: slot.run(*words, seconds=PATIENCE), studies=False)


def test_all_of_it_is_as_long_as_it_should_be():
    assert {name.split()[0] for name in JOBS} == COMMANDS
    assert sum(sum(job.kills) for job in JOBS.values()) >= soak.WANTED["kills"]
    assert min(sum(job.kills) for job in JOBS.values()) >= soak.OF_EACH
    assert len(tamperings()) >= soak.WANTED["tampered cases"]
    assert FULL.mutants >= soak.WANTED["mutated files"]
    names = chunks(FULL)
    assert len(set(names)) == len(names)
    assert {name.split("/")[0] for name in names} == {"kills", "disks", "tampered", "mutants"}


@pytest.mark.slow
def test_mutated_photos_and_a_kill_among_them(tmp_path):
    seen = damaged.damage(tmp_path / "place", 57, 1, seed=3)
    assert seen["kills"] == 1
    assert sum(seen["by_status"].values()) == 57 + seen["whole_files"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["extract", "report", "export vics", "simulate"])
def test_killed_at_steps(world, tmp_path, name):
    rows = Killing(world, name, tmp_path / "place").at_steps(2)
    assert [row["kills"] for row in rows] == [1, 1]
    assert [row["faults"] for row in rows] == [[], []]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cluster", "match", "verify"])
def test_killed_at_random(world, tmp_path, name):
    rows = Killing(world, name, tmp_path / "place").at_random(1)
    assert sum(row["kills"] for row in rows) >= 1
    assert not any(row["faults"] for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["extract", "compare"])
def test_workers_killed(world, tmp_path, name):
    rows = Killing(world, name, tmp_path / "place").of_workers(1)
    assert sum(row["kills"] for row in rows) >= 1
    assert not any(row["faults"] for row in rows)


@pytest.mark.slow
def test_a_disk_that_is_full(world, tmp_path):
    faults = disks.full_disk(world, tmp_path, growth=4)
    if faults is None:
        pytest.skip("cannot mount a small file system here")
    assert faults >= 2


@pytest.mark.slow
@pytest.mark.parametrize("what", [disks.photos_vanish, disks.case_vanishes])
def test_a_drive_vanishes(world, tmp_path, what):
    what(world, tmp_path, 1, seed=5)


# What is wrong is seen


class Pretended(Killing):
    """Nothing is run: what a command leaves behind is said by the test."""

    def __init__(self, place, name="export csv"):
        world = World(place.parent / "world")
        (world.root / "photos").mkdir(parents=True)
        shutil.rmtree(place, ignore_errors=True)
        super().__init__(world, name, place)

    def begin(self):
        (self.place / "case").mkdir(parents=True, exist_ok=True)

    def _calm(self):
        self.begin()
        (self.place / "case" / "export.csv").write_text("right")
        from tests.soak.kills import Calm

        return Calm(self.job.made(self.place), {"case"}, 0.0, 4)


@pytest.fixture
def killing(tmp_path, monkeypatch):
    code = [0]
    monkeypatch.setattr("tests.soak.kills.finish", lambda *_: (code[0], "Error: no"))
    made = Pretended(tmp_path / "place")
    made.code = code
    return made


def test_what_a_run_leaves_as_it_should_be_is_no_fault(killing):
    assert killing.settle() == []


def test_another_answer_is_a_fault(killing):
    (killing.place / "case" / "export.csv").write_text("wrong")
    assert killing.settle() == ["not the same as undisturbed: export"]


@pytest.mark.parametrize("name", ["case/.export.csv.12", "case/fingerprints/shards/.x.7"])
def test_a_temporary_file_is_a_fault(killing, name):
    path = killing.place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    assert killing.settle() == [f"left over: {name.rstrip('0123456789')}"]


def test_a_file_beside_the_case_is_a_fault(killing):
    (killing.place / "beside").touch()
    assert killing.settle() == ["written beside: beside"]


def test_an_error_once_more_is_a_fault(killing):
    killing.code[0] = 1
    assert killing.settle() == ["once more it ended with 1: Error: no"]


def test_changed_photos_are_a_fault(killing):
    (killing.world.photos / "new.jpg").touch()
    assert killing.settle() == ["photos were changed"]


# The journal


def test_the_journal_goes_on_for_the_same_state_alone(tmp_path):
    work = tmp_path / "work"
    soak.Journal(work, "one").add("kills/x", {"faults": []})
    with open(work / "journal.jsonl", "a") as stream:
        stream.write('{"chunk": "cut off')
    again = soak.Journal(work, "one")
    assert list(again.done) == ["kills/x"]
    again.add("kills/y", {"faults": []})
    assert list(soak.Journal(work, "one").done) == ["kills/x", "kills/y"]
    (work / "world").mkdir()
    assert not soak.Journal(work, "two").done
    assert not (work / "world").exists()


def test_time_that_is_up_keeps_what_is_done(tmp_path):
    work = ["--quick", "--work", str(tmp_path / "work"), "--out", str(tmp_path)]
    assert soak.main([*work, "--minutes", "0"]) == 3
    assert not (tmp_path / "soak.json").exists()


def test_faults_and_too_little_are_told(tmp_path, monkeypatch):
    """A chunk whose check fails does not end the soak, but it does not pass either."""
    monkeypatch.setattr(damaged, "damage", lambda *_: pytest.fail("nothing is accounted for"))
    with pytest.raises(pytest.fail.Exception):
        run_chunk("mutants/1 of 1", tmp_path, QUICK)
    monkeypatch.setattr(damaged, "damage", _lost)
    seen = run_chunk("mutants/1 of 1", tmp_path, QUICK)
    result = soak.summary({"mutants/1 of 1": seen})
    assert result["total"]["faults"] == 1
    assert "one row for each file" in result["faults"][0]["fault"]
    assert len(soak.too_little(result)) == len(soak.WANTED) + len(JOBS)


def _lost(*_):
    raise AssertionError("one row for each file, and none besides")


def test_figures_are_added_up():
    done = {
        "kills/add/steps/1 of 2": {"kills": 2, "moments": 9, "by_state": {"new": 2}, "faults": []},
        "kills/add/steps/2 of 2": {"kills": 3, "moments": 9, "by_state": {"new": 3}, "faults": []},
        "kills/add/workers/1 of 1": {"kills": 1, "moments": 9, "by_state": {}, "faults": []},
        "disks/full": {"disk_faults": 4, "faults": []},
    }
    done = {name: {**seen, "seconds": 1.0, "largest_process": 5} for name, seen in done.items()}
    result = soak.summary(done)
    assert result["total"]["kills"] == 6
    assert result["kills"]["by_command"] == {"add": {"steps": 5, "workers": 1}}
    assert result["kills"]["by_state_of_the_case"] == {"new": 5}
    assert result["disks"] == {"full": 4}
    json.dumps(result)


@pytest.mark.slow
def test_a_run_whose_steps_are_counted_is_as_any_other(tmp_path):
    words = ("simulate", "-o", tmp_path / "out", "--cameras", 1, "--images", 1, "--size", "64x64")
    assert finish(*words, "--workers", 1, SOAK_MOMENTS=tmp_path / "count")[0] == 0
    assert int((tmp_path / "count").read_text()) > 4
