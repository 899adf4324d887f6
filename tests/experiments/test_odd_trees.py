"""Experiments on trees of photographs with files that cannot be opened, read or used."""

import json

import numpy as np
import pytest
from PIL import Image

from samecam.errors import SamecamError
from samecam.experiments import (
    Context,
    Run,
    Study,
    _photo_level,
    conduct,
    double_jpeg,
    running_time,
)
from samecam.experiments import _photo_correlations as correlations
from samecam.experiments import _photo_sets as sets
from samecam.experiments._photo_copies import compress_again
from samecam.experiments._photo_sets import PhotoSet, Setting

ON_PHOTOS = ("sizes", "double-jpeg", "threshold", "sparse-vs-dense", "hyperparameters")
JUNK = b"\xff\xd8\xff no picture"


def tree(root, **cameras):
    """A folder a camera; of each a list of files to copy, or of bytes to write."""
    for camera, files in cameras.items():
        (root / camera).mkdir(parents=True)
        for number, file in enumerate(files):
            path = root / camera / f"{number}.jpg"
            path.write_bytes(file if isinstance(file, bytes) else file.read_bytes())
    return root


def tried(name, data, tmp_path):
    where = {"study": tmp_path / "study", "results": tmp_path / "results"}
    return conduct(name, data=data, quick=True, workers=1, **where)


@pytest.mark.parametrize("name", ON_PHOTOS)
def test_nothing_that_can_be_read_is_an_error_that_names_the_tree(tmp_path, name):
    data = tree(tmp_path / "data", a=[JUNK + bytes([k]) for k in range(10)], b=[JUNK] * 10)
    said = (
        r"Two photos .* are needed, and '[^']*/data' has 0 among 20 \(11 .*, 9 the same as others"
    )
    with pytest.raises(SamecamError, match=said) as error:
        tried(name, data, tmp_path)
    assert "work" not in str(error.value)


@pytest.mark.parametrize("name", ON_PHOTOS)
def test_what_is_no_folder_is_said_to_be_none(tmp_path, name):
    (tmp_path / "file").touch()
    for data in (tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(SamecamError, match=f"{data.name}' is no folder: name the root"):
            tried(name, data, tmp_path)


@pytest.mark.parametrize("name", ["sizes", "double-jpeg"])
def test_one_photo_is_not_enough(tmp_path, shots, name):
    data = tree(tmp_path / "data", a=shots[0][:1])
    with pytest.raises(SamecamError, match=r"'[^']*/data' has 1 among 1: give more"):
        tried(name, data, tmp_path)


def test_good_photos_of_one_of_two_cameras_are_not_enough(tmp_path, shots):
    data = tree(tmp_path / "data", a=shots[0], b=[JUNK + bytes([k]) for k in range(10)])
    said = r"with a good fingerprint of 512 × 512 pixels are all of the camera 'a'"
    with pytest.raises(SamecamError, match=said):
        tried("sparse-vs-dense", data, tmp_path)


def test_over_exposed_photos_are_not_good_enough(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "data").mkdir()
    for camera in "ab":
        (tmp_path / "data" / camera).mkdir()
        for number in range(5):
            pixels = rng.integers(90, 160, (520, 520, 3), dtype=np.uint8)
            pixels[:200] = 255
            Image.fromarray(pixels).save(tmp_path / f"data/{camera}/{number}.png")
    said = r"with a good fingerprint .* has 0 among 10 \(10 over-exposed"
    with pytest.raises(SamecamError, match=said):
        tried("sparse-vs-dense", tmp_path / "data", tmp_path)


@pytest.mark.parametrize("name", ["medium-dresden", "running-time"])
@pytest.mark.parametrize("count", [0, 1])
def test_configurations_need_two_photos_too(tmp_path, shots, name, count, monkeypatch):
    monkeypatch.setattr(running_time, "_warm_up", lambda *_: None)
    (tmp_path / "data").mkdir()
    for k in range(4):
        data = shots[0][0].read_bytes() if k < count else JUNK + bytes([k])
        (tmp_path / f"data/Canon_Ixus_{k % 2}_{k}.JPG").write_bytes(data)
    said = (
        rf"{count} of the 4 photos of [a-zA-Z0-9-]+ in '[^']*/data' can be used, and two are needed"
    )
    with pytest.raises(SamecamError, match=said):
        tried(name, tmp_path / "data", tmp_path)


def test_copies_that_nothing_can_be_made_of(tmp_path):
    """Not the inner folder is named, but that of the photographs."""
    data = tree(tmp_path / "data", a=[JUNK, JUNK + b"2"])
    photos = PhotoSet("real", "real", tuple(sorted(data.rglob("*.jpg"))), ("a", "b"))
    context = Context(Study(tmp_path / "study"), data=data, workers=1)
    with pytest.raises(SamecamError, match=r"that can be read are needed, and '[^']*/data' has 0"):
        correlations.correlate_photos(context, photos, 80, [512])


def test_a_file_that_cannot_be_opened_has_no_copy(tmp_path):
    (tmp_path / "dangling.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (tmp_path / "folder.jpg").mkdir()
    for name in ("dangling.jpg", "folder.jpg"):
        assert not compress_again((str(tmp_path / name), str(tmp_path / "copy.jpg"), 80, 64))
    assert not (tmp_path / "copy.jpg").exists()


def test_double_jpeg_goes_on_without_files_that_cannot_be_opened(tmp_path, shots, monkeypatch):
    data = tree(tmp_path / "data", a=shots[0], b=shots[1])
    (data / "a" / "dangling.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (data / "b" / "circle.jpg").symlink_to("circle.jpg")
    monkeypatch.setattr(double_jpeg, "QUICK_QUALITIES", (95,))
    monkeypatch.setattr(_photo_level, "COMPARED", _photo_level.COMPARED[:2])
    context = Context(Study(tmp_path / "study"), quick=True, data=data, workers=1, repeats=1)
    double_jpeg.run(context)
    result = json.loads(json.dumps(double_jpeg.score(context.study, context)))
    assert result["set"]["title"] == "real photographs, 2 cameras, 22 files"
    assert 0 < result["set"]["photos"]["good"] <= 20


def test_what_an_interrupted_run_left_of_other_files_is_not_taken(tmp_path, shots, monkeypatch):
    """One file more, and each number stands for another file; one changed, and its copy is old."""
    first = tree(tmp_path / "data", a=shots[0][:3])
    context, seen = Context(Study(tmp_path / "study"), workers=1), []

    def interrupted(_context, photos, work, _setting):
        seen.append([(work / f"photos/{k:06d}.jpg").read_bytes() for k in range(len(photos.files))])
        raise KeyboardInterrupt

    def look(quality):
        files = tuple(sorted(first.rglob("*.jpg")))
        photos = PhotoSet("real", "real", files, ("a",) * len(files))
        with pytest.raises(KeyboardInterrupt):
            correlations.correlate_photos(context, photos, quality, [512])
        return files, seen[-1]

    monkeypatch.setattr(correlations, "_correlate", interrupted)
    look(None)
    old = look(70)[1]
    (first / "a" / "00.jpg").write_bytes(shots[1][0].read_bytes())
    files, links = look(None)
    assert links == [file.read_bytes() for file in files]
    copies = look(70)[1]
    assert copies[0] == old[0]
    assert copies[1] not in old
    assert copies[2:] == old[1:]
    files[0].write_bytes(files[1].read_bytes())
    assert look(70)[1][0] == copies[1]


def test_a_picture_beyond_all_bounds_has_no_known_size(tmp_path, monkeypatch):
    Image.new("L", (600, 900)).save(tmp_path / "a.png")
    assert sets.photo_size(tmp_path / "a.png") == (600, 900)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    assert sets.photo_size(tmp_path / "a.png") == (0, 0)
    unknown = sets.PhotoSet("real", "real", (tmp_path / "a.png",), ("a",))
    assert sets.allowed_sides(unknown, (256, 512, 768)) == [256, 512]


def test_photos_of_a_study_that_another_process_holds_are_left_alone(tmp_path, shots, monkeypatch):
    data = tree(tmp_path / "data", a=shots[0], b=shots[1])
    study = Study(tmp_path / "study")

    def refuse(_self):
        raise SamecamError("in use")

    monkeypatch.setattr(Study, "hold", refuse)
    photos = PhotoSet("real", "real", tuple(sorted(data.rglob("*.jpg"))), ("a",) * 20)
    for quality in (None, 70):
        with pytest.raises(SamecamError, match="in use"):
            correlations.correlate_photos(Context(study, workers=1), photos, quality, [512])
    with pytest.raises(SamecamError, match="in use"):
        sets.simulated(Context(study, quick=True, workers=1))
    assert not study.folder.exists()


def test_squares_that_are_all_weak_are_an_error(tmp_path, monkeypatch):
    from samecam.experiments import _hyper_sets

    monkeypatch.setattr(correlations, "correlate_photos", lambda *_: None)
    study = Study(tmp_path / "study")
    arrays = {"gram": np.eye(3), "rows": np.arange(3), "weak": np.array([True, False, True])}
    study.run(f"real/{Setting(None, 256).key}/correlations", lambda: Run(arrays, {}))
    photos = PhotoSet("real", "real", (tmp_path,) * 3, ("a", "a", "b"))
    with pytest.raises(SamecamError, match="1 of 3 squares of 256 pixels in '[^']*data'"):
        _hyper_sets.real_set(Context(study, data=tmp_path / "data"), photos, 256)
