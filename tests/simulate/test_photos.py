"""Photograph files and their truth."""

import csv
import io
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from PIL import ExifTags, Image

from samecam.errors import SamecamError
from samecam.simulate import _photos, _plan, simulate_photos
from samecam.simulate._arguments import Arguments
from samecam.simulate._exposure import Kind

NOTHING_ADDED = dict.fromkeys(
    ("outliers", "thumbnails", "bright_corners", "letterbox", "screenshots", "odd_sizes"), 0
)
SMALL = {"cameras": 3, "images": 4, "size": (96, 80), "workers": 1}


def _files(folder):
    return {p.name: p.read_bytes() for p in sorted((folder / "images").iterdir())}


def _truth(folder):
    with open(folder / "truth.csv", newline="") as file:
        return {row["path"]: row["camera"] for row in csv.DictReader(file)}


def _planned(**asked):
    """The photos of a plan without additions."""
    rest = {"sizes": ((200, 150),), "quality": (85, 98), "recompress": None, **NOTHING_ADDED}
    return _plan.draw_plan(Arguments(**rest, **asked))[0]


def _table_qualities():
    """Which JPEG quality a luminance table belongs to."""
    qualities = {}
    for quality in range(1, 101):
        buffer = io.BytesIO()
        Image.new("RGB", (16, 16)).save(buffer, "JPEG", quality=quality)
        qualities[tuple(Image.open(buffer).quantization[0])] = quality
    return qualities


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small") / "collection"
    simulate_photos(folder, outliers=2, seed=7, **SMALL)
    return folder


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """300 photos in 10 cameras, enough to count kinds."""
    folder = tmp_path_factory.mktemp("many") / "collection"
    simulate_photos(folder, cameras=10, images=30, size=(200, 150), seed=1, workers=1)
    return folder


def test_same_seed_same_bytes_for_any_number_of_workers(small, tmp_path):
    simulate_photos(tmp_path, outliers=2, seed=7, **(SMALL | {"workers": 2}))
    assert _files(tmp_path) == _files(small)
    assert (tmp_path / "truth.csv").read_bytes() == (small / "truth.csv").read_bytes()


def test_batches_do_not_matter(small, tmp_path, monkeypatch):
    monkeypatch.setattr(_plan, "_BATCH", 3)
    simulate_photos(tmp_path, outliers=2, seed=7, **SMALL)
    assert _files(tmp_path) == _files(small)


def test_another_seed_gives_other_photos(small, tmp_path):
    simulate_photos(tmp_path, outliers=2, seed=8, **SMALL)
    other = _files(tmp_path)
    assert other.keys() == _files(small).keys()
    assert all(other[name] != data for name, data in _files(small).items())


def test_every_photo_is_different(many):
    assert len(set(_files(many).values())) == 300


def test_truth_lists_exactly_the_files_sorted(small):
    data = (small / "truth.csv").read_bytes()
    assert data.startswith(b"path,camera\n")
    assert b"\r" not in data
    truth = _truth(small)
    assert list(truth) == sorted(truth)
    assert list(truth) == [f"images/IMG_{k:05}.jpg" for k in range(1, 15)]
    assert {p.relative_to(small).as_posix() for p in small.rglob("*") if p.is_file()} == {
        *truth,
        "truth.csv",
        "simulation.json",
    }


def test_outliers_took_one_photo_each(small):
    counts = Counter(_truth(small).values())
    assert counts == {
        "camera_001": 4,
        "camera_002": 4,
        "camera_003": 4,
        "outlier_001": 1,
        "outlier_002": 1,
    }


def test_names_and_times_do_not_reveal_the_camera(many):
    truth = _truth(many)
    cameras = list(truth.values())
    neighbours = np.mean([a == b for a, b in pairwise(cameras)])
    assert neighbours < 0.2
    by_time = sorted(truth, key=lambda path: (many / path).stat().st_mtime_ns)
    cameras = [truth[path] for path in by_time]
    assert np.mean([a == b for a, b in pairwise(cameras)]) < 0.2


def test_exif_tells_camera_and_time(small):
    serials, models = {}, {}
    for path, camera in _truth(small).items():
        with Image.open(small / path) as picture:
            exif = picture.getexif()
        detail = exif.get_ifd(ExifTags.IFD.Exif)
        assert exif[ExifTags.Base.Make]
        assert exif[ExifTags.Base.Software].startswith(exif[ExifTags.Base.Make])
        assert exif[ExifTags.Base.Orientation] in (1, 3, 6, 8)
        taken = datetime.strptime(detail[ExifTags.Base.DateTimeOriginal], "%Y:%m:%d %H:%M:%S")
        assert 2019 <= taken.year < 2024
        assert (small / path).stat().st_mtime == taken.replace(tzinfo=UTC).timestamp()
        serials.setdefault(camera, set()).add(detail[ExifTags.Base.BodySerialNumber])
        models.setdefault(camera, set()).add(exif[ExifTags.Base.Model])
    assert all(len(result) == 1 for result in serials.values())
    assert len(set.union(*serials.values())) == 5
    assert all(len(result) == 1 for result in models.values())


@pytest.mark.parametrize(("models", "expected"), [(None, 3), (1, 1), (6, 6)])
def test_number_of_models(tmp_path, models, expected):
    simulate_photos(tmp_path, cameras=6, images=1, models=models, size=(64, 64), workers=1)
    result = set()
    for path in (tmp_path / "images").iterdir():
        with Image.open(path) as picture:
            result.add(picture.getexif()[ExifTags.Base.Model])
    assert len(result) == expected


def test_qualities_stay_in_the_range_and_subsampling_is_mostly_420(many):
    by_table = _table_qualities()
    qualities, layouts = [], Counter()
    for path in _truth(many):
        with Image.open(many / path) as picture:
            qualities.append(by_table[tuple(picture.quantization[0])])
            layouts[picture.layer[0][1:3]] += 1
    assert min(qualities) >= 85
    assert max(qualities) <= 98
    assert len(set(qualities)) > 8
    assert layouts[(2, 2)] > 150


def test_recompression_saves_the_same_photo_a_second_time(small, tmp_path):
    simulate_photos(tmp_path, outliers=2, seed=7, recompress=60, **SMALL)
    for name, data in _files(small).items():
        with Image.open(io.BytesIO(data)) as first:
            buffer = io.BytesIO()
            first.save(buffer, "JPEG", quality=60, subsampling=2, exif=first.info["exif"])
        assert (tmp_path / "images" / name).read_bytes() == buffer.getvalue()


def test_dark_over_exposed_and_white_photos_have_their_shares(many):
    plan = _planned(seed=1, cameras=10, images=30, models=5)
    kinds = Counter(photo.kind for photo in plan)
    assert abs(kinds[Kind.DARK] - 30) <= 3
    assert abs(kinds[Kind.OVEREXPOSED] - 21) <= 3
    assert 1 <= kinds[Kind.WHITE] <= 2
    assert [photo.camera.name for photo in plan] == [
        _truth(many)[f"images/{photo.name}"] for photo in plan
    ]
    stray_dark = stray_bright = 0
    for photo in plan:
        with Image.open(many / "images" / photo.name) as picture:
            level = np.asarray(picture).mean(axis=2)
        dark, bright = np.mean(level <= 80), np.mean(level >= 250)
        if photo.kind is Kind.DARK:
            assert dark > 0.75
        elif photo.kind is Kind.OVEREXPOSED:
            assert 0.3 <= bright <= 0.9
        elif photo.kind is Kind.WHITE:
            assert level.min() == 255
        else:
            stray_dark += dark > 0.75
            stray_bright += bright > 0.3
    assert stray_dark <= 12
    assert stray_bright == 0


def test_over_exposure_is_set_in_the_top_left_corner(tmp_path):
    simulate_photos(tmp_path, cameras=1, images=30, size=(1100, 560), seed=3, workers=1)
    shares = []
    for photo in _planned(seed=3, cameras=1, images=30, models=1):
        if photo.kind is Kind.OVEREXPOSED:
            with Image.open(tmp_path / "images" / photo.name) as picture:
                level = np.asarray(picture.crop((0, 0, 512, 512))).mean(axis=2)
            shares.append(np.mean(level >= 250))
    assert len(shares) >= 2
    assert all(0.3 <= share <= 0.9 for share in shares)


@pytest.mark.parametrize("size", [(97, 65), (64, 64), (161, 90)])
def test_odd_sizes(tmp_path, size):
    simulate_photos(tmp_path, cameras=1, images=2, size=size, workers=1)
    for path in (tmp_path / "images").iterdir():
        with Image.open(path) as picture:
            assert picture.size == size
            assert picture.mode == "RGB"


def test_progress_counts_up_to_the_total(tmp_path):
    calls = []
    result = simulate_photos(tmp_path, progress=lambda *call: calls.append(call), **SMALL)
    assert calls == [(4, 12), (8, 12), (12, 12)]
    assert result == tmp_path / "truth.csv"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failing_disk_is_an_error_for_the_user(tmp_path, workers, monkeypatch):
    monkeypatch.setattr(_photos, "_prepare", lambda *_: None)
    with pytest.raises(SamecamError, match=r"jpg' cannot be written: No such file or directory\.$"):
        simulate_photos(tmp_path / "new", **(SMALL | {"workers": workers}))


def test_a_failing_progress_is_not_blamed_on_the_disk(tmp_path):
    def progress(*_):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        simulate_photos(tmp_path, progress=progress, **SMALL)


def test_a_folder_in_use_is_refused_and_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(SamecamError, match=r"not an empty folder: choose a new one"):
        simulate_photos(tmp_path, **SMALL)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(SamecamError, match=r"mine\.txt exists and is not an empty folder"):
        simulate_photos(tmp_path / "mine.txt", **SMALL)
    with pytest.raises(SamecamError, match=r"cannot be written to .*choose another folder"):
        simulate_photos(tmp_path / "mine.txt" / "below", **SMALL)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"cameras": 0}, "cameras is 0"),
        ({"images": 0}, "images is 0"),
        ({"models": 0}, "models is 0"),
        ({"models": 4}, "models is 4"),
        ({"outliers": -1}, "outliers is -1"),
        ({"size": (63, 100)}, "size is 63x100"),
        ({"size": [(100, 100), (100, 63)], "models": 2}, "size is 100x63"),
        ({"size": [(99, 99), (98, 98)], "models": 1}, "size is given 2 times for 1 model"),
        ({"size": [(99, 99)] * 4}, "size is given 4 times for 3 models"),
        ({"size": []}, "size is empty"),
        ({"thumbnails": -1}, "thumbnails is -1"),
        ({"thumbnails": 13}, "thumbnails is 13"),
        ({"bright_corners": -1}, "bright_corners is -1"),
        ({"letterbox": -1}, "letterbox is -1"),
        ({"screenshots": -1}, "screenshots is -1"),
        ({"odd_sizes": -1}, "odd_sizes is -1"),
        ({"quality": (0, 90)}, "quality is 0 to 90"),
        ({"quality": (90, 101)}, "quality is 90 to 101"),
        ({"quality": (95, 90)}, "quality is 95 to 90"),
        ({"recompress": 0}, "recompress is 0"),
        ({"recompress": 101}, "recompress is 101"),
        ({"seed": -1}, "seed is -1"),
        ({"workers": 0}, "workers is 0"),
    ],
)
def test_bad_arguments_are_named_and_nothing_is_written(tmp_path, argument, words):
    with pytest.raises(SamecamError, match=f"^{words}: give [^\n]*\\.$"):
        simulate_photos(tmp_path / "new", **(SMALL | argument))
    assert not (tmp_path / "new").exists()


def test_import_is_light():
    code = (
        "import sys, samecam.simulate;"
        "heavy = {'scipy', 'numba', 'sklearn', 'samecam.fingerprint'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_simulation_that_was_killed_at_once_or_at_the_end_is_the_same(tmp_path, small):
    """Killed before anything tells what it was begun with, and after all is there."""
    (tmp_path / "images").mkdir()
    (tmp_path / f".samecam-{'0' * 24}.part").write_text("{")
    for _ in range(2):
        simulate_photos(tmp_path, outliers=2, seed=7, **SMALL)
        for path in small.rglob("*.*"):
            assert (tmp_path / path.relative_to(small)).read_bytes() == path.read_bytes()
    assert len(list(tmp_path.iterdir())) == len(list(small.iterdir()))


def test_an_unfinished_simulation_is_gone_on_with(tmp_path, small):
    shutil.copytree(small, tmp_path / "half")
    half = tmp_path / "half"
    (half / "truth.csv").unlink()
    for path in sorted((half / "images").iterdir())[::2]:
        path.unlink()
    kept = {p.name: p.stat().st_ino for p in (half / "images").iterdir()}
    with pytest.raises(SamecamError, match="not an empty folder"):
        simulate_photos(half, outliers=2, seed=99, **SMALL)
    simulate_photos(half, outliers=2, seed=7, **SMALL)
    for path in small.rglob("*.*"):
        assert (half / path.relative_to(small)).read_bytes() == path.read_bytes()
    assert all((half / "images" / name).stat().st_ino == ino for name, ino in kept.items())


def end_at_once(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_is_a_sentence(tmp_path, small, monkeypatch):
    asked = {**SMALL, "outliers": 2, "seed": 7, "workers": 2}
    with monkeypatch.context() as patch:
        patch.setattr(_photos, "_make_batch", end_at_once)
        with pytest.raises(SamecamError, match=r"was ended \(SIGKILL\).* goes on; .*--workers"):
            simulate_photos(tmp_path / "out", **asked)
    simulate_photos(tmp_path / "out", **asked)
    for path in small.rglob("*.*"):
        if path.name != "simulation.json":
            assert (tmp_path / "out" / path.relative_to(small)).read_bytes() == path.read_bytes()
