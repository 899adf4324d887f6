"""The soak in short: every part of `make soak`, by the same functions, in seconds each."""

import json
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

from benchmarks import soak
from tests.soak import damaged, decided, disks, parts
from tests.soak.jobs import JOBS
from tests.soak.kills import Killing
from tests.soak.parts import PATIENCE, QUICK, ROUND, chunks, run_chunk
from tests.soak.runs import finish
from tests.soak.slots import Slot
from tests.soak.tampered import World, make_world, tamperings

COMMANDS = {
    *("cluster", "extract", "add", "match", "verify", "report", "export", "compare", "tune"),
    *("experiment", "validate", "simulate"),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Without comparing and tuning, which take longest: nothing here begins with them."""
    root = tmp_path_factory.mktemp("soak")
    with Slot(root) as slot:
        return make_world(root, lambda *words: slot.run(*words, seconds=PATIENCE), studies=False)


def test_a_round_is_as_long_as_it_should_be():
    assert {name.split()[0] for name in JOBS} == COMMANDS
    assert sum(sum(job.kills) for job in JOBS.values()) >= soak.WANTED["kills"]
    assert min(sum(job.kills) for job in JOBS.values()) >= soak.OF_EACH
    assert len(tamperings()) >= 1_000
    assert ROUND.tampered >= soak.WANTED["tampered cases"]
    assert ROUND.mutants >= soak.WANTED["mutated files"]
    names = chunks(ROUND)
    assert len(set(names)) == len(names)
    assert {name.split("/")[0] for name in names} == {*parts.PARTS}


@pytest.mark.slow
def test_mutated_photos_and_a_kill_among_them(tmp_path):
    seen = damaged.damage(tmp_path / "place", 57, 1, seed=3)
    assert seen["kills"] == 1
    assert sum(seen["by_status"].values()) == 57 + seen["whole_files"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["extract", "report", "export vics", "validate", "simulate"])
def test_killed_at_steps(world, tmp_path, name):
    rows = Killing(world, name, tmp_path / "place").at_steps(2)
    assert sum(row["kills"] for row in rows) == 2
    assert not any(row["faults"] for row in rows)


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
def test_random_decisions_and_kills_among_them(world, tmp_path):
    seen = decided.decide(world, tmp_path, 12, 4, seed=3)
    assert seen["decisions"] + seen["refused"] + seen["kills"] >= 12
    assert seen["kills"] >= 1


@pytest.mark.slow
def test_a_decision_that_is_lost_is_seen(world, tmp_path, monkeypatch):
    lines, calls = decided.lines, []

    def forgetful(case):
        calls.append(case)
        return lines(case)[: -1 if len(calls) == 8 else None]  # after the fourth

    monkeypatch.setattr(decided, "lines", forgetful)
    with pytest.raises(AssertionError):
        decided.decide(world, tmp_path, 12, 0, seed=3)


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


# Rounds

SEEN = {"faults": [], "seconds": 1.0, "largest_process": 5}
FIGURES = {
    "kills": {"kills": {"steps": 2}, "moments": 9, "by_state": {"new": 2}},
    "mutants": {"mutated_files": 38, "kills": 1, "by_status": {"good": 38}, "decoder_crashes": 0},
    "tampered": {"tampered": 6, "commands": 18, "codes_by_command": {"verify": {"4": 6}}},
    "decisions": {"decisions": 5, "undone": 1, "refused": 1, "kills": 1, "kept": 0},
}
ONE = {"mutated files": 38, "kills": 4, "decisions": 5, "tampered cases": 6, "faults": 0}


class Rounds:
    """A soak whose chunks are pretended, in this process."""

    def __init__(self, folder):
        self.folder, self.ran, self.stop_at, self.fault = folder, [], None, None

    def run_chunk(self, name, _work, _plan, seed):
        if len(self.ran) == self.stop_at:
            self.stop_at = None
            raise KeyboardInterrupt
        self.ran.append((seed, name))
        wrong = [{"fault": "a photo was lost"}] if name == self.fault else []
        return {**SEEN, **FIGURES[name.split("/")[0]], "faults": wrong}

    def soak(self, *words):
        where = ("--work", str(self.folder / "work"), "--out", str(self.folder))
        return soak.main(["--quick", *where, *words])

    @property
    def result(self):
        return json.loads((self.folder / "soak.json").read_text())["result"]


@pytest.fixture
def rounds(tmp_path, monkeypatch):
    made = Rounds(tmp_path)
    monkeypatch.setattr(soak, "pool", lambda _: ThreadPoolExecutor(1))
    monkeypatch.setattr(soak, "SIDE_BY_SIDE", 1)
    monkeypatch.setattr(soak, "state_of_tree", lambda: "as it is")
    monkeypatch.setattr(parts, "prepare", lambda *_: None)
    monkeypatch.setattr(parts, "run_chunk", made.run_chunk)
    return made


def test_without_a_time_it_is_one_round(rounds):
    for _ in range(2):  # once more there is nothing to do
        assert rounds.soak() == 0
        assert sorted(name for _, name in rounds.ran) == sorted(chunks(QUICK))
        assert rounds.result["total"].items() >= {"rounds": 1, **ONE}.items()


def test_rounds_go_on_for_as_long_as_is_asked_for(rounds, monkeypatch):
    clock = iter(range(0, 10**6, 20))  # every look at it takes twenty seconds
    monkeypatch.setattr(soak.time, "monotonic", lambda: next(clock))
    assert rounds.soak("--hours", "0.5") == 0
    first = rounds.result
    whole, begun = first["total"]["rounds"], len(first["rounds"])
    assert 0.4 < first["total"]["hours"] < 0.6
    assert whole >= 2
    assert begun - whole in (0, 1)
    assert set(first["rounds"]) == {str(seed) for seed, _ in rounds.ran}
    assert len(set(rounds.ran)) == len(rounds.ran) == sum(first["rounds"].values())
    for name, count in ONE.items():
        assert whole * count <= first["total"][name] <= begun * count
    assert first["kills"]["by_command"]["simulate"]["steps"] >= 2 * whole
    done = len(rounds.ran)
    assert rounds.soak("--minutes", "30") == 0  # it has been as long as that
    assert len(rounds.ran) == done
    assert rounds.soak("--minutes", "60") == 0
    assert rounds.result["total"]["rounds"] > whole
    assert list(rounds.result["rounds"])[:whole] == list(first["rounds"])[:whole]


def test_a_round_that_was_stopped_is_gone_on_with(rounds):
    rounds.stop_at = 2
    assert rounds.soak() == 3
    assert rounds.result["total"]["rounds"] == 0
    assert sum(rounds.result["rounds"].values()) == 2
    with open(rounds.folder / "work" / "journal.jsonl", "a") as stream:
        stream.write('{"round": 1, "chunk": "cut off')
    assert rounds.soak() == 0
    assert len({seed for seed, _ in rounds.ran}) == 1
    assert sorted(name for _, name in rounds.ran) == sorted(chunks(QUICK))
    assert rounds.result["total"].items() >= {"rounds": 1, **ONE}.items()


def test_a_fault_is_told_with_how_to_see_it_again(rounds, capsys):
    rounds.fault = "kills/simulate"
    assert rounds.soak() == 1
    (fault,) = rounds.result["faults"]
    ((seed, _), *_) = rounds.ran
    assert (fault["fault"], fault["round"]) == ("a photo was lost", seed)
    assert "a photo was lost" in capsys.readouterr().out
    words = shlex.split(fault["again"])
    assert words[:3] == ["python", "-m", "benchmarks.soak"]
    assert soak.main(["--quick", *words[3:]]) == 1
    assert rounds.ran[-1] == (seed, "kills/simulate")
    rounds.fault = None
    assert soak.main(["--quick", *words[3:]]) == 0
    assert rounds.soak() == 1  # it stays in the sums


def test_another_state_of_the_tree_begins_anew(tmp_path):
    work = tmp_path / "work"
    soak.Journal(work, "one").add(7, "kills/x", SEEN)
    assert soak.Journal(work, "one").rounds == {7: {"kills/x": SEEN}}
    (work / "world").mkdir()
    assert not soak.Journal(work, "two").rounds
    assert not (work / "world").exists()


def test_a_chunk_whose_process_dies_is_a_fault(rounds, monkeypatch):
    monkeypatch.setattr(parts, "run_chunk", _dies)
    assert rounds.soak() == 1
    assert [fault["fault"] for fault in rounds.result["faults"]] == ["its process died"] * 4


def _dies(*_):
    raise BrokenProcessPool


def test_faults_and_too_little_are_told(tmp_path, monkeypatch):
    """A chunk whose check fails does not end the soak, but it does not pass either."""
    monkeypatch.setattr(damaged, "damage", lambda *_: pytest.fail("nothing is accounted for"))
    with pytest.raises(pytest.fail.Exception):
        run_chunk("mutants/1 of 1", tmp_path, QUICK, 1)
    for error in (AssertionError, OSError):
        monkeypatch.setattr(damaged, "damage", _raises(error("one row for each file")))
        seen = run_chunk("mutants/1 of 1", tmp_path, QUICK, 1)
        result = soak.summary({1: {"mutants/1 of 1": seen}}, 1.0, QUICK)
        assert result["total"]["faults"] == 1
        assert "one row for each file" in result["faults"][0]["fault"]
    assert soak.too_little(result) == []  # no round is whole
    result["total"]["rounds"] = 1
    assert len(soak.too_little(result)) == len(soak.WANTED) + len(JOBS)


def _raises(error):
    def function(*_):
        raise error

    return function


def test_figures_are_added_up():
    def kills(**ways):
        return {**SEEN, "kills": ways, "moments": 9, "by_state": {"new": sum(ways.values())}}

    rounds = {
        1: {"kills/add": kills(steps=2, workers=1), "disks/full": {**SEEN, "disk_faults": 4}},
        2: {"kills/add": kills(steps=3), "disks/full": {**SEEN, "disk_faults": 1}},
        3: {"mutants/1 of 1": {**SEEN, "kills": 5}, "decisions/about a case": {**SEEN, "kills": 7}},
    }
    result = soak.summary(rounds, 7200, ROUND)
    assert result["total"]["hours"] == 2
    assert result["total"]["kills"] == 18
    assert result["rounds"] == {"1": 2, "2": 2, "3": 2}
    assert result["kills"]["by_command"] == {
        "add": {"steps": 5, "workers": 1},
        "decide": {"steps": 7},
        "extract": {"damaged photos": 5},
    }
    assert result["kills"]["by_state_of_the_case"] == {"new": 6}
    assert result["disks"] == {"full": 5}
    json.dumps(result)


@pytest.mark.slow
def test_a_run_whose_steps_are_counted_is_as_any_other(tmp_path):
    words = ("simulate", "-o", tmp_path / "out", "--cameras", 1, "--images", 1, "--size", "64x64")
    assert finish(*words, "--workers", 1, SOAK_MOMENTS=tmp_path / "count")[0] == 0
    assert int((tmp_path / "count").read_text()) > 4
