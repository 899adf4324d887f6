"""A study keeps what was run: nothing twice, nothing by halves, nothing of other parameters."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from samecam.errors import SamecamError
from samecam.experiments import Run, Study


def made(value=1):
    return Run({"labels": np.array([0, 1, -1]), "name": np.array("x")}, {"seconds": value})


def test_a_run_is_made_once_and_then_loaded(tmp_path):
    calls = []

    def make():
        calls.append(1)
        return made(np.float64(2.5))

    first = Study(tmp_path).run("Va20/ls-ssc/3", make)
    again = Study(tmp_path).run("Va20/ls-ssc/3", make)
    assert len(calls) == 1
    for run in (first, again):
        assert run.facts == {"seconds": 2.5}
        assert run.arrays["labels"].tolist() == [0, 1, -1]


def test_other_runs_are_made(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    study.run("a/2", made)
    assert study.made == 2
    assert Study(tmp_path).keys() == ["a/1", "a/2"]


def test_keys_are_sorted_by_number(tmp_path):
    study = Study(tmp_path)
    for key in ("a/10", "a/9", "b.1/2", "a/x"):
        study.run(key, made)
    assert study.keys() == ["a/9", "a/10", "a/x", "b.1/2"]
    assert study.keys("a/") == ["a/9", "a/10", "a/x"]


def test_a_failure_leaves_nothing(tmp_path):
    def fail():
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        Study(tmp_path).run("a/1", fail)
    assert not Study(tmp_path).has("a/1")


def test_arrays_without_facts_do_not_count(tmp_path):
    """Killed between the two files of a run, it is made again."""
    study = Study(tmp_path)
    study.run("a/1", made)
    (tmp_path / "runs/a/1.json").unlink()
    assert not study.has("a/1")
    assert study.run("a/1", lambda: made(7)).facts["seconds"] == 7


def test_a_run_without_arrays_forgets_older_ones(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    (tmp_path / "runs/a/1.json").unlink()
    assert study.run("a/1", lambda: Run({}, {"failed": "no"})).arrays == {}


def test_other_parameters_are_refused(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made, parameters={"mean": 0.02, "sizes": (1, 2)})
    study.run("a/1", made, parameters={"mean": 0.02, "sizes": [1, 2]})
    with pytest.raises(SamecamError, match=r"'a/1'.*0\.02.*0\.03.*new folder"):
        study.run("a/1", made, parameters={"mean": 0.03, "sizes": [1, 2]})


@pytest.mark.parametrize("key", ["", "../a", "a//b", "/a", "a/", "a b", ".a", "a\n"])
def test_odd_keys_are_refused(tmp_path, key):
    with pytest.raises(ValueError, match="is no key"):
        Study(tmp_path).run(key, made)
    assert not list(tmp_path.iterdir())


def test_what_is_not_there_is_an_error(tmp_path):
    with pytest.raises(SamecamError, match=r"has no run 'a/1': run the experiment first"):
        Study(tmp_path).load("a/1")


def test_damaged_files_are_named(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    (tmp_path / "runs/a/1.npz").write_bytes(b"no zip")
    with pytest.raises(SamecamError, match=r"1\.npz' cannot be read"):
        study.load("a/1")
    (tmp_path / "runs/a/1.json").write_text("{")
    with pytest.raises(SamecamError, match=r"1\.json' cannot be read"):
        study.load("a/1")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_truncated_arrays_are_named(tmp_path, share):
    study = Study(tmp_path)
    study.run("a/1", made)
    file = tmp_path / "runs/a/1.npz"
    whole = file.read_bytes()
    file.write_bytes(whole[: int(share * len(whole))])
    for use in (study.load, lambda key: study.run(key, made)):
        with pytest.raises(SamecamError, match=r"1\.npz' cannot be read.*delete it and the JSON"):
            use("a/1")


def test_whatever_byte_is_damaged_the_answer_is_the_run_or_an_error(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    file, rng = tmp_path / "runs/a/1.npz", np.random.default_rng(0)
    whole, refused = file.read_bytes(), 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= int(rng.integers(1, 256))
        file.write_bytes(damaged)
        try:
            assert set(study.load("a/1").arrays) == {"labels", "name"}
        except SamecamError:
            refused += 1
    assert refused > len(whole) / 2


def test_arrays_that_are_gone_are_missed(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    (tmp_path / "runs/a/1.npz").unlink()
    with pytest.raises(SamecamError, match=r"1\.npz' does not hold the arrays of its run"):
        study.load("a/1")
    # Runs that do not say which arrays they have are taken as they are.
    file = tmp_path / "runs/a/1.json"
    document = json.loads(file.read_text())
    del document["arrays"]
    file.write_text(json.dumps(document))
    assert study.load("a/1").arrays == {}


@pytest.mark.parametrize("text", ["{}", "[]", "3", '{"parameters": {}, "made": {}, "facts": 1}'])
def test_json_that_is_no_run_is_named(tmp_path, text):
    study = Study(tmp_path)
    study.run("a/1", made)
    (tmp_path / "runs/a/1.json").write_text(text)
    for use in (study.load, study.provenance, lambda key: study.run(key, made)):
        with pytest.raises(SamecamError, match=r"1\.json' is no run.*delete it"):
            use("a/1")


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_made(tmp_path):
    (tmp_path / "file").touch()

    def never():
        raise AssertionError("made in vain")

    with pytest.raises(SamecamError, match="file' is a file: name a folder for the study"):
        Study(tmp_path / "file").run("a/1", never)
    with pytest.raises(SamecamError, match="study' cannot be written: Not a directory"):
        Study(tmp_path / "file/study").run("a/1", never)
    study = Study(tmp_path / "study")
    study.hold()
    (tmp_path / "study/runs").touch()
    for run in (made(), Run({}, {"seconds": 1})):
        with pytest.raises(SamecamError, match="cannot be written: "):
            study.run("a/1", lambda run=run: run)


HOLD = """
import sys
from samecam.experiments import Run, Study
study = Study(sys.argv[1])
study.run(sys.argv[2], lambda: Run({}, {"seconds": 1}))
print(flush=True)
sys.stdin.readline()
"""


def test_two_processes_do_not_make_runs_in_one_study(tmp_path):
    """The second is refused; it may read; when the first ends, it goes on."""

    def never():
        raise AssertionError("made beside another")

    command = [sys.executable, "-c", HOLD, str(tmp_path), "a/1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        study = Study(tmp_path)
        with pytest.raises(SamecamError, match=rf"in use by process {other.pid}: wait until it"):
            study.run("a/2", never)
        assert study.run("a/1", never).facts == {"seconds": 1}
        other.communicate(b"\n")
    study.run("a/2", made)
    assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_a_process_is_not_in_its_own_way_and_lets_go(tmp_path):
    studies = [Study(tmp_path), Study(tmp_path)]
    for number, study in enumerate(studies):
        study.run(f"a/{number}", made)

    def another_process():
        command = [sys.executable, "-c", HOLD, str(tmp_path), "b/1"]
        return subprocess.run(command, input=b"\n", capture_output=True)

    assert b"in use by process" in another_process().stderr
    del studies[0], study
    assert b"in use by process" in another_process().stderr
    studies.clear()
    assert another_process().returncode == 0


def test_threads_that_begin_together_hold_the_study(tmp_path):
    barrier, studies = Barrier(8), [Study(tmp_path) for _ in range(8)]

    def hold(study):
        barrier.wait()
        study.hold()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(hold, studies))
    assert len({id(study._hold) for study in studies}) == 1


def test_threads_that_write_the_same_run_do_not_meet(tmp_path):
    barrier = Barrier(4)

    def make():
        barrier.wait()
        return Run({"labels": np.arange(50_000)}, {"seconds": 1})

    with ThreadPoolExecutor(4) as pool:
        for number in range(5):
            key = f"a/{number}"
            runs = list(pool.map(lambda _, key=key: Study(tmp_path).run(key, make), range(4)))
            assert all(run.arrays["labels"].size == 50_000 for run in runs)
    assert {p.name for p in (tmp_path / "runs/a").iterdir()} == {
        f"{number}.{ending}" for number in range(5) for ending in ("json", "npz")
    }


def test_a_run_tells_where_it_comes_from(tmp_path):
    study = Study(tmp_path)
    study.run("a/1", made)
    provenance = study.provenance("a/1")
    assert set(provenance) == {"commit", "versions", "processor"}
    assert provenance["versions"]["samecam"]
    assert json.loads((tmp_path / "runs/a/1.json").read_text())["key"] == "a/1"
