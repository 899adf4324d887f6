"""What is compared: crops of the turned picture, the whole of it, and rows that are cut smaller."""

import hashlib

import numpy as np
import pytest

from samecam import correlate
from samecam.case import ExtractionSettings, open_store
from samecam.case.matching._cropped import Cropped
from samecam.case.matching._orientations import TurnTask, turn
from samecam.fingerprint import fingerprint, frame_row
from samecam.frames import Frame
from samecam.photos import read_frame, read_photo
from samecam.store import MemoryStore
from tests.case.worlds import shared_world
from tests.photos.pictures import encode, scene


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory)


def written(folder, picture):
    (folder / "p.png").write_bytes(encode(picture, "PNG"))
    return "p.png", str(folder / "p.png")


@pytest.mark.parametrize("shape", [(150, 210), (211, 140), (97, 300)])
@pytest.mark.parametrize("offset", [(0, 0), (5, 19)])
def test_squares_are_the_crops_of_the_turned_picture(tmp_path, shape, offset):
    picture = scene(3, *shape)
    settings = ExtractionSettings(size=128, offset=offset)
    seen = turn(TurnTask(*written(tmp_path, picture), settings))
    assert len(seen.orientations) == sum(
        min(t.shape[0] - offset[1], t.shape[1] - offset[0]) >= 64
        for t in (np.rot90(picture, -k) for k in range(4))
    )
    for view in seen.orientations:
        whole = np.rot90(picture, k=-(view.turned // 90))
        x, y = offset
        room = min(whole.shape[0] - y, whole.shape[1] - x)
        side = 128 if room >= 128 else room // 16 * 16
        assert view.frame == Frame(side, side)
        crop = whole[y : y + side, x : x + side]
        np.testing.assert_array_equal(view.values, fingerprint(np.ascontiguousarray(crop)))


@pytest.mark.parametrize(
    ("shape", "offset", "side"),
    [
        ((210, 190), (0, 0), 128),
        ((210, 190), (16, 0), 128),
        ((127, 300), (0, 0), 96),
        ((95, 300), (0, 0), 64),
        ((160, 160), (40, 0), 64),
    ],
)
def test_squares_in_the_centre_are_in_that_of_the_turned_picture(tmp_path, shape, offset, side):
    """Smaller ones leave a multiple of 16 on either side."""
    picture = scene(4, *shape)
    settings = ExtractionSettings(size=128, at="centre", offset=offset)
    seen = turn(TurnTask(*written(tmp_path, picture), settings))
    assert [view.turned for view in seen.orientations] == [0, 90, 180, 270]
    for view in seen.orientations:
        whole = np.rot90(picture, k=-(view.turned // 90))
        left, top = (
            start + (length - side) // 2 // 16 * 16
            for start, length in zip(offset, whole.shape[1::-1], strict=True)
        )
        assert view.frame == Frame(side, side)
        crop = whole[top : top + side, left : left + side]
        np.testing.assert_array_equal(view.values, fingerprint(np.ascontiguousarray(crop)))


@pytest.mark.parametrize("dtype", ["bits", "2bits", "int8"])
def test_whole_frames_are_those_of_the_turned_picture(tmp_path, dtype):
    picture = scene(5, 150, 100)
    path, file = written(tmp_path, picture)
    settings = ExtractionSettings(dtype=dtype, sigma=2.0)
    data = (tmp_path / "p.png").read_bytes()
    luma, key = read_frame(data).pixels, hashlib.sha256(data).hexdigest()
    for frames, turns in (
        (None, [0, 90, 180, 270]),
        ({Frame(150, 100)}, [0, 180]),
        ({Frame(100, 150), Frame(64, 64)}, [90, 270]),
        ({Frame(64, 64)}, []),
    ):
        seen = turn(TurnTask(path, file, settings, frames))
        assert (seen.outcome.status, seen.outcome.sha256) == ("good", key)
        assert [view.turned for view in seen.orientations] == turns
        for view in seen.orientations:
            whole = np.ascontiguousarray(np.rot90(luma, k=-(view.turned // 90)))
            assert view.frame.shape == whole.shape
            row = frame_row(whole, key=key, dtype=dtype, sigma=2.0)
            np.testing.assert_array_equal(view.values, row.values)
            assert view.scale == row.scale


def test_a_cut_fingerprint_is_nearly_that_of_the_smaller_crop(world):
    """What cutting stored rows costs: how like they are to extracting again.

    Means of the rows and columns of the smaller square were not taken away: 2 in 160 of the
    energy, so about .99.
    """
    with open_store(world.case) as store:
        rows = store.rows()
        cut = Cropped(rows, 160).read()
        likes = []
        for key, row in zip(rows.keys, cut, strict=True):
            data = (world.root / "kept" / key).read_bytes()
            likes.append(row @ fingerprint(read_photo(data, size=160).pixels))
    assert np.mean(likes) > 0.985
    assert np.min(likes) > 0.95


@pytest.mark.parametrize(("at", "first"), [("corner", 0), ("centre", 3)])
def test_cropped_rows_are_those_of_the_slow_way(at, first):
    rng = np.random.default_rng(1)
    rows = correlate.normalised(rng.normal(size=(5, 20 * 20)) + 0.2)
    store = MemoryStore(400)
    for k, row in enumerate(rows):
        store.add(f"{k}", row)
    store.commit()
    some = slice(first, first + 13)
    wanted = rows.reshape(5, 20, 20)[:, some, some].reshape(5, -1).astype(float)
    wanted -= wanted.mean(axis=1, keepdims=True)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    cropped = Cropped(store, 13, at)
    assert cropped.frame == Frame(13, 13)
    np.testing.assert_allclose(cropped.read(), wanted, atol=1e-6)
    for width in (7, 20, 33, 1000):
        parts = list(cropped.columns(width))
        assert [start for start, _ in parts] == np.cumsum([0, *(p.shape[1] for _, p in parts)])[
            :-1
        ].tolist()
        np.testing.assert_allclose(np.hstack([p for _, p in parts]), wanted, atol=1e-6)
    chosen = np.array([3, 1])
    parts = [p.copy() for _, p in cropped.columns(20, chosen)]
    np.testing.assert_allclose(np.hstack(parts), wanted[chosen], atol=1e-6)
    out, scales = np.empty((2, 30), dtype=np.float32), np.empty(2, dtype=np.float32)
    cropped.read_stored(chosen, out, scales, start=11)
    np.testing.assert_allclose(out, wanted[chosen, 11:41], atol=1e-6)
    assert scales.tolist() == [1, 1]
