"""A disk of real life: four frames, and thumbnails, bright corners, screenshots, odd sizes."""

import csv
import shutil
from collections import defaultdict

import numpy as np
import pytest
from PIL import Image

from samecam import cluster_photos
from samecam.case import open_case
from samecam.simulate import simulate_photos

pytestmark = pytest.mark.slow

SIZES = [(1024, 768), (1280, 960), (1200, 900), (960, 1280)]
ADDED = {"thumbnails": 15, "bright_corners": 10, "screenshots": 4, "odd_sizes": 5}


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """Six cameras, ten photos each, and what else lies on the disk; photos alone in `plain`."""
    root = tmp_path_factory.mktemp("disk")
    simulate_photos(root, cameras=6, images=10, size=SIZES, seed=1, **ADDED)
    (root / "plain").mkdir()
    for path in originals((root / "images").iterdir()):
        shutil.copy2(path, root / "plain")
    return root


@pytest.fixture(scope="module")
def whole(disk):
    return cluster_photos(disk / "images", disk / "whole case", search="quick")


@pytest.fixture(scope="module")
def plain(disk):
    return cluster_photos(disk / "plain", disk / "plain case", search="quick")


@pytest.fixture(scope="module")
def cameras(disk):
    with open(disk / "truth.csv", newline="") as stream:
        return {row["path"].split("/")[-1]: row["camera"] for row in csv.DictReader(stream)}


def originals(paths):
    return [path for path in paths if path.name.startswith("IMG") and "thumb" not in path.name]


def groups(result):
    """Sets of names, and the names in no group."""
    members = defaultdict(set)
    for path, label in zip(result.paths, result.labels.tolist(), strict=True):
        members[label].add(path.split("/")[-1])
    alone = members.pop(-1, set())
    return set(map(frozenset, members.values())), alone


def share_of_white(path):
    with Image.open(path) as picture:
        return float(np.mean(np.asarray(picture.convert("L")) >= 250))


def what_lies_beside_them_changes_no_group_of_the_photos(disk, whole, plain):
    ours = {path.name for path in originals((disk / "images").iterdir())}
    members, alone = groups(whole)
    kept = {group & ours for group in members}
    assert (kept - {frozenset()}, alone & ours) == groups(plain)


def every_camera_has_one_group_with_its_bright_corners(whole, cameras):
    """All photos of the six cameras but the one that is white."""
    members, _ = groups(whole)
    lost = set()
    for camera in sorted(set(cameras.values()))[:6]:
        taken = {name for name, taker in cameras.items() if taker == camera}
        (group,) = (group for group in members if group & taken)
        lost |= taken - group
    assert len(lost) == 1


def nobody_is_linked_to_a_stranger(whole, cameras):
    """Thumbnails may stand with the camera of their photo; what no camera took stands alone."""
    members, alone = groups(whole)
    for group in members:
        assert len({cameras[name.replace("_thumb", "")] for name in group}) == 1
    assert sum(name.startswith("SCREEN") for name in alone) == ADDED["screenshots"]
    assert sum(name.startswith("ODD") for name in alone) == ADDED["odd_sizes"]


def thumbnails_are_copies_of_their_photos_and_nothing_else_is(whole):
    photos = open_case(whole.case).photos_as_they_stand()
    copies = {photo.path: photo.copy_of for photo in photos if photo.copy_of}
    assert copies == {path: path.replace("_thumb", "") for path in copies}
    assert all("_thumb" in path for path in copies)
    assert len(copies) >= ADDED["thumbnails"] - 1  # one may be too dark to be told from others


def nobody_is_unusable_but_the_blank_ones(disk, whole):
    photos = open_case(whole.case).photos_as_they_stand()
    assert len(photos) == len(list((disk / "images").iterdir()))
    left = [photo.path for photo in photos if photo.status not in ("good", "weak", "copy")]
    assert len(left) == 1
    assert all(share_of_white(disk / "images" / path) > 0.9 for path in left)


def test_a_mixed_disk(disk, whole, plain, cameras):
    """All in one test: side by side, each worker would make and group the disk again."""
    what_lies_beside_them_changes_no_group_of_the_photos(disk, whole, plain)
    every_camera_has_one_group_with_its_bright_corners(whole, cameras)
    nobody_is_linked_to_a_stranger(whole, cameras)
    thumbnails_are_copies_of_their_photos_and_nothing_else_is(whole)
    nobody_is_unusable_but_the_blank_ones(disk, whole)
