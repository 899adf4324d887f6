"""Cameras that share a stamp: it is named and taken out, strangers it let in are doubtful."""

import csv
import json
from functools import cache

import numpy as np
import pytest
from PIL import Image

from samecam import Resources, cluster_photos, open_case, verify_case, write_report
from tests.processes import run

WIDTH, HEIGHT = 448, 384
CAMERAS, PHOTOS, STRANGERS = 4, 7, 5
STAMP = (slice(HEIGHT - 44, HEIGHT - 4), slice(WIDTH - 104, WIDTH - 4))
SETTINGS = {"search": "off", "resources": Resources(workers=2)}


@cache
def pattern(number):
    return np.random.default_rng([7, number]).standard_normal((HEIGHT, WIDTH))


def photo(camera, number, stamp):
    """A gray picture with a camera's pattern, and a stamp so many gray levels high."""
    rng = np.random.default_rng([camera, number])
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    light = 125 + 40 * np.sin(x / rng.uniform(40, 90) + number) * np.cos(y / rng.uniform(40, 90))
    light *= 1 + 0.03 * pattern(camera)
    light += rng.normal(0, 3, light.shape)
    light[STAMP] += stamp * np.sign(pattern(99)[STAMP])
    return Image.fromarray(np.clip(light, 0, 255).astype(np.uint8))


def take(folder, stamp, strangers):
    folder.mkdir()
    for camera in range(CAMERAS):
        for number in range(PHOTOS):
            exif = Image.Exif()
            exif.get_ifd(0x8769)[0xA401] = 8 if camera == 0 and number < 3 else 0
            name = folder / f"{camera}-{number}.jpg"
            photo(camera, number, stamp).save(name, quality=94, exif=exif)
    for k in range(strangers):
        photo(50 + k, 0, stamp).save(folder / f"x-{k}.jpg", quality=94)


@pytest.fixture(scope="module")
def stamped(tmp_path_factory):
    root = tmp_path_factory.mktemp("stamped")
    take(root / "photos", 4, STRANGERS)
    return root, cluster_photos(root / "photos", root / "case", **SETTINGS)


def rows(case, name):
    with open(case / name, newline="") as stream:
        return {row["path"]: row for row in csv.DictReader(stream)}


def test_cameras_stay_and_say_what_they_share(stamped):
    _, result = stamped
    assert len(result.groups) == CAMERAS
    for group in result.groups:
        cameras = [path[0] for path in group.paths if path[0] != "x"]
        assert len(cameras) == PHOTOS
        assert len(set(cameras)) == 1
        shared = group.shared
        assert sorted([group.id, *shared.groups]) == list(range(CAMERAS))
        assert shared.where == "in the lower right corner"
        for top, bottom, left, right in shared.boxes:
            assert (top > HEIGHT / 2, left > WIDTH / 2) == (True, True)
            assert (bottom, right) == (HEIGHT, WIDTH)
        assert shared.median_without > 0.9 * shared.median > 50
        assert shared.doubtful == len(group.paths) - PHOTOS
        words = "A pattern in the lower right corner is shared by 3 other groups"
        (said,) = [text for text in group.warnings if text.startswith(words)]
        assert ("but for" in said) == (shared.doubtful > 0)


def test_strangers_that_the_stamp_let_in_are_doubtful_without_it(stamped):
    root, result = stamped
    placed = {path for group in result.groups for path in group.paths if path[0] == "x"}
    assert placed  # the stamp is strong enough to mislead
    given = rows(root / "case", "evidence.csv")
    assert {path for path, row in given.items() if row["doubtful"] == "yes"} == placed
    for path, row in given.items():
        without = row["score_without"]
        if path in placed:
            assert float(without) < 4
            assert "Without a pattern that other groups share the score is" in row["words"]
        elif path[0] != "x":
            assert float(without) > 50
        else:
            assert without == ""


def test_the_report_the_run_and_verification_know_of_it(stamped):
    root, result = stamped
    page = write_report(root / "case").read_text(encoding="utf-8")
    assert "A pattern in the lower right corner is shared by 3 other groups" in page
    assert "files say that the camera processed them more than usual, portrait (3)" in page
    assert open_case(root / "case").groups == result.groups
    assert not verify_case(root / "case").troubles
    code, said, _ = run("cluster", root / "photos", "-o", root / "case", "--search", "off")
    assert code == 0
    assert "4 groups of different cameras share a pattern in the lower right corner" in said
    modes = {path: row["mode"] for path, row in rows(root / "case", "images.csv").items()}
    assert {path for path in modes if modes[path]} == {"0-0.jpg", "0-1.jpg", "0-2.jpg"}
    assert set(modes.values()) == {"portrait", ""}


def test_without_a_stamp_nothing_is_said(tmp_path):
    take(tmp_path / "photos", 0, 0)
    result = cluster_photos(tmp_path / "photos", tmp_path / "case", **SETTINGS)
    assert [group.shared for group in result.groups] == [None] * CAMERAS
    assert {row["score_without"] for row in rows(tmp_path / "case", "evidence.csv").values()} == {
        ""
    }


def test_answers_of_before_are_read(stamped):
    """Cases of 0.2 have no column `mode`, and groups no word of what they share."""
    from samecam.case.folder import clusters_json, images_csv, read_cameras
    from samecam.store import DiskStore

    root, result = stamped
    content = json.loads(clusters_json(result.cameras, [], None, {}))
    for camera in content["clusters"]:
        for group in camera["groups"]:
            del group["shared"]
    (first, *_) = read_cameras(content)
    assert first.groups[0].shared is None
    with DiskStore.open(root / "case" / "fingerprints", "r") as store:
        records = store.records()
    now = images_csv(records)
    for record in records:
        del record.meta["mode"]
    assert ",mode," in now.splitlines()[0]
    assert "mode" not in images_csv(records).splitlines()[0].split(",")
