"""A case of frames that are kept in two bits a pixel by default, from the files to the answer."""

import csv
from functools import cache

import numpy as np
import pytest
from PIL import Image

from samecam import Resources, cluster_photos
from samecam.case import match_photos, open_store
from samecam.fingerprint import frame_row
from samecam.frames import Frame
from samecam.photos import read_frame

FRAME, CAMERAS, PHOTOS = Frame(2400, 1680), 2, 4  # just above 4 megapixels


@cache
def pattern(camera):
    return np.random.default_rng(camera).standard_normal(FRAME.shape, dtype=np.float32)


def photo(camera, number):
    """A gray picture with a camera's pattern."""
    rng = np.random.default_rng([camera, number])
    y, x = np.mgrid[: FRAME.height, : FRAME.width].astype(np.float32)
    light = 120 + 50 * np.sin(x / 290 + number) * np.cos(y / 170)
    light *= 1 + 0.02 * pattern(camera)
    light += 3 * rng.standard_normal(FRAME.shape, dtype=np.float32)
    return Image.fromarray(np.clip(light, 0, 255).astype(np.uint8))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Photos, one of which is left out of the case, and the case."""
    root = tmp_path_factory.mktemp("large")
    for name in ("photos", "held"):
        (root / name).mkdir()
    for camera in range(CAMERAS):
        for number in range(PHOTOS):
            photo(camera, number).save(root / "photos" / f"{camera}-{number}.jpg", quality=92)
    photo(0, PHOTOS).save(root / "held" / "0.jpg", quality=92)
    plain = {"search": "off", "resources": Resources(workers=2)}  # views have tests of their own
    result = cluster_photos(root / "photos", root / "case", **plain)
    return root, result


def test_cameras_are_told_apart_and_rows_are_those_of_the_files(made):
    root, result = made
    assert [group.paths for group in result.groups] == [
        [f"{camera}-{number}.jpg" for number in range(PHOTOS)] for camera in range(CAMERAS)
    ]
    with open_store(root / "case") as store:
        assert (store.frames, store.dtype) == ([FRAME], "auto")
        assert store.frame_dtype(FRAME) == "2bits"
        (shard,) = {p.suffix for p in (store.folder / "shards" / FRAME.name).iterdir()}
        assert shard == ".2bits"
        rows, record = store.rows(), store.records()[3]
        data = (root / "photos" / record.key).read_bytes()
        expected = frame_row(read_frame(data).pixels, key=record.sha256, dtype="2bits")
        words, scales = np.empty((1, rows.n_words), np.uint64), np.empty(1, np.float32)
        rows.read_stored(np.array([3]), words, scales)
        np.testing.assert_array_equal(words[0], expected.values)
        assert scales[0] == np.float32(expected.scale)
        assert store.verify() == []


def test_evidence_and_matches_agree(made):
    root, result = made
    match = match_photos(root / "case", root / "held", search="off").photos[0]
    assert (match.verdict, match.group) == ("match", 0)
    again = match_photos(root / "case", root / "photos" / "1-2.jpg", search="off").photos[0]
    with open(root / "case" / "clusters.csv", newline="", encoding="utf-8") as stream:
        row = next(r for r in csv.DictReader(stream) if r["path"] == "1-2.jpg")
    assert again.known == "1-2.jpg"
    assert again.best.correlation == pytest.approx(float(row["correlation"]), rel=2e-4)
    assert len(result.groups) == CAMERAS
