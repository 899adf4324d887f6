"""Whether the camera at hand took it: its own photos frame by frame, outliers, other frames."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samecam import Resources
from samecam.case import ExtractionSettings, match_photos, match_reference
from samecam.case.matching._compare import compared
from samecam.case.matching._orientations import TurnTask, turn
from samecam.case.matching._reference import _Camera
from samecam.errors import SamecamError
from samecam.frames import Frame
from tests.case.worlds import other_photos, shared_world
from tests.photos.pictures import encode, scene


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory)


@pytest.fixture(scope="module")
def best(world):
    """The held photo that is most clearly of its camera."""
    held = match_photos(world.case, world.root / "held").photos
    return world.root / "held" / max(held, key=lambda m: m.best.score).path


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Photos of another frame, by two cameras: folders by their names."""
    root = tmp_path_factory.mktemp("small")
    shutil.copytree(other_photos(tmp_path_factory), root / "all")
    with open(root / "all" / "truth.csv", newline="") as stream:
        for row in csv.DictReader(stream):
            (root / row["camera"]).mkdir(exist_ok=True)
            shutil.move(root / "all" / row["path"], root / row["camera"])
    return root


def reference(world, folder, photo, count=8):
    """Photos by the camera of a photo."""
    folder.mkdir(exist_ok=True)
    group = world.result.groups[world.group_of(world.truth[photo.name])]
    for path in group.paths[:count]:
        shutil.copy(world.root / "kept" / path, folder / path)
    return folder


def test_a_picture_that_was_saved_again_counts_once(world, best, tmp_path):
    folder = reference(world, tmp_path / "reference", best, count=6)
    plain = match_reference(folder, [best, world.root / "strangers"])
    for path in sorted(folder.iterdir()):
        with Image.open(path) as picture:
            picture.save(folder / f"{path.stem} edit.jpg", quality=90)
    result = match_reference(folder, [best, world.root / "strangers"])
    (used,), (alone,) = result.frames, plain.frames
    assert (used.used, used.hashes, used.scores) == (alone.used, alone.hashes, alone.scores)
    copies = {o.path: o.reason for o in result.outliers}
    assert copies == {f"{Path(p).stem} edit.jpg": f"a copy of {p}" for p in used.used}
    assert [m.as_dict() for m in result.photos] == [m.as_dict() for m in plain.photos]
    # Of a photo of the reference, or its copy, the picture itself is left out.
    edit = folder / next(iter(copies))
    (again,) = match_reference(folder, [edit]).photos
    assert again.best.score < 2 * max(used.scores)
    assert again.known == result.frames[0].used[0]


@pytest.mark.parametrize(("size", "frame"), [(None, "512x384"), (256, "256x256")])
def test_a_reference_names_its_own_and_its_outliers(world, best, tmp_path, size, frame):
    folder = reference(world, tmp_path / "reference", best)
    stranger = sorted((world.root / "strangers").iterdir())[0]
    shutil.copy(stranger, folder / "alien.jpg")
    shutil.copy(sorted(folder.glob("IMG*"))[0], folder / "z twin.jpg")
    result = match_reference(folder, [best, world.root / "strangers"], size=size)
    (used,) = result.frames
    assert (used.frame, used.agrees) == (frame, True)
    assert used.agreement > 0.01
    reasons = {o.path: o.reason for o in result.outliers}
    assert "does not agree" in reasons["alien.jpg"]
    assert reasons["z twin.jpg"].startswith("same bytes as IMG_")
    assert "alien.jpg" not in result.used == used.used
    mine = next(m for m in result.matches.photos if m.path.endswith(best.name))
    assert (mine.verdict, mine.group, mine.frame) == ("match", None, frame)
    assert mine.comparisons == (2 if size is None else 4)
    assert mine.adjusted < 0.01
    assert mine.best.log10_lr > 2
    others = [m for m in result.matches.photos if m is not mine]
    assert len(others) == 17
    assert sum(m.verdict == "match" for m in others) <= 1
    alien = match_reference(folder, folder / "alien.jpg", size=size).matches.photos[0]
    assert (alien.known, alien.known_group, alien.verdict) == ("alien.jpg", -1, "none")
    told = json.loads(json.dumps(result.as_dict()))["reference"]
    assert told["size"] == size
    assert told["frames"][0]["used"] == used.used
    assert {o["path"] for o in told["outliers"]} >= {"alien.jpg", "z twin.jpg"}


@pytest.mark.parametrize("size", [None, 256])
def test_a_photo_of_the_reference_is_left_out_of_it(world, best, tmp_path, size):
    folder = reference(world, tmp_path / "reference", best)
    file = sorted(folder.iterdir())[0]
    match = match_reference(folder, file, size=size).matches.photos[0]
    assert match.known == file.name
    assert 0 < match.best.correlation < 0.9  # itself it would be like by more
    others = [path for path in folder.iterdir() if path != file]
    apart = match_reference(others, file, size=size).matches.photos[0]
    assert apart.best.correlation == pytest.approx(match.best.correlation, abs=1e-6)
    assert (apart.known, apart.best.score) == (None, pytest.approx(match.best.score, rel=1e-3))
    alone = match_reference(file, file, size=size)
    assert [(each.agrees, each.agreement) for each in alone.frames] == [(False, None)]
    assert alone.matches.photos[0].verdict == "none"
    assert alone.matches.photos[0].best.correlation == 0


def test_each_photo_is_compared_within_its_own_frame(world, best, small, tmp_path):
    """The reference has pictures of two sizes: here by one camera each."""
    folder = reference(world, tmp_path / "reference", best)
    mine, other = (sorted((small / name).iterdir()) for name in ("camera_001", "camera_002"))
    for file in mine[:7]:
        shutil.copy(file, folder / f"small {file.name}")
    (tmp_path / "wide.png").write_bytes(encode(scene(1, 600, 400), "PNG"))
    result = match_reference(folder, [best, *mine[7:], *other, tmp_path / "wide.png"])
    assert [each.frame for each in result.frames] == ["512x384", "448x320"]
    assert [each.agrees for each in result.frames] == [True, True]
    assert [all("small" in path for path in each.used) for each in result.frames] == [False, True]
    photos = {Path(m.path).name: m for m in result.matches.photos}
    assert (photos[best.name].verdict, photos[best.name].frame) == ("match", "512x384")
    own = [photos[file.name] for file in mine[7:]]
    assert {m.frame for m in own} == {"448x320"}
    assert sum(m.verdict == "match" for m in own) >= 2
    assert sum(photos[file.name].verdict == "match" for file in other) <= 1
    wide = photos["wide.png"]
    assert (wide.verdict, wide.best, wide.comparisons) == ("none", None, 0)
    assert wide.reason == (
        "the reference has no photos of 600×400 pixels, nor of 400×600: its own have 512×384, "
        "448×320"
    )


def test_a_reference_in_bits(world, best):
    """As whole frames of many pixels have them."""
    settings = ExtractionSettings(dtype="bits")
    group = world.result.groups[world.group_of(world.truth[best.name])]

    def turned(file, **options):
        return turn(TurnTask(file.name, str(file), settings, [Frame(512, 384)], **options))

    own = [turned(world.root / "kept" / path, turns=(0,)) for path in group.paths]
    assert {photo.orientations[0].values.dtype for photo in own} == {np.dtype(np.uint64)}
    camera = _Camera(own, 2**30)
    files = [best, world.root / "kept" / group.paths[0], *(world.root / "strangers").iterdir()]
    matches = list(compared(map(turned, files), camera, 0.01, 2**30))
    by_name = {match.path: match for match in matches}
    assert by_name[best.name].verdict == "match"
    known = by_name[group.paths[0]]
    assert known.known == group.paths[0]
    assert known.best.correlation < 0.9
    strangers = [by_name[file.name] for file in files[2:]]
    assert sum(match.verdict == "match" for match in strangers) <= 1
    assert {(match.frame, match.comparisons) for match in matches} == {("512x384", 2)}


def test_norms_are_those_of_the_sums(world, best):
    group = world.result.groups[world.group_of(world.truth[best.name])]
    files = [world.root / "kept" / path for path in group.paths[:8]]
    for size, frame in ((256, Frame(256, 256)), (256, Frame(160, 160)), (None, Frame(512, 384))):
        settings = ExtractionSettings(size=size)
        photos = [turn(TurnTask(file.name, str(file), settings, turns=(0,))) for file in files]
        rivals = _Camera(photos, 2**30).at(frame)
        total = rivals.rows.read().astype(float).sum(axis=0)
        assert len(rivals.rows) > 4
        assert rivals.totals == pytest.approx([total @ total], rel=1e-5)


def test_a_smaller_photo_is_compared_on_the_common_square(world, best, tmp_path):
    folder = reference(world, tmp_path / "reference", best)
    Image.open(best).convert("RGB").crop((0, 0, 230, 300)).save(tmp_path / "cut.png")
    match = match_reference(folder, tmp_path / "cut.png", size=256).matches.photos[0]
    assert (match.verdict, match.frame) == ("match", "224x224")
    # Of whole frames it is another one.
    match = match_reference(folder, tmp_path / "cut.png").matches.photos[0]
    assert (match.verdict, match.best) == ("none", None)
    assert "no photos of 230×300 pixels, nor of 300×230" in match.reason


@pytest.mark.parametrize("size", [None, 256])
def test_what_cannot_be_done_is_said_at_once(world, tmp_path, size):
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / "a.jpg").write_bytes(b"nothing")
    held = world.root / "held"
    with pytest.raises(SamecamError, match="None of the 1 photos of the reference can be used"):
        match_reference(tmp_path / "junk", held, size=size)
    with pytest.raises(SamecamError, match="9 reference photos take .* give fewer photos"):
        match_reference(held, held, size=size, resources=Resources(memory=2**20))
    with pytest.raises(SamecamError, match="rate is 0"):
        match_reference(held, held, rate=0)


def test_photos_without_a_common_pattern_do_not_agree(world):
    """One of each camera: there is no group, and their sum says nothing."""
    cameras = sorted(set(world.truth.values()))[:3]
    chosen = [next(p for p, c in world.truth.items() if c == camera) for camera in cameras]
    files = [next(world.root.glob(f"*/{name}")) for name in chosen]
    result = match_reference(files, world.root / "held")
    assert [each.agrees for each in result.frames] == [False]
    assert len(result.used) == 3
