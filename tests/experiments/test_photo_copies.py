"""Photographs of experiments: collections, copies that were compressed again, interruptions."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from samecam.errors import SamecamError
from samecam.experiments import Context, Run, Study
from samecam.experiments import _photo_correlations as correlations
from samecam.experiments import _photo_sets as sets
from samecam.experiments._photo_copies import compress_again
from samecam.experiments._photo_sets import PhotoSet

SIDE = 64


@pytest.fixture(scope="module")
def texture():
    """A picture (160, 200, 3) with edges and noise in all colours."""
    rng = np.random.default_rng(5)
    smooth = rng.integers(0, 200, (20, 25, 3)).repeat(8, axis=0).repeat(8, axis=1)
    return (smooth + rng.integers(0, 55, smooth.shape)).astype(np.uint8)


def _pixels(data):
    with Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture.convert("RGB"))


def _photo(path, pixels, orientation=None, **options):
    exif = Image.Exif()
    if orientation is not None:
        exif[0x0112] = orientation
    Image.fromarray(pixels).save(path, "JPEG", quality=92, exif=exif, **options)
    return path


@pytest.mark.parametrize("quality", [50, 95])
@pytest.mark.parametrize("orientation", [None, 6])
def test_a_copy_is_that_of_the_whole_photograph(tmp_path, texture, quality, orientation):
    original = _photo(tmp_path / "a.jpg", texture, orientation)
    assert compress_again((str(original), str(tmp_path / "b.jpg"), quality, SIDE))
    copy = (tmp_path / "b.jpg").read_bytes()
    whole = io.BytesIO()
    with Image.open(original) as picture:
        picture.save(whole, "JPEG", quality=quality)
    np.testing.assert_array_equal(
        _pixels(copy)[:SIDE, :SIDE], _pixels(whole.getvalue())[:SIDE, :SIDE]
    )
    assert _pixels(copy).shape[0] < len(texture), "the part that is used is cut out first"
    with Image.open(tmp_path / "b.jpg") as picture:
        assert picture.getexif().get(0x0112) == orientation


def test_copies_lose_more_at_lower_quality_and_are_made_once(tmp_path, texture):
    original = _photo(tmp_path / "a.jpg", texture)
    errors = []
    for quality in (50, 75, 95):
        copy = tmp_path / f"{quality}.jpg"
        assert compress_again((str(original), str(copy), quality, SIDE))
        ours = _pixels(copy.read_bytes())[:SIDE, :SIDE].astype(float)
        errors.append(np.abs(ours - _pixels(original.read_bytes())[:SIDE, :SIDE]).mean())
    assert errors[0] > errors[1] > errors[2] > 0
    copy.write_bytes(b"there")
    compress_again((str(original), str(copy), 50, SIDE))
    assert copy.read_bytes() == b"there"


def test_a_photo_that_cannot_be_read_or_is_too_small_has_no_copy(tmp_path, texture):
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff no picture")
    _photo(tmp_path / "small.jpg", texture[:40, :40])
    for name in ("broken.jpg", "small.jpg"):
        assert not compress_again((str(tmp_path / name), str(tmp_path / "copy.jpg"), 80, SIDE))
    assert not (tmp_path / "copy.jpg").exists()


def _headers(folder, shapes):
    folder.mkdir()
    for k, (width, height) in enumerate(shapes):
        Image.new("L", (width, height)).save(folder / f"{k:02d}.png")
    files = tuple(sorted(folder.iterdir()))
    return PhotoSet("real", "real", files, ("a",) * len(files))


def test_squares_that_nearly_all_photos_hold(tmp_path):
    photos = _headers(tmp_path / "a", [(1100, 1030)] * 19 + [(1100, 800)])
    assert sets.allowed_sides(photos, (256, 1024)) == [256, 1024]
    photos = _headers(tmp_path / "b", [(1100, 1030)] * 18 + [(1100, 800)] * 2)
    assert sets.allowed_sides(photos, (256, 512, 768, 1024)) == [256, 512, 768]
    with pytest.raises(SamecamError, match="80% of the 10 photos"):
        sets.allowed_sides(_headers(tmp_path / "c", [(600, 600)] * 8 + [(500, 600)] * 2), (256,))


def test_with_quick_at_most_twelve_photos_of_a_real_camera(tmp_path, texture):
    lines = ["path,camera"]
    for camera, count in (("many", 15), ("few", 3)):
        for k in range(count):
            _photo(tmp_path / f"{camera}{k}.jpg", texture)
            lines.append(f"{camera}{k}.jpg,{camera}")
    (tmp_path / "truth.csv").write_text("\n".join(lines) + "\n")
    full = Context(Study(tmp_path / "study"), data=tmp_path)
    assert sets.photo_set(full).title == "real photographs, 2 cameras, 18 files"
    quick = sets.photo_set(replace(full, quick=True))
    assert sorted(quick.cameras) == ["few"] * 3 + ["many"] * 12
    assert quick.name != sets.photo_set(full).name


@pytest.mark.parametrize(("cameras", "drawn"), [(22, 20), (3, 3)])
def test_of_vision_twenty_cameras_are_drawn_if_it_has_them(tmp_path, texture, cameras, drawn):
    for k in range(cameras):
        folder = tmp_path / f"D{k:02d}_Maker_Model{k}" / "images" / "nat"
        folder.mkdir(parents=True)
        _photo(folder / "1.jpg", texture)
    photos = sets.photo_set(Context(Study(tmp_path / "study"), data=tmp_path))
    assert len(set(photos.cameras)) == drawn
    assert any("in print" in note for note in photos.notes) == (drawn == 20)


def test_what_was_interrupted_goes_on_with_its_copies(tmp_path, texture, monkeypatch):
    files = tuple(_photo(tmp_path / f"{k}.jpg", np.roll(texture, k, axis=0)) for k in range(3))
    photos = PhotoSet("real", "real", files, ("a", "a", "b"))
    context = Context(Study(tmp_path / "study"), workers=1)
    seen = []

    def interrupted(_context, _photos, work, _setting):
        seen.append({f.name: f.stat().st_mtime_ns for f in (work / "photos").iterdir()})
        if len(seen) == 1:
            raise KeyboardInterrupt
        return Run({"rows": np.arange(3)}, {})

    monkeypatch.setattr(correlations, "_correlate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        correlations.correlate_photos(context, photos, 70, [SIDE])
    correlations.correlate_photos(context, photos, 70, [SIDE])
    assert sorted(seen[0]) == ["000000.jpg", "000001.jpg", "000002.jpg"]
    assert seen[1] == seen[0], "copies are not made twice"
    assert not any((tmp_path / "study" / "work").rglob("*.jpg"))
    correlations.correlate_photos(context, photos, 70, [SIDE])
    assert len(seen) == 2
    other = replace(photos, cameras=("a", "b", "b"))
    with pytest.raises(SamecamError, match="new folder"):
        correlations.correlate_photos(context, other, 70, [SIDE])
