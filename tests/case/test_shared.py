"""Cameras that share a stamp: they are grouped without it, and it is named and taken out."""

import csv
import json
from unittest.mock import patch

import pytest
from PIL import Image

from samecam import (
    ClusteringSettings,
    ExtractionSettings,
    Resources,
    cluster_photos,
    match_photos,
    open_case,
    verify_case,
    write_report,
)
from samecam.case.grouping._method import _fit
from samecam.register import GroupedRows
from tests.case.printed import (
    CAMERAS,
    HEIGHT,
    PHOTOS,
    SETTINGS,
    STRANGERS,
    WEAK,
    WIDTH,
    not_looked_for,
    photo,
    take,
)
from tests.processes import run


@pytest.fixture(scope="module")
def stamped(tmp_path_factory):
    root = tmp_path_factory.mktemp("stamped")
    take(root / "photos", 4, STRANGERS)
    return root, cluster_photos(root / "photos", root / "case", **SETTINGS)


def rows(case, name):
    with open(case / name, newline="") as stream:
        return {row["path"]: row for row in csv.DictReader(stream)}


@pytest.fixture(scope="module")
def misled(stamped):
    """The same where photos are grouped with the stamp."""
    root, _ = stamped
    with patch("samecam.evidence.left_out", return_value=[]):
        return root / "misled", cluster_photos(root / "photos", root / "misled", **SETTINGS)


@pytest.mark.parametrize("strength", [0.003, 0.006])
@pytest.mark.parametrize("stamp", [4, 16])
def test_a_stamp_joins_no_cameras_and_lets_nobody_in(tmp_path, strength, stamp):
    take(tmp_path / "photos", stamp, STRANGERS, strength=strength)
    result = cluster_photos(tmp_path / "photos", tmp_path / "case", **SETTINGS)
    assert sorted("".join({path[0] for path in group.paths}) for group in result.groups) == [
        str(camera) for camera in range(CAMERAS)
    ]
    assert sum(len(group.paths) for group in result.groups) == CAMERAS * PHOTOS
    facts = result.details["frames"][f"{WIDTH}x{HEIGHT}"]
    for top, bottom, left, right in facts["left_out"]:
        assert (top >= HEIGHT / 2, left >= WIDTH / 2) == (True, True)
        assert (bottom <= HEIGHT, right <= WIDTH) == (True, True)
    assert not verify_case(tmp_path / "case").troubles


@pytest.mark.parametrize("dtype", ["int8", "2bits"])
def test_nor_where_a_frame_is_grouped_in_batches(tmp_path, dtype):
    take(tmp_path / "photos", 16, STRANGERS, strength=0.006)
    settings = {
        **SETTINGS,
        "settings": ExtractionSettings(dtype=dtype),
        "clustering": ClusteringSettings(options={"batch_size": 17}, search="off"),
    }
    del settings["search"]
    result = cluster_photos(tmp_path / "photos", tmp_path / "case", **settings)
    assert sorted("".join({path[0] for path in group.paths}) for group in result.groups) == [
        str(camera) for camera in range(CAMERAS)
    ]
    assert sum(len(group.paths) for group in result.groups) > 0.8 * CAMERAS * PHOTOS
    assert result.details["frames"][f"{WIDTH}x{HEIGHT}"]["left_out"]
    assert not verify_case(tmp_path / "case").troubles


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


def test_strangers_that_the_stamp_let_in_are_doubtful_without_it(misled):
    place, result = misled
    placed = {path for group in result.groups for path in group.paths if path[0] == "x"}
    assert placed  # the stamp is strong enough to mislead
    given = rows(place, "evidence.csv")
    assert {path for path, row in given.items() if row["doubtful"] == "yes"} == placed
    for path, row in given.items():
        without = row["score_without"]
        if path in placed:
            assert float(without) < 4
            assert "Without a pattern that is no sensor's the score is" in row["words"]
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


@pytest.fixture(scope="module")
def questioned(tmp_path_factory):
    """Weak cameras with a stamp, and new photos with it: one of each, and strangers'."""
    root = tmp_path_factory.mktemp("questioned")
    take(root / "photos", 2, 0, **WEAK)
    (root / "new").mkdir()
    for camera in [*range(CAMERAS), 80, 81, 82]:
        photo(camera, 70, 2, **WEAK).save(root / "new" / f"{camera}.jpg", quality=94)
    return root, cluster_photos(root / "photos", root / "case", **SETTINGS)


def cameras_by_group(result):
    return {group.id: min(group.paths)[0] for group in result.groups}


def test_strangers_are_no_nearer_to_a_group_by_the_stamp(tmp_path, monkeypatch):
    fits = []

    def fit(method, source, *rest):
        _fit(method, source, *rest)
        fits.append((method.null_scale_, source.n_pixels))

    monkeypatch.setattr("samecam.case.grouping._method._fit", fit)
    take(tmp_path / "photos", 4, STRANGERS, strength=0.003)
    result = cluster_photos(tmp_path / "photos", tmp_path / "case", **SETTINGS)
    assert len(result.groups) == CAMERAS
    given = rows(tmp_path / "case", "evidence.csv")
    alone = [row for path, row in given.items() if path[0] == "x"]
    assert len(alone) == STRANGERS
    for row in given.values():
        assert row["cluster"] != "-1" or row["path"][0] == "x"
        assert float(row["nearest_score"]) < 5
    facts = result.details["frames"][f"{WIDTH}x{HEIGHT}"]
    scale, left = fits[-1]
    assert left < fits[0][1] == WIDTH * HEIGHT
    # Chance is that of the whole frame, and scatters by less than that of what is left of it.
    assert facts["null_scale"] == pytest.approx(scale * (left / (WIDTH * HEIGHT)) ** 0.5)


@pytest.mark.parametrize("rate", [0.01, 0.2])
def test_a_photo_is_matched_without_the_stamp(questioned, rate):
    root, result = questioned
    found = match_photos(root / "case", root / "new", search="off", rate=rate)
    named = cameras_by_group(result)
    for match in found.photos:
        best = match.best
        if match.path[0] == "8":
            assert match.verdict == "none"
            assert best.score < 5
            assert best.log10_lr < 0
        else:
            assert (match.verdict, named[match.group]) == ("match", match.path[0])
            # 30 on what is left; in units of the whole frame, of which that is three quarters, 26.
            assert best.shared_score > best.score + 10 > 36
            assert "without a pattern that is no sensor's, of " in match.sentence
            assert match.other.score < 5


def test_with_the_stamp_strangers_would_match(questioned, monkeypatch):
    root, _ = questioned
    not_looked_for(monkeypatch)
    found = match_photos(root / "case", root / "new", search="off").photos
    assert {match.verdict for match in found if match.path[0] == "8"} == {"match"}


def test_a_photo_of_the_case_is_left_out_of_what_it_is_compared_with(questioned):
    root, result = questioned
    found = match_photos(root / "case", root / "photos" / "1-0.jpg", search="off")
    (match,) = found.photos
    assert match.known == "1-0.jpg"
    assert match.group == match.known_group
    row = rows(root / "case", "evidence.csv")["1-0.jpg"]
    assert match.best.shared_score == pytest.approx(float(row["score"]), rel=0.03)
    assert match.best.score == pytest.approx(float(row["score_without"]), rel=0.03)
    assert cameras_by_group(result)[match.group] == "1"


def test_a_stamp_of_one_camera_alone_is_taken_out_too(tmp_path, monkeypatch):
    """Of one or two cameras nobody tells what they share: a stranger may have it."""
    for name, cameras in (("photos", [0, 1]), ("new", [0, 80, 81])):
        (tmp_path / name).mkdir()
        for camera in cameras:
            for number in range(PHOTOS) if name == "photos" else [70]:
                file = tmp_path / name / f"{camera}-{number}.jpg"
                photo(camera, number, 8, strength=0.006).save(file, quality=94)
    for k in range(12):
        photo(20 + k, 0, 0).save(tmp_path / "photos" / f"x-{k}.jpg", quality=94)
    result = cluster_photos(tmp_path / "photos", tmp_path / "case", **SETTINGS)
    assert sorted(group.paths[0][0] for group in result.groups) == ["0", "1"]
    for group in result.groups:
        assert group.shared.where == "in the lower right corner"
        assert group.shared.median_without < group.shared.median
        assert group.shared.doubtful == 0
    code, said, _ = run("cluster", tmp_path / "photos", "-o", tmp_path / "case", "--search", "off")
    assert code == 0
    assert "a pattern in the lower right corner" in said
    found = match_photos(tmp_path / "case", tmp_path / "new", search="off").photos
    assert [match.verdict for match in found] == ["match", "none", "none"]
    assert found[0].best.shared_score > found[0].best.score
    assert not verify_case(tmp_path / "case").troubles
    not_looked_for(monkeypatch)
    found = match_photos(tmp_path / "case", tmp_path / "new", search="off").photos
    assert "match" in {match.verdict for match in found[1:]}


def test_squares_are_matched_without_the_stamp(questioned, tmp_path):
    """And smaller ones, in which the stamp lies elsewhere, as far as it is there at all."""
    root, _ = questioned
    settings = {
        "settings": ExtractionSettings(size=384, at="centre"),
        "resources": Resources(workers=2),
    }
    result = cluster_photos(root / "photos", tmp_path / "case", **settings)
    named = cameras_by_group(result)
    for group in result.groups:
        assert group.shared.boxes
    cut = tmp_path / "cut"
    cut.mkdir()
    for name in ("1.jpg", "80.jpg"):
        picture = Image.open(root / "new" / name)
        picture.crop((48, 16, WIDTH - 48, HEIGHT - 16)).save(cut / name, quality=97)
    for folder, side in ((root / "new", 384), (cut, 352)):
        found = match_photos(tmp_path / "case", folder)
        assert {m.frame for m in found.photos} == {f"{side}x{side}"}
        for match in found.photos:
            if match.path[0] == "8":
                assert match.verdict == "none"
                assert match.best.score < 5
            else:
                assert named[match.group] == match.path[0]


def test_what_is_seen_in_another_way_is_said_to_have_the_stamp_in_it(questioned, tmp_path):
    root, result = questioned
    reduced = Image.open(root / "new" / "2.jpg").resize((WIDTH // 4 * 3, HEIGHT // 4 * 3))
    reduced.save(tmp_path / "reduced.png")
    (match,) = match_photos(root / "case", tmp_path / "reduced.png", search="normal").photos
    assert match.seen.shares
    assert cameras_by_group(result)[match.group] == "2"
    assert "has a pattern that is no sensor's, which was not taken out here" in match.sentence


def test_a_tile_that_is_none_is_an_error(stamped):
    from samecam.case.folder import clusters_json, read_cameras

    _, result = stamped
    content = json.loads(clusters_json(result.cameras, [], None, {}))
    content["clusters"][0]["groups"][0]["shared"]["boxes"] = [[1, 2, 3]]
    with pytest.raises(ValueError, match="four edges"):
        read_cameras(content)


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


def test_views_are_searched_without_the_stamp(tmp_path, monkeypatch):
    given = []

    class Seen(GroupedRows):
        def __new__(cls, *values):
            given.append(values[-1])
            return super().__new__(cls, *values)

    monkeypatch.setattr("samecam.case.folder._places.GroupedRows", Seen)
    take(tmp_path / "photos", 16, 0, strength=0.006)
    result = cluster_photos(tmp_path / "photos", tmp_path / "case", resources=Resources(workers=2))
    places = result.details["frames"][f"{WIDTH}x{HEIGHT}"]["left_out"]
    assert places
    assert given == [[tuple(place) for place in places]]
    reduced = photo(2, 70, 16, strength=0.006).resize((WIDTH // 4 * 3, HEIGHT // 4 * 3))
    reduced.save(tmp_path / "reduced.png")
    (match,) = match_photos(tmp_path / "case", tmp_path / "reduced.png", search="normal").photos
    assert match.verdict == "match"
    assert not match.seen.shares
    assert given[1:] == given[:1]
