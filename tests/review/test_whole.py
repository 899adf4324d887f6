"""A whole review of a case with planted errors: by keys and mouse, and by command line.

The machine's answer is made wrong on purpose: a camera in two, two cameras in one, a stranger in a
third. What is decided must stand when `samecam cluster` runs again with 20 more photos, whoever
decided it in whichever way.
"""

import csv
import json
import shutil
import threading
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from samecam import compute
from samecam.case import cluster_photos, open_case, read_decided, verify_case
from samecam.case.grouping import _cluster
from samecam.cluster import numbered
from samecam.review import Review
from samecam.simulate import simulate_photos
from tests.once import made_once
from tests.processes import PATIENCE, run, wait_for
from tests.report.conftest import browser
from tests.report.pages import press, window

__all__ = ["browser"]

FIRST, MORE = 10, 5
ENTER = "\ue007"
FOCUS = "return document.activeElement.closest('.item')?.dataset.key ?? ''"
PICKED = "return [...document.querySelectorAll('.item.picked')].map(e => e.dataset.key)"


def take(folder):
    """Photos of four cameras, some held back for later, and one by a fifth."""
    simulate_photos(
        folder / "all", cameras=5, images=FIRST + MORE, size=(512, 384), seed=4, workers=1
    )
    with open(folder / "all" / "truth.csv", newline="", encoding="utf-8") as stream:
        truth = {row["path"]: row["camera"] for row in csv.DictReader(stream)}
    cameras = sorted(set(truth.values()))
    taken = Counter()
    for part in ("photos", "later"):
        (folder / part).mkdir()
    for path, camera in truth.items():
        number, k = cameras.index(camera), taken[camera]
        taken[camera] += 1
        part = "photos" if k < (FIRST if number < 4 else 1) else "later"
        if number < 4 or k == 0:
            shutil.copy(folder / "all" / path, folder / part / f"{'ABCDE'[number]}{k:02d}.jpg")
    shutil.rmtree(folder / "all")


def wrong(path):
    """The group that the planted answer puts a photo in."""
    letter, k = path[0], int(path[1:3])
    return {"A": 0 if k < FIRST // 2 else 1, "B": 2, "C": 2, "D": 3, "E": 3}[letter]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A folder with photos, more for later, and a case of which the machine's answer is wrong."""

    def make(folder):
        take(folder)
        real = _cluster.group_photos

        def group(store, photos, *given, **more):
            _, details = real(store, photos, *given, **more)
            return numbered(np.array([wrong(photo.key) for photo in photos])), details

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(_cluster, "group_photos", group)
            result = cluster_photos([folder / "photos"], folder / "case", search="off")
        assert result.sizes == [20, 11, 5, 5]

    return made_once(tmp_path_factory, "planted review", make)


@pytest.fixture
def own(planted, tmp_path):
    """Copies of it, so that cases and photos may change; both cases know the same photos."""
    shutil.copytree(planted / "photos", tmp_path / "photos")
    for name in ("case", "other"):
        shutil.copytree(planted / "case", tmp_path / name)
        text = (tmp_path / name / "case.json").read_text()
        before = f"{planted.parent / planted.name}.part/photos"
        assert before in text
        (tmp_path / name / "case.json").write_text(text.replace(before, str(tmp_path / "photos")))
    return SimpleNamespace(
        root=tmp_path,
        photos=tmp_path / "photos",
        case=tmp_path / "case",
        other=tmp_path / "other",
        later=planted / "later",
    )


def standing(case):
    """Letters of the photos of each camera that stands, with how many, by name."""
    decided = read_decided(open_case(case))
    return {
        camera.name: Counter(decided.photos[k].name[0] for k in camera.rows.tolist())
        for camera in decided.cameras
    }


def hashes(case, letters):
    return {p.sha256 for p in open_case(case).used if p.path[0] in letters}


def decide(case, *words):
    code, _, error = run("decide", case, *words, "--examiner", "Ada", "--quiet")
    assert (code, error) == (0, "")


def by_command(case):
    """Everything that is decided, by command line."""
    decide(case, "merge", "camera-2", "camera-3")
    decide(case, "split", "camera-0", *(f"C{k:02d}.jpg" for k in range(FIRST)))
    decide(case, "reject", "camera-1", "E00.jpg")
    decide(case, "name", "camera-1", "Dora")
    decide(case, "undo", "4")
    decide(case, "name", "camera-1", "Dora's phone")


class Person:
    """Somebody with a keyboard in front of the page."""

    def __init__(self, browser, review):
        self.page, self.review = browser, review
        window(browser)
        browser.get(review.address)

    def decisions(self):
        return [d.kind for d in self.review.state.now.decided.decisions]

    def look_at(self, camera):
        origin = self.page.execute_script("return location.origin")
        self.page.get(f"{origin}/camera?name={camera}")
        ready = "return document.readyState"
        assert wait_for(lambda: self.page.execute_script(ready) == "complete")

    def pick(self, wanted):
        """Walk through the photos of the camera and select some."""
        for _ in self.page.find_elements("css selector", "#photos .item"):
            before = self.page.execute_script(FOCUS)
            press(self.page, "j")
            assert wait_for(lambda: self.page.execute_script(FOCUS) != before)  # noqa: B023
            if self.page.execute_script(FOCUS) in wanted:
                press(self.page, " ")
        assert set(self.page.execute_script(PICKED)) == wanted

    def key(self, key, kind):
        """Press a key that decides."""
        count = len(self.decisions())
        press(self.page, key)
        assert wait_for(lambda: len(self.decisions()) > count)
        assert self.decisions()[-1] == kind

    def answer(self, key, text, kind):
        """Press a key that asks, and answer."""
        count = len(self.decisions())
        press(self.page, key)
        field = self.page.find_element("id", "ask-value")
        assert wait_for(field.is_displayed)
        field.clear()
        field.send_keys(text, ENTER)
        assert wait_for(lambda: len(self.decisions()) > count)
        assert self.decisions()[-1] == kind


@contextmanager
def reviewing(browser, case):
    """Somebody who reviews a case; afterwards it is closed."""
    with Review(case, "Ada", resources=compute.Resources(workers=1)) as review:
        thread = threading.Thread(target=review.serve)
        thread.start()
        try:
            yield Person(browser, review)
        finally:
            browser.get("about:blank")
            review.stop()
            thread.join(PATIENCE)


def cluster_again(own, case):
    code, _, error = run(
        "cluster", own.photos, "-o", case, "--search", "off", "--quiet", "--no-report"
    )
    assert (code, error) == (0, "")


@pytest.mark.browser
def test_a_whole_review_stands_in_the_next_run(browser, own):
    with reviewing(browser, own.case) as person:
        person.look_at("camera-2")
        person.answer("m", "camera-3", "merge")
        person.look_at("camera-0")
        person.pick(hashes(own.case, "C"))
        person.key("s", "split")
        person.look_at("camera-1")
        person.pick(hashes(own.case, "E"))
        person.key("x", "reject")
        person.look_at("camera-1")
        person.answer("n", "Dora", "name")
        person.key("u", "undo")
        person.look_at("camera-1")
        person.answer("n", "Dora's phone", "name")
    right = {
        "camera-2": {"A": FIRST},
        "camera-0": {"B": FIRST},
        "camera-4": {"C": FIRST},
        "Dora's phone": {"D": FIRST},
    }
    assert standing(own.case) == right
    by_command(own.other)
    assert (own.other / "decided.csv").read_bytes() == (own.case / "decided.csv").read_bytes()
    for file in own.later.iterdir():
        shutil.copy(file, own.photos)
    for case in (own.case, own.other):
        cluster_again(own, case)
        more = {name: dict.fromkeys(letters, FIRST + MORE) for name, letters in right.items()}
        assert standing(case) == more
        decided = read_decided(open_case(case))
        alone = [p.path for k, p in enumerate(decided.photos) if decided.camera_of[k] < 0]
        assert alone == ["E00.jpg"]
        assert decided.contradictions == []
        checked = verify_case(case)
        others = [text for text in checked.troubles if "case.json" not in text]
        assert (others, checked.relabelled) == ([], [])  # the test itself changed case.json
    assert (own.other / "decided.csv").read_bytes() == (own.case / "decided.csv").read_bytes()


def test_the_same_by_command_line_alone(own):
    by_command(own.other)
    assert sorted(map(len, standing(own.other).values())) == [1, 1, 1, 1]
    for file in own.later.iterdir():
        shutil.copy(file, own.photos)
    cluster_again(own, own.other)
    stands = standing(own.other)
    assert {name: set(letters) for name, letters in stands.items()} == {
        "camera-2": {"A"},
        "camera-0": {"B"},
        "camera-4": {"C"},
        "Dora's phone": {"D"},
    }
    assert all(sum(letters.values()) == FIRST + MORE for letters in stands.values())


def test_photos_that_are_added_join_what_was_decided(own):
    by_command(own.case)
    code, out, error = run("add", own.case, own.later, "--search", "off", "--json", "--quiet")
    assert (code, error) == (0, "")
    assert json.loads(out)["decided"]["decisions"] == 4
    stands = standing(own.case)
    assert {name: (set(some), some.total()) for name, some in stands.items()} == {
        "camera-2": ({"A"}, FIRST + MORE),
        "camera-0": ({"B"}, FIRST + MORE),
        "camera-4": ({"C"}, FIRST + MORE),
        "Dora's phone": ({"D"}, FIRST + MORE),
    }
