"""What of a frame can carry a fingerprint: a bright corner costs that corner, no more."""

import csv

import numpy as np
import pytest

from samecam import cluster_photos
from samecam.case import ExtractionSettings, extract_photos, open_store
from tests.case.conftest import keys_of, write
from tests.case.many import CAMERAS, groups_of, make_pile
from tests.photos.pictures import encode, scene

BITS = ExtractionSettings(dtype="bits")
WHOLE = ExtractionSettings()
SQUARE = ExtractionSettings(size=64)


def table(case):
    with open(case / "images.csv", newline="") as stream:
        return {row["path"]: row for row in csv.DictReader(stream)}


WIDTH, HEIGHT = 480, 400


def patched(seed, share, level=90):
    """A flat picture, so much of it textured, in a corner."""
    picture = np.full((HEIGHT, WIDTH, 3), level, np.uint8)
    rows, columns = (round(side * share**0.5) for side in (HEIGHT, WIDTH))
    if rows:
        picture[:rows, :columns] = scene(seed, columns, rows)
    return picture


def bright(seed, rows):
    """A picture whose upper rows are over-exposed."""
    picture = scene(seed, WIDTH, HEIGHT)
    picture[:rows] = 255
    return picture


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exposure") / "photos"
    for name, picture in {
        "all flat": patched(1, 0),
        "nearly flat": patched(2, 0.01),
        "half flat": patched(3, 0.5),
        "black": patched(4, 0, level=0),
        "white": bright(5, 400),
        "nearly white": bright(6, 370),
        "bright sky": bright(7, 140),
        "some sky": bright(8, 100),
        "two colours full": patched(9, 0.01, level=(255, 255, 0)),
        "plain": scene(10, WIDTH, HEIGHT),
    }.items():
        write(folder / f"{name}.png", encode(picture, "PNG"))
    return folder


@pytest.mark.parametrize("settings", [WHOLE, BITS])
def test_a_frame_without_a_residual_is_unusable_and_says_why(photos, tmp_path, settings):
    extract_photos(photos, tmp_path / "case", settings)
    rows = {path.removesuffix(".png"): row for path, row in table(tmp_path / "case").items()}
    status = {name: row["status"] for name, row in rows.items()}
    unusable = ("all flat", "nearly flat", "black", "white", "nearly white", "two colours full")
    assert {name for name, said in status.items() if said == "unusable"} == set(unusable)
    assert {name for name, said in status.items() if said == "weak"} == {"bright sky"}
    for name in ("all flat", "black"):
        assert rows[name]["reason"] == "no noise residual: the picture is flat"
    for name in ("nearly flat", "two colours full"):
        share = float(rows[name]["flat"])
        assert share > 0.9
        assert rows[name]["reason"] == f"{share:.1%} of the picture is flat"
    assert rows["white"]["reason"] == "100.0% of the picture is over-exposed"
    assert rows["nearly white"]["reason"] == "92.5% of the picture is over-exposed"
    assert rows["bright sky"]["reason"] == "35.0% of the picture is over-exposed"
    assert 0.2 < float(rows["half flat"]["flat"]) < 0.5
    with open_store(tmp_path / "case") as store:
        used = {"half flat", "bright sky", "some sky", "plain"}
        assert {key.removesuffix(".png") for key in keys_of(store)} == used


def test_a_bright_corner_loses_no_photo_of_the_whole_frame(tmp_path):
    """A white corner of 64² pixels is all that a square there sees."""
    cameras = {"a": ((160, 128), 8), "b": ((160, 128), 8)}
    pile = make_pile(tmp_path / "photos", cameras, corner=(64, 64))
    square = extract_photos(pile.folder, tmp_path / "square", SQUARE)
    assert square.counts["unusable"] == 16
    for settings in (WHOLE, BITS):
        case = tmp_path / settings.dtype
        result = cluster_photos(pile.folder, case, settings)
        assert result.extraction.counts["good"] == 16
        assert result.sizes == [8, 8]
        assert {row["saturated"] for row in table(case).values()} == {repr(64 * 64 / (160 * 128))}


@pytest.mark.parametrize(
    ("settings", "size", "marks"),
    [
        (WHOLE, (160, 128), {"bars": 30}),
        (BITS, (160, 128), {"bars": 30}),
        (WHOLE, (160, 128), {"corner": (80, 42)}),
        (BITS, (640, 480), {"corner": (320, 160)}),
    ],
)
def test_what_strangers_have_in_common_is_no_camera(tmp_path, settings, size, marks):
    """The same black bars, or the same white rectangle, in photos of as many cameras."""
    cameras = {chr(97 + k): (size, 1) for k in range(16)}
    pile = make_pile(tmp_path / "photos", cameras, **marks)
    result = cluster_photos(pile.folder, tmp_path / "case", settings)
    assert result.extraction.counts["good"] == 16
    assert groups_of(result.paths, result.labels) == (set(), set(pile.camera))


def test_the_pile_of_other_tests_has_no_such_photo(tmp_path):
    pile = make_pile(tmp_path / "photos")
    result = extract_photos(pile.folder, tmp_path / "case")
    assert result.counts["good"] == sum(count for _, count in CAMERAS.values())
