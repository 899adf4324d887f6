"""Whatever is done to one file of a case, every command ends in time, with a sentence.

What may be done is in `tests/soak/tampering.py`; `make soak` does all of it.
"""

import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.soak.jobs import everything
from tests.soak.slots import MEMORY, Outcome, Slot
from tests.soak.tampered import attempt, faults, make_world, tamperings, unnoticed
from tests.soak.tampering import all_changes, tamper

STUDIES = ("compare.json", "tune.json")  # they take too long to make here
TAMPERINGS = [given for given in tamperings() if given[0] not in STUDIES]
COMMANDS = (
    *("report", "export csv", "export json", "export vics", "export case", "match"),
    *("evaluate", "cluster", "extract", "add", "add again"),
)


@pytest.fixture(scope="module")
def slot(tmp_path_factory):
    with Slot(tmp_path_factory.mktemp("slot")) as made:
        yield made


@pytest.fixture(scope="module")
def world(tmp_path_factory, slot):
    def ask(*words):
        return slot.run(*words, seconds=300)

    return make_world(tmp_path_factory.mktemp("world"), ask, studies=False)


@given(
    tampering=st.sampled_from(TAMPERINGS),
    command=st.sampled_from(COMMANDS),
    seed=st.integers(0, 2**32 - 1),
)
@example(("log.jsonl", "kind: pipe", False), "add", 0)
@example(("clusters.csv", "kind: link", False), "cluster", 0)
@example(("start.csv", "csv: column missing", True), "add again", 0)
@example(("fingerprints/catalogue.sqlite", "sqlite: endless view", False), "match", 0)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_change_of_any_file(world, slot, tmp_path, tampering, command, seed):
    seen = attempt(world, slot, tmp_path / "place", tampering, seed, ["verify", command])
    wrong = [(row["command"], row["faults"], row["error"]) for row in seen if row["faults"]]
    assert not wrong


@pytest.mark.slow
def test_every_change_can_be_made_and_is_the_same_again(world, tmp_path):
    """On a file of each kind, all that may be done to it."""
    wanted = ("case.json", "log.jsonl", "clusters.csv", "fingerprints/catalogue.sqlite")
    small = tmp_path / "small"
    shutil.copytree(world.case, small, ignore=shutil.ignore_patterns("*.i8", "report.html"))
    untouched = everything(small)
    same = []
    for file, change in all_changes():
        if file not in wanted or change.startswith("kind: "):
            continue
        made = []
        for k in range(2):
            case = tmp_path / f"case{k}"
            shutil.rmtree(case, ignore_errors=True)
            shutil.copytree(small, case)
            tamper(case, file, change, np.random.default_rng(1), tmp_path, sign=k == 1)
            made.append(everything(case))
        if made[0] == untouched:
            same.append((file, change))
        if file not in ("log.jsonl", "clusters.csv"):  # whose hashes elsewhere are put right
            assert made[0] == made[1], change
    assert not same


def test_a_command_that_takes_too_long_is_ended(slot):
    assert slot.run("doctor", seconds=0).code == "hang"
    assert slot.run("doctor", seconds=300).code == 0


@pytest.mark.parametrize(
    ("outcome", "fault"),
    [
        (Outcome(0), ""),
        (Outcome(1, error="Error: it is damaged.\n"), ""),
        (Outcome(1, error="Traceback (most recent\nKeyError: 'x'"), "traceback: KeyError: 'x' (?)"),
        (Outcome(1), "failed without a sentence"),
        (Outcome(2, error="Error: usage"), "exit code 2"),
        (Outcome(70, error="Error: nobody foresaw"), "exit code 70"),
        (Outcome("hang"), "exit code hang"),
        (Outcome(1, error="Error: There is not enough memory"), "out of memory"),
        (Outcome(0, memory=2 * MEMORY), "memory 2,147,483,648"),
        (Outcome(1, error="Error: x", length=200_000), "error of 200,000 characters, 0 lines"),
    ],
)
def test_what_is_wrong_is_said(outcome, fault):
    assert faults("report", outcome) == [fault] * bool(fault)


def test_verify_must_notice_and_name_the_file():
    assert unnoticed("clusters.csv", Outcome(0)) == ["verify did not notice"]
    assert unnoticed("clusters.csv", Outcome(4, out="damaged")) == ["verify does not name the file"]
    assert unnoticed("clusters.csv", Outcome(4, out="'clusters.csv' is not as it was")) == []
