"""Photos of one sensor in several views: files, EXIF, truth."""

import csv
import json
import shutil
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import ExifTags, Image
from scipy.ndimage import map_coordinates, uniform_filter

from samecam.cli import cli
from samecam.errors import ParameterError, SamecamError
from samecam.frames import Frame
from samecam.metrics import read_truth
from samecam.register import View
from samecam.simulate import MESSENGERS, Views, _camera, _plan, simulate_photos
from samecam.simulate._arguments import Arguments
from samecam.simulate._taken import draw_lens, sensor_size

SMALL = {"cameras": 2, "images": 8, "outliers": 2, "size": (160, 120), "seed": 3, "workers": 1}
MIXED = Views(zoom=0.4, wide=0.3, turned=0.3, mirrored=0.3, messenger=0.4, cropped=0.3, lens=True)
SIZE = (320, 240)


def files(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def truth(folder):
    with open(folder / "truth.csv", newline="") as file:
        return list(csv.DictReader(file))


def exif(folder, path):
    with Image.open(folder / path) as picture:
        tags = picture.getexif()
        return tags, tags.get_ifd(ExifTags.IFD.Exif), picture.size


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain") / "photos"
    simulate_photos(folder, **SMALL)
    return folder


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed") / "photos"
    simulate_photos(folder, views=MIXED, **SMALL)
    return folder


def test_without_views_nothing_tells_of_them(plain, tmp_path):
    simulate_photos(tmp_path, views=Views(), **SMALL)
    assert files(tmp_path) == files(plain)
    assert (plain / "truth.csv").read_text().startswith("path,camera\nimages/IMG_00001.jpg,camera_")
    assert "views" not in json.loads((plain / "simulation.json").read_text())
    for row in truth(plain):
        _, detail, size = exif(plain, row["path"])
        assert size == (160, 120)
        assert not {ExifTags.Base.DigitalZoomRatio, ExifTags.Base.FocalLength} & set(detail)


def test_same_bytes_for_any_number_of_workers_and_after_a_stop(mixed, tmp_path):
    half = tmp_path / "half"
    shutil.copytree(mixed, half)
    (half / "truth.csv").unlink()
    for path in sorted((half / "images").iterdir())[::2]:
        path.unlink()
    with pytest.raises(SamecamError, match="not an empty folder"):
        simulate_photos(half, **SMALL)
    simulate_photos(half, views=MIXED, **(SMALL | {"workers": 2}))
    assert files(half) == files(mixed)


def test_another_seed_gives_other_views(mixed, tmp_path):
    simulate_photos(tmp_path, views=MIXED, **(SMALL | {"seed": 4}))
    assert {row["scale"] for row in truth(tmp_path)} != {row["scale"] for row in truth(mixed)}


def test_readers_of_the_truth_read_it_as_before(mixed, plain):
    assert read_truth(mixed / "truth.csv") == read_truth(plain / "truth.csv")


def planned_arguments(**asked):
    nothing = dict.fromkeys(
        ("outliers", "thumbnails", "bright_corners", "letterbox", "screenshots", "odd_sizes"), 0
    )
    given = {"sizes": ((400, 300),), "quality": (85, 98), "recompress": None, "seed": 0}
    given |= dict.fromkeys(("cameras", "images", "models"), 1)
    return Arguments(**{**nothing, **given, **asked})


def planned(views, **asked):
    return _plan.draw_plan(planned_arguments(**asked, views=views))[0]


def test_shares_are_kept_in_every_camera():
    views = Views(zoom=1 / 3, wide=1 / 3, turned=0.2, mirrored=0.1, messenger=0.3, cropped=0.2)
    photos = planned(views, cameras=10, images=30, models=5)
    for camera in range(10):
        taken = [photo.taken for photo in photos if photo.camera.number == camera]
        kinds = Counter(one.view for one in taken)
        assert all(8 <= kinds[kind] <= 12 for kind in ("plain", "zoom", "wide"))
        assert 4 <= sum(one.look.turn != 0 for one in taken) <= 8
        assert 1 <= sum(one.look.mirrored for one in taken) <= 5
        assert 7 <= sum(one.copy in MESSENGERS for one in taken) <= 11
        assert 4 <= sum(one.copy == "crop" for one in taken) <= 8
    zooms = [photo.taken.zoom for photo in photos if photo.taken.view == "zoom"]
    assert min(zooms) >= 1.3
    assert max(zooms) <= 4
    assert 0.3 < np.mean(np.array(zooms) == 2) < 0.7
    assert {photo.taken.look.size for photo in photos} == {
        (400, 300),
        (400, 226),
        (300, 400),
        (226, 400),
    }
    assert {photo.taken.copy for photo in photos} == {"", "crop", *MESSENGERS}


def test_one_kind_of_view_changes_nothing_about_the_others():
    given = {"cameras": 3, "images": 20, "models": 1}
    less = planned(Views(zoom=0.4), **given)
    more = planned(Views(zoom=0.4, wide=0.3, turned=0.5, messenger=0.5), **given)
    for a, b in zip(less, more, strict=True):
        assert (a.taken.zoom, a.name, a.kind, a.scene) == (b.taken.zoom, b.name, b.kind, b.scene)


def test_lenses_differ_by_focal_length_and_stay_within_the_sensor():
    for model in range(20):
        lens = draw_lens(0, model)
        assert len({focus.length for focus in lens}) == 3
        scales = sorted(focus.scale for focus in lens)
        assert 0.985 <= scales[0] < scales[1] < scales[2] <= 1.004
        for focus in lens:
            for size in (SIZE, (4000, 3000)):
                view = View(scale=focus.scale, radial=focus.radial)
                corner = view.points(np.zeros((1, 2)), Frame(*size), Frame(*size))[0]
                margin = (np.array(sensor_size(size, Views(lens=True))) - size) / 2
                assert (corner + margin > 1).all()


def test_exif_tells_zoom_and_focal_length_and_that_the_picture_is_upright(tmp_path):
    views = Views(zoom=0.5, turned=0.5, lens=True)
    simulate_photos(tmp_path, views=views, **SMALL)
    lengths = {}
    for row in truth(tmp_path):
        tags, detail, size = exif(tmp_path, row["path"])
        assert float(detail[ExifTags.Base.DigitalZoomRatio]) == float(row["zoom"])
        assert float(detail[ExifTags.Base.FocalLength]) == float(row["focal_length"])
        assert (row["zoom"] == "1") == (row["view"] == "plain")
        lengths.setdefault(row["camera"], set()).add(row["focal_length"])
        if row["turn"] != "0":
            assert tags[ExifTags.Base.Orientation] == 1
        assert size == ((120, 160) if row["turn"] in ("90", "270") else (160, 120))
    assert max(map(len, lengths.values())) == 3


def test_copies_lose_their_exif_and_crops_every_second_time(mixed):
    kept = Counter()
    for row in truth(mixed):
        tags, _, _ = exif(mixed, row["path"])
        kept[row["copy"] if row["copy"] in ("", "crop") else "sent", bool(tags)] += 1
    assert set(kept) == {("", True), ("crop", True), ("crop", False), ("sent", False)}


def test_no_exif_at_all(tmp_path):
    simulate_photos(tmp_path, views=Views(zoom=0.5, cropped=0.4, exif=False), **SMALL)
    for row in truth(tmp_path):
        assert not exif(tmp_path, row["path"])[0]


def test_originals_are_kept_beside_their_copies(tmp_path):
    alone, both = tmp_path / "alone", tmp_path / "both"
    shares = {"messenger": 0.4, "cropped": 0.3}
    calls = []
    simulate_photos(alone, views=Views(**shares), **SMALL)
    simulate_photos(
        both, views=Views(**shares, beside=True), progress=lambda *c: calls.append(c), **SMALL
    )
    copies = {row["copy_of"]: row for row in truth(both) if row["copy_of"]}
    sent = {row["path"]: row for row in truth(alone) if row["copy"]}
    assert copies.keys() == sent.keys()
    assert len(copies) > 8
    assert calls[-1] == (18 + len(copies),) * 2
    for path, row in copies.items():
        assert row["path"] == path.replace(".jpg", "_copy.jpg")
        assert (both / row["path"]).read_bytes() == (alone / path).read_bytes()
        assert {**row, "path": path, "copy_of": ""} == sent[path]
        assert exif(both, path)[0]


def residual(path):
    with Image.open(path) as picture:
        gray = np.asarray(picture.convert("L"), float)
    rest = np.clip(gray - uniform_filter(gray, 3), -8, 8)
    return rest - rest.mean(), gray


def chance(path, row, pattern, scale=1.0):
    """Correlation of a photo with the sensor where its view says, in units of chance."""
    rest, gray = residual(path)
    height, width = rest.shape
    view = View(
        int(row["turn"]),
        row["mirrored"] == "1",
        float(row["scale"]) * scale,
        float(row["radial"]),
        (float(row["shift_x"]), float(row["shift_y"])),
    )
    y, x = np.mgrid[:height, :width]
    at = view.points(np.stack([x.ravel(), y.ravel()], axis=1), Frame(width, height), Frame(*SIZE))
    margin = np.array([pattern.shape[1] - SIZE[0], pattern.shape[0] - SIZE[1]]) / 2
    there = map_coordinates(pattern, (at + margin).T[::-1], order=1).reshape(rest.shape) * gray
    there -= uniform_filter(there, 3)
    return float(np.corrcoef(rest.ravel(), there.ravel())[0, 1] * rest.size**0.5)


@pytest.mark.parametrize(
    "views",
    [
        Views(zoom=1.0, max_zoom=1.9),
        Views(wide=1.0),
        Views(turned=1.0, mirrored=0.5),
        Views(lens=True),
        Views(cropped=1.0),
        Views(messenger=1.0, turned=0.5),
        Views(zoom=0.5, wide=0.5, turned=0.5, mirrored=0.5, lens=True),
    ],
    ids=lambda views: ",".join(k for k, v in vars(views).items() if v and k[:3] not in "maxexif"),
)
def test_the_pattern_of_the_sensor_lies_where_the_truth_says(views, tmp_path):
    """Through scene, noise, colour and JPEG."""
    given = {"cameras": 1, "images": 6, "models": 1, "quality": (95, 98), "workers": 1}
    simulate_photos(tmp_path, size=SIZE, views=views, **given)
    camera = _camera.draw_cameras(0, 1, 1, 0)[0]
    width, height = sensor_size(SIZE, views)
    pattern = _camera.pattern(0, camera, height, width).astype(float)
    rows = truth(tmp_path)
    right, wrong = (
        np.sum([chance(tmp_path / row["path"], row, pattern, scale) for row in rows]) / 6**0.5
        for scale in (1.0, 1.04)
    )
    assert right > 8
    assert abs(wrong) < 0.5 * right
    assert abs(wrong) < 5


@pytest.mark.parametrize(
    ("views", "words"),
    [
        (Views(zoom=1.1), "zoom is 1.1: give a share"),
        (Views(turned=-0.1), "turned is -0.1: give a share"),
        (Views(messenger=float("nan")), "messenger is nan: give a share"),
        (Views(zoom=0.6, wide=0.5), "wide is 0.5: give at most 0.4"),
        (Views(messenger=0.6, cropped=0.5), "cropped is 0.5: give at most 0.4"),
        (Views(max_zoom=7), "max_zoom is 7: give 1.3 to 6"),
        (Views(max_zoom=1.2), "max_zoom is 1.2: give 1.3 to 6"),
    ],
)
def test_bad_views_are_named_and_nothing_is_written(tmp_path, views, words):
    with pytest.raises(SamecamError, match=f"^{words}[^\n]*\\.$"):
        simulate_photos(tmp_path / "new", views=views, **SMALL)
    assert not (tmp_path / "new").exists()


def test_frames_that_are_wide_already_are_refused(tmp_path):
    with pytest.raises(SamecamError, match=r"^wide is 0.5: give 0, for photos of 160x90 pixels"):
        simulate_photos(tmp_path, views=Views(wide=0.5), **(SMALL | {"size": (160, 90)}))


def test_the_command_makes_the_same(mixed, tmp_path):
    words = ["simulate", "-o", str(tmp_path), "--cameras", "2", "--images", "8", "--outliers", "2"]
    words += ["--size", "160x120", "--seed", "3", "--workers", "1", "--zoom", ".4", "--wide", ".3"]
    words += ["--turned", ".3", "--mirrored", ".3", "--messenger", ".4", "--cropped", ".3"]
    result = CliRunner().invoke(cli, [*words, "--lens"])
    assert result.exit_code == 0, result.output
    assert files(tmp_path) == files(mixed)
    assert "18 photos in" in result.output


def test_the_command_counts_copies_beside_and_names_a_bad_share(tmp_path):
    words = ["simulate", "-o", str(tmp_path), "--cameras", "1", "--images", "4", "--size", "96x80"]
    words += ["--workers", "1", "--json", "-q", "--no-exif", "--beside", "--messenger", "1"]
    result = CliRunner().invoke(cli, words)
    assert json.loads(result.output)["photos"] == 8
    assert not exif(tmp_path, "images/IMG_00001.jpg")[0]
    result = CliRunner().invoke(cli, [*words, "--cropped", "2"])
    assert result.exit_code == 2
    assert "'2' is not a share from 0 to 1" in result.output


def test_a_pattern_with_crosstalk_is_smooth_and_as_strong():
    camera = _camera.draw_cameras(0, 1, 1, 0)[0]
    white, smooth = (_camera.pattern(0, camera, 200, 300, blur) for blur in (0.0, 0.6))
    assert smooth.std() == pytest.approx(white.std(), rel=0.02)
    beside = [
        np.corrcoef(some[:, 1:].ravel(), some[:, :-1].ravel())[0, 1] for some in (white, smooth)
    ]
    assert abs(beside[0]) < 0.02
    assert 0.4 < beside[1] < 0.6  # exp(−1/(4 · .6²)) = .5
    assert "crosstalk" not in planned_arguments().as_json()
    assert planned_arguments(crosstalk=0.6).as_json()["crosstalk"] == 0.6


@pytest.mark.parametrize("crosstalk", [-0.1, 3.5, float("nan")])
def test_crosstalk_that_cannot_be_is_refused(crosstalk):
    with pytest.raises(ParameterError, match="give 0 to 3 pixels"):
        planned_arguments(crosstalk=crosstalk).check()
