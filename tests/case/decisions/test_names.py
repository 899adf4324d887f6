"""Names that stay, and decisions that last: through new runs, more photos and kills."""

import csv

import numpy as np
import pytest

from samecam import cluster_fingerprints
from samecam.case import Deciding, open_case, read_decided, verify_case
from samecam.case.decisions import carry_names, name_changes
from samecam.case.grouping import _settled
from tests.case.decisions.conftest import CAMERAS, EACH, members, planted


def names_of(case):
    with open(case / "cameras.csv", encoding="utf-8", newline="") as stream:
        return {row["path"]: (row["camera"], row["machine"]) for row in csv.DictReader(stream)}


class Pile:
    """Fingerprints of which more and more are grouped in one case."""

    def __init__(self, folder, rows):
        self.folder, self.case, self.rows = folder, folder / "case", rows
        self.used = []

    def run(self, rows=()):
        self.used += list(rows)
        np.save(self.folder / "x.npy", self.rows[self.used].astype(np.float32))
        names = self.folder / "names.txt"
        names.write_text("".join(f"{k:04d}\n" for k in self.used))
        return cluster_fingerprints(self.folder / "x.npy", self.case, names=names)

    def paths(self, camera):
        decided = read_decided(open_case(self.case))
        chosen = decided.cameras[decided.names[camera]].rows
        return {int(decided.photos[k].path) for k in chosen.tolist()}

    def hashes(self, rows):
        by_path = {photo.path: photo.sha256 for photo in open_case(self.case).used}
        return [by_path[f"{k:04d}"] for k in rows]


@pytest.fixture
def pile(tmp_path):
    """Three cameras of 8, numbered 0 – 7, 8 – 15, 16 – 23, and two photos of none."""
    return Pile(tmp_path, planted())


def test_cameras_are_named_by_their_numbers_the_first_time(case):
    saved = open_case(case)
    names = names_of(case)
    for photo in saved.used:
        wanted = f"camera-{photo.cluster}" if photo.cluster >= 0 else ""
        assert names[photo.path] == (wanted, wanted)
    assert saved.info["names"]["next"] == CAMERAS


def test_a_name_goes_on_with_most_of_its_photos():
    before = ["a", "a", "a", "b", "b", "", "c"]
    assert carry_names(before, np.array([1, 1, 0, 0, 0, 0, 2]), 7) == ["b", "a", "c"]
    assert carry_names(before, np.array([0, 0, 0, 0, 0, 1, -1]), 7) == ["a", "camera-7"]
    assert carry_names([""] * 3, np.array([1, 0, -1]), 0) == ["camera-0", "camera-1"]


def test_what_became_of_names_is_said():
    changes = name_changes(["a", "a", "a", "b", "c", ""], ["a", "a", "d", "a", "", "d"])
    assert changes.ended == {"b": "a", "c": ""}
    assert changes.parted == {"a": ["a", "d"]}


def test_names_stay_where_numbers_change(pile):
    pile.run([*range(6), *range(8, 12)])
    assert pile.paths("camera-0") == set(range(6))
    result = pile.run([*range(12, 24)])  # the second is larger now, and there is a third
    assert result.sizes == [8, 8, 6]
    assert pile.paths("camera-0") == set(range(6))
    assert pile.paths("camera-1") == set(range(8, 16))
    assert pile.paths("camera-2") == set(range(16, 24))
    assert not (pile.case / "decided.csv").exists()


def test_decisions_last_and_new_photos_join_what_was_merged(pile):
    pile.run([*range(4), *range(8, 12), *range(16, 24)])
    with Deciding(pile.case, "Ada") as held:
        names = {k: name for name in held.decided.names for k in pile.paths(name)}
        held.merge(names[0], names[8], "one phone")
        held.name(held.decided.cameras[0].name, "Anna")
        held.reject(names[16], pile.hashes([16, 17]))
    machine = (pile.case / "clusters.csv").read_bytes()
    again = pile.run()
    assert (pile.case / "clusters.csv").read_bytes() == machine
    assert again.settled.decisions == 3
    result = pile.run([*range(4, 8), *range(12, 16), 24])
    assert result.sizes == [8, 8, 8]  # the machine's own answer
    assert pile.paths("Anna") == set(range(16))
    assert pile.paths(names[18]) == set(range(18, 24))
    decided = read_decided(open_case(pile.case))
    assert not decided.contradictions
    assert verify_case(pile.case).agrees
    text = decided.table()
    assert (pile.case / "decided.csv").read_text() == text
    pile.run()
    assert (pile.case / "decided.csv").read_text() == text


def test_a_split_camera_stays_split(pile):
    pile.run([*range(16), *range(16, 22)])
    name = next(n for n in ("camera-0", "camera-1", "camera-2") if 16 in pile.paths(n))
    with Deciding(pile.case, "Ada") as held:
        new = held.split(name, pile.hashes([16, 17, 18])).camera
    pile.run([22, 23])
    parts = pile.paths(name), pile.paths(new)
    assert parts[0] >= {19, 20, 21}
    assert parts[1] >= {16, 17, 18}
    assert parts[0] | parts[1] == set(range(16, 24))  # whichever part new ones are more like
    assert verify_case(pile.case).agrees


def test_what_is_undone_after_a_run_comes_apart_again(pile):
    pile.run(range(24))
    with Deciding(pile.case, "Ada") as held:
        before = members(held.decided)
        held.merge("camera-0", "camera-1")
    pile.run()
    with Deciding(pile.case, "Ada") as held:
        assert not held.decided.stale
        held.undo(1)
        assert held.decided.stale
        assert members(held.decided) == before
    pile.run()
    decided = read_decided(open_case(pile.case))
    assert not decided.stale
    assert members(decided) == before


def test_confirmed_photos_stay_when_weak_ones_come(tmp_path):
    rng = np.random.default_rng(1)
    pattern, d = rng.normal(size=4000), 4000
    strong = 0.35 * pattern + rng.normal(size=(12, d))
    weak = 0.13 * pattern + rng.normal(size=(4, d))
    other = 0.35 * rng.normal(size=d) + rng.normal(size=(12, d))
    pile = Pile(tmp_path, np.concatenate([strong, weak, other]))
    pile.run([*range(12), *range(16, 28)])
    assert len(pile.paths("camera-0") ^ set(range(12))) in (0, 24)
    name = next(n for n in ("camera-0", "camera-1") if 0 in pile.paths(n))
    with Deciding(pile.case, "Ada") as held:
        held.confirm(name)
    pile.run([12, 13, 14, 15])
    assert pile.paths(name) >= set(range(12))


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_killed_in_the_midst_of_naming_the_next_run_goes_on(pile, monkeypatch, moment):
    pile.run(range(8, 20))
    stood = names_of(pile.case)
    whole, saves = _settled.write_atomically, []

    class Killed(BaseException):
        pass

    def write(path, text):
        if moment == 1:
            raise Killed
        whole(path, text)
        if moment == 2:
            raise Killed

    original = _settled.Case.save

    def save(self, **changes):
        if "names" in changes:
            saves.append(1)
            if moment == 3 and len(saves) == 2:
                raise Killed
        original(self, **changes)

    with monkeypatch.context() as patched:
        patched.setattr(_settled, "write_atomically", write)
        patched.setattr(_settled.Case, "save", save)
        with pytest.raises(Killed):
            pile.run(range(8))
    pile.run()
    names = names_of(pile.case)
    assert all(names[path] == name for path, name in stood.items())
    assert len({name for name, _ in names.values()} - {""}) == CAMERAS
    assert "coming" not in open_case(pile.case).info["names"]
    assert len(pile.paths(names["0000"][0])) == EACH


def test_verify_sees_what_was_done_to_decisions(pile):
    pile.run(range(24))
    with Deciding(pile.case, "Ada") as held:
        held.merge("camera-0", "camera-1")
        held.name("camera-2", "Bertha")
    assert verify_case(pile.case).agrees
    path = pile.case / "decisions.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.splitlines(keepends=True)[0])
    assert any("lacks decisions" in text for text in verify_case(pile.case).troubles)
    path.write_bytes(whole.replace(b"Bertha", b"Gertie"))
    assert verify_case(pile.case).agrees is False
    path.write_bytes(whole)
    table = pile.case / "decided.csv"
    right = table.read_text()
    table.write_text(right.replace("Bertha", "Gertie", 1))
    assert any("decided.csv" in text for text in verify_case(pile.case).troubles)
    table.write_text(right)
    assert verify_case(pile.case).agrees
    pile.run()
    cameras = pile.case / "cameras.csv"
    cameras.write_text(cameras.read_text().replace("camera-2", "camera-0", 1))
    assert any("cameras.csv" in text for text in verify_case(pile.case).troubles)
