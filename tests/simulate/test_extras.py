"""Several frames, and what a disk holds beside plain photographs."""

import csv
import json
import shutil
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from samecam.metrics import match_paths
from samecam.simulate import _extras, simulate_photos

SIZES = [(200, 150), (180, 160), (150, 200)]
PLAIN = {"cameras": 4, "images": 3, "size": SIZES, "outliers": 1, "seed": 5, "workers": 1}
ADDED = {"thumbnails": 6, "bright_corners": 5, "letterbox": 4, "screenshots": 14, "odd_sizes": 5}


def _files(folder):
    return {p.name: p.read_bytes() for p in sorted((folder / "images").iterdir())}


def _truth(folder):
    with open(folder / "truth.csv", newline="") as file:
        return {row["path"].removeprefix("images/"): row["camera"] for row in csv.DictReader(file)}


def _pixels(folder, name):
    with Image.open(folder / "images" / name) as picture:
        return np.asarray(picture)


def _sizes(folder, word):
    """Sizes of the pictures whose names begin so."""
    result = []
    for path in sorted((folder / "images").glob(f"{word}*")):
        with Image.open(path) as picture:
            result.append(picture.size)
    return result


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain") / "collection"
    simulate_photos(folder, **PLAIN)
    return folder


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk") / "collection"
    simulate_photos(folder, **PLAIN, **ADDED)
    return folder


def test_models_take_the_sizes_in_turn(plain):
    sizes = {}
    for name, camera in _truth(plain).items():
        with Image.open(plain / "images" / name) as picture:
            sizes.setdefault(camera, set()).add(picture.size)
    # three models by default, one a size: cameras 1 and 4 and the outlier after them
    assert sizes == {
        "camera_001": {SIZES[0]},
        "camera_002": {SIZES[1]},
        "camera_003": {SIZES[2]},
        "camera_004": {SIZES[0]},
        "outlier_001": {SIZES[1]},
    }


def test_one_size_is_the_same_in_a_list(tmp_path):
    given = {"cameras": 2, "images": 1, "workers": 1}
    simulate_photos(tmp_path / "a", size=(96, 80), **given)
    simulate_photos(tmp_path / "b", size=[(96, 80)], **given)
    for path in (tmp_path / "a").rglob("*.*"):
        other = tmp_path / "b" / path.relative_to(tmp_path / "a")
        assert path.read_bytes() == other.read_bytes()


def test_the_other_photos_stay_as_they_are(plain, disk):
    assert _files(plain).items() < _files(disk).items()
    assert _truth(plain).items() < _truth(disk).items()


def test_each_addition_leaves_the_others_alone(disk, tmp_path):
    simulate_photos(tmp_path, **PLAIN, **(ADDED | {"bright_corners": 0, "thumbnails": 2}))
    files = _files(tmp_path)
    assert files.items() < _files(disk).items()
    assert len(files) == len(_files(disk)) - 5 - 4


def test_as_many_as_were_asked_for_and_who_is_in_the_truth(disk):
    words = Counter(name.split("_")[0] for name in _files(disk))
    assert words == {"IMG": 13 + 6, "BRIGHT": 5, "LETTERBOX": 4, "SCREEN": 14, "ODD": 5}
    truth = _truth(disk)
    assert Counter(name.split("_")[0] for name in truth) == {
        "IMG": 13,
        "BRIGHT": 5,
        "LETTERBOX": 4,
        "ODD": 5,
    }
    for word, counts in (("BRIGHT", [1, 1, 1, 2]), ("LETTERBOX", [1, 1, 1, 1])):
        cameras = Counter(camera for name, camera in truth.items() if name.startswith(word))
        assert sorted(cameras.values()) == counts
        assert all(camera.startswith("camera_") for camera in cameras)
    alone = {camera for name, camera in truth.items() if name.startswith("ODD")}
    assert alone == {f"outlier_{k:03}" for k in range(2, 7)}


def test_the_arguments_are_kept(disk):
    kept = json.loads((disk / "simulation.json").read_text())
    assert kept["size"] == [list(size) for size in SIZES]
    assert {name: kept[name] for name in ADDED} == ADDED


@pytest.mark.parametrize("workers", [1, 2])
def test_an_unfinished_disk_is_gone_on_with_whatever_the_workers(disk, tmp_path, workers):
    half = tmp_path / "half"
    shutil.copytree(disk, half)
    (half / "truth.csv").unlink()
    for path in sorted((half / "images").iterdir())[::2]:
        path.unlink()
    kept = {p.name: p.stat().st_ino for p in (half / "images").iterdir()}
    simulate_photos(half, **(PLAIN | {"workers": workers}), **ADDED)
    for path in disk.rglob("*.*"):
        assert (half / path.relative_to(disk)).read_bytes() == path.read_bytes()
        if path.parent.name == "images":
            again = half / path.relative_to(disk)
            assert again.stat().st_mtime == path.stat().st_mtime
    assert all((half / "images" / name).stat().st_ino == ino for name, ino in kept.items())


def test_progress_counts_every_picture(tmp_path):
    calls = []
    simulate_photos(tmp_path, progress=lambda *call: calls.append(call), **PLAIN, **ADDED)
    total = 13 + sum(ADDED.values())
    assert calls[-1] == (total, total)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_thumbnails_are_small_copies_spread_over_the_cameras(disk):
    names = [name for name in _files(disk) if name.endswith("_thumb.jpg")]
    truth = _truth(disk)
    originals = {name: name.replace("_thumb", "") for name in names}
    assert sorted(Counter(truth[name] for name in originals.values()).values()) == [1, 1, 2, 2]
    for name, original in originals.items():
        with Image.open(disk / "images" / name) as small:
            assert not small.getexif()
            with Image.open(disk / "images" / original) as whole:
                assert max(small.size) == max(whole.size) // 2
                copy = np.asarray(whole.resize(small.size, Image.Resampling.LANCZOS), float)
            assert np.abs(np.asarray(small, float) - copy).mean() < 8


def test_thumbnails_of_large_photos_have_the_edges_of_thumbnails(tmp_path):
    simulate_photos(tmp_path, cameras=2, images=6, size=(720, 480), thumbnails=12, workers=1)
    edges = [max(size) for size in _sizes(tmp_path, "*_thumb")]
    assert len(edges) == 12
    assert min(edges) >= 160
    assert max(edges) <= 320
    assert len(set(edges)) > 2


def test_a_score_leaves_thumbnails_and_screenshots_out(disk):
    known = match_paths([f"images/{name}" for name in _files(disk)], list(_truth(disk)))
    assert len(known) == len(_truth(disk))
    assert not [name for name in known if "_thumb" in name or "SCREEN" in name]


def test_bright_corners_are_white_and_the_rest_is_a_photograph(disk):
    for path in (disk / "images").glob("BRIGHT*"):
        pixels = _pixels(disk, path.name).astype(float)
        height, width = (round(length / 3) for length in pixels.shape[:2])
        inside = pixels[: height - 9, : width - 9]
        assert inside.min() >= 250
        white = pixels.mean(axis=2) >= 250
        assert white.mean() < 0.3
        assert white[height + 9 :].mean() < 0.25
        assert pixels[height + 9 :].std() > 5


@pytest.mark.parametrize(
    ("length", "corner"), [(900, 300), (1200, 400), (1700, 567), (1920, 1040), (4000, 1333)]
)
def test_the_bright_corner_of_large_pictures_is_more_than_1024_wide(length, corner):
    light = np.zeros((3, length, 4), np.float32)
    _extras.whiten_corner(light)
    assert (light[:, :corner, 0] > 1).all()
    assert (light[:, corner:] == 0).all()
    assert (light[..., 1:] == 0).all()


def test_bars_are_black(disk):
    for path in (disk / "images").glob("LETTERBOX*"):
        pixels = _pixels(disk, path.name)
        bar = len(pixels) // 8
        # blocks of 16 rows that hold nothing else, but for colours smoothed over their edge
        above, below = bar // 16 * 16, -(-(len(pixels) - bar) // 16) * 16
        assert (pixels[: above - 2] == 0).all()
        assert (pixels[below + 2 :] == 0).all()
        assert pixels[bar + 16 : -bar - 16].std() > 5
        assert abs(int((pixels.mean(axis=(1, 2)) < 6).sum()) - 2 * bar) < 16


def test_screenshots_are_graphics_of_sizes_of_their_own(disk):
    sizes = _sizes(disk, "SCREEN")
    assert len(set(sizes)) == 14
    assert {(585, 1266), (640, 360)} < set(sizes)
    assert not set(sizes) & {*_sizes(disk, "IMG"), *_sizes(disk, "ODD")}
    for path in (disk / "images").glob("SCREEN*"):
        pixels = _pixels(disk, path.name).astype(int)
        beside = (np.diff(pixels, axis=1) == 0).all(axis=2)
        assert 0.6 < beside.mean() < 0.99
        assert pixels.std() > 5


def test_odd_sizes_are_of_sizes_of_their_own(disk):
    odd = _sizes(disk, "ODD")
    assert len(set(odd)) == 5
    assert not set(odd) & set(_sizes(disk, "IMG"))
    assert all(width % 2 and height % 2 for width, height in odd)
    assert all(100 < width < 200 and 85 < height < 150 for width, height in odd)


def test_many_pictures_of_odd_sizes_find_a_size_each(tmp_path):
    given = {"cameras": 1, "images": 1, "size": (64, 64), "workers": 1}
    simulate_photos(tmp_path, odd_sizes=12, screenshots=26, **given)
    assert len(set(_sizes(tmp_path, ""))) == 1 + 12 + 26
