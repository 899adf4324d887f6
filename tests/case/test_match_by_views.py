"""Which camera took it, where the photo sees it in another way: zoomed, turned, reduced."""

import csv
import json
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image, ImageOps

from samecam import Resources, cluster_photos
from samecam.case import ClusteringSettings, ExtractionSettings, match_photos, open_case
from samecam.case.matching import _views
from samecam.cli import cli
from samecam.errors import SamecamError
from samecam.simulate import simulate_photos
from tests.case.worlds import tree
from tests.once import made_once
from tests.photos.pictures import encode, scene

WIDTH, HEIGHT = SIZE = (960, 720)
ONE = Resources(workers=1)
ZOOM = (0x8769, 0xA404)


@dataclass(frozen=True)
class Known:
    """A case of two cameras, a photo of each that is not in it, and one of a third camera."""

    root: Path
    case: Path
    own: list[Path]
    groups: list[int]
    stranger: Path


def take_photos(folder):
    given = {"cameras": 3, "models": 3, "images": 7, "quality": (95, 98), "seed": 1}
    simulate_photos(folder, size=SIZE, workers=1, **given)


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    root = tmp_path_factory.mktemp("views")
    taken = made_once(tmp_path_factory, "photos to be matched by views", take_photos)
    photos = {}
    with open(taken / "truth.csv", newline="") as stream:
        for row in csv.DictReader(stream):
            photos.setdefault(row["camera"], []).append(taken / row["path"])
    first, second, third = (photos[camera] for camera in sorted(photos))
    (root / "in").mkdir()
    for file in first[1:] + second[1:]:
        shutil.copy(file, root / "in")
    plain = ClusteringSettings(search="off")
    made = cluster_photos(root / "in", root / "case", clustering=plain, resources=ONE)
    groups = {path: group.id for group in made.groups for path in group.paths}
    numbers = [groups[some[1].name] for some in (first, second)]
    assert sorted(numbers) == [0, 1]
    return Known(root, made.case, [first[0], second[0]], numbers, third[1])


def zoomed(photo, target):
    """The middle, enlarged 1.5 times, as EXIF says."""
    exif = Image.Exif()
    exif.get_ifd(ZOOM[0])[ZOOM[1]] = 1.5
    middle = photo.crop((WIDTH // 6, HEIGHT // 6, WIDTH - WIDTH // 6, HEIGHT - HEIGHT // 6))
    middle.resize(SIZE, Image.Resampling.BICUBIC).save(target, quality=97, exif=exif)


def reduced(photo, target):
    """A smaller copy, turned clockwise by a quarter."""
    smaller = photo.resize((WIDTH * 4 // 5, HEIGHT * 4 // 5), Image.Resampling.LANCZOS)
    smaller.transpose(Image.Transpose.ROTATE_270).save(target, quality=95)


def mirrored(photo, target):
    ImageOps.mirror(photo).save(target, quality=97)


# What is made of a photo, how it then sees the camera, and that in words.
MADE = {
    "zoomed": (zoomed, (0, False, 1.5), "1.5× zoom"),
    "reduced": (reduced, (90, False, 0.8), "768-pixel copies, turned by 90°"),
    "mirrored": (mirrored, (0, True, 1.0), "mirrored"),
}


ASKED = {"a": ("zoomed", "reduced", "mirrored"), "b": ("zoomed", "reduced")}
STRANGERS = ("zoomed", "reduced")


@pytest.fixture(scope="module")
def asked(known):
    """Photos in question: of both cameras, and of the stranger."""
    folder = known.root / "asked"
    folder.mkdir()
    kinds = {**ASKED, "s": STRANGERS}
    for name, file in zip("abs", [*known.own, known.stranger], strict=True):
        with Image.open(file) as photo:
            for kind in kinds[name]:
                MADE[kind][0](photo, folder / f"{name}-{kind}.jpg")
    return folder


@pytest.fixture(scope="module")
def matches(known, asked):
    made = match_photos(known.case, asked, resources=ONE)
    return {Path(match.path).stem: match for match in made.photos}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, kinds in ASKED.items() for kind in kinds]
)
def test_a_photo_goes_to_the_camera_that_it_sees(known, matches, name, kind):
    match, camera = matches[f"{name}-{kind}"], "ab".index(name)
    (turn, flipped, scale), words = MADE[kind][1:]
    assert (match.verdict, match.group, match.camera) == ("match", *2 * [known.groups[camera]])
    assert (match.seen.words, match.by_views) == (words, 2)
    view = match.seen.view
    assert (view.turn, view.mirrored) == (turn, flipped)
    assert view.scale == pytest.approx(scale, rel=2e-3)
    assert max(map(abs, view.shift)) < 1
    assert view.score > 6
    assert match.adjusted == view.rate < 0.01
    assert 0.2 * WIDTH * HEIGHT < view.area <= WIDTH * HEIGHT


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_photo_of_another_camera_goes_to_none(matches, kind):
    match = matches[f"s-{kind}"]
    assert (match.verdict, match.group, match.seen, match.by_views) == ("none", None, None, 2)
    if kind == "reduced":
        assert match.best is None
        assert match.reason == (
            "no group has photos of 576×768 pixels, nor of 768×576: they have 960×720; compared "
            "with 2 cameras by views, none fits"
        )
    else:
        assert match.best is not None


def test_neither_company_nor_memory_changes_anything_and_nothing_is_written(known, asked, matches):
    before = tree(known.case)
    little = Resources(workers=1, memory=2**24)
    (match,) = match_photos(known.case, asked / "b-zoomed.jpg", resources=little).photos
    other = matches["b-zoomed"]
    assert (match.seen, match.best, match.reason) == (other.seen, other.best, other.reason)
    assert tree(known.case) == before


def test_without_a_search_there_are_no_views(known, asked):
    made = match_photos(known.case, asked, search="off", resources=ONE)
    assert {match.verdict for match in made.photos} == {"none"}
    assert {(match.seen, match.by_views) for match in made.photos} == {(None, 0)}
    lacking = [match.reason for match in made.photos if match.best is None]
    assert lacking == 3 * [
        "no group has photos of 576×768 pixels, nor of 768×576: they have 960×720"
    ]


def test_a_photo_of_the_case_itself_is_not_looked_for_in_its_own_sum(known):
    """Left out of its group it may match none; with itself it would always fit."""
    path = open_case(known.case).groups[0].paths[0]
    (own,) = match_photos(known.case, known.root / "in" / path, rate=1e-300, resources=ONE).photos
    assert (own.known_group, own.verdict, own.seen, own.by_views) == (0, "none", None, 0)


def test_a_tiny_photo_is_said_to_be_too_small_for_views(known, tmp_path):
    (tmp_path / "tiny.png").write_bytes(encode(scene(1, 300, 200), "PNG"))
    (tiny,) = match_photos(known.case, tmp_path, resources=ONE).photos
    assert (tiny.verdict, tiny.by_views) == ("none", 0)
    assert tiny.reason.endswith("under 256 pixels wide or high it is too small for views")


def test_a_search_that_is_stopped_says_nothing_of_photos_it_did_not_place(
    known, asked, monkeypatch
):
    stop = threading.Event()
    monkeypatch.setattr(_views, "_AT_A_TIME", 1)
    placed = _views.CameraViews._placed

    def once(self, photos):
        stop.set()
        return placed(self, photos)

    monkeypatch.setattr(_views.CameraViews, "_placed", once)
    some = [asked / f"{name}-reduced.jpg" for name in "abs"]
    made = match_photos(known.case, some, resources=ONE, stop=stop)
    assert made.interrupted
    assert len(made.photos) <= 1


def test_words_and_json(known, asked, matches):
    words = ["match", str(known.case), str(asked / "a-reduced.jpg"), str(asked / "s-reduced.jpg")]
    seen, none = CliRunner().invoke(cli, words).stdout.splitlines()[:2]
    group = known.groups[0]
    assert f": camera {group}, group {group}: 768-pixel copies, turned by 90° (0.80×): " in seen
    assert "; chance does that anywhere in all that was searched in at most 1 in" in seen
    assert none.endswith("compared with 2 cameras by views, none fits.")
    first = json.loads(json.dumps(matches["a-reduced"].as_dict()))
    assert (first["verdict"], first["group"], first["camera"]) == ("match", group, group)
    assert set(first["seen"]) == {"camera", "group", "shares", "view", "words"}
    view = first["seen"]["view"]
    assert set(view) >= {"turn", "mirrored", "scale", "radial", "shift", "score", "rate", "area"}
    assert (view["turn"], view["mirrored"], first["adjusted"]) == (90, False, view["rate"])
    off = CliRunner().invoke(cli, [*words, "--search", "off"]).stdout
    assert "view" not in off


def test_squares_have_no_views(known, asked, tmp_path):
    case = tmp_path / "case"
    cluster_photos(known.root / "in", case, ExtractionSettings(size=256), resources=ONE)
    (match,) = match_photos(case, asked / "a-zoomed.jpg", resources=ONE).photos
    assert (match.verdict, match.by_views) == ("none", 0)
    with pytest.raises(SamecamError, match="'deep', and .* is of squares"):
        match_photos(case, asked / "a-zoomed.jpg", search="deep", resources=ONE)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--reference", "DIR", "x.jpg", "--search", "deep"], "--search is for a case"),
        (["CASE", "x.jpg", "--search", "far"], "'far' is not one of"),
    ],
)
def test_wrong_usage(words, message):
    result = CliRunner().invoke(cli, ["match", *words])
    assert result.exit_code == 2
    assert message in result.output
