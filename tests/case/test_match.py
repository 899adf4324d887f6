"""Which camera took it, by squares: right groups, strangers refused, turns, sizes, chance."""

import csv
import shutil

import numpy as np
import pytest
from PIL import Image

from samecam import cluster_fingerprints, cluster_photos
from samecam.case import ClusteringSettings, ExtractionSettings, extract_photos, match_photos
from samecam.case.matching._orientations import TURNS
from samecam.errors import SamecamError
from samecam.evidence import STRANGERS
from tests.case.worlds import SETTINGS, copied, shared_world, tree
from tests.photos.pictures import encode, scene


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory)


@pytest.fixture(scope="module")
def matches(world):
    """All photos held back, and those of the unknown camera."""
    return match_photos(world.case, [world.root / "held", world.root / "strangers"])


def name(match):
    return match.path.split("/")[-1]


def strongest(world, matches):
    """The held photo of highest z."""
    held = [m for m in matches.photos if m.path.startswith("held/")]
    return world.root / max(held, key=lambda m: m.best.score).path


def test_photos_go_to_their_camera_and_strangers_to_none(world, matches):
    held = [m for m in matches.photos if m.path.startswith("held/")]
    strangers = [m for m in matches.photos if m.path.startswith("strangers/")]
    matched = [m for m in held if m.verdict == "match"]
    assert len(held) == 9
    assert len(matched) >= 7
    assert all(m.group == world.group_of(world.truth[name(m)]) for m in matched)
    assert len(strangers) == 17
    assert {m.verdict for m in strangers} == {"none"}
    assert all(m.group is None for m in strangers)


def test_every_comparison_is_counted(world, matches):
    groups = len(world.result.groups)
    assert matches.cameras == groups == 3
    for match in matches.photos:
        assert match.comparisons in (groups * len(TURNS), groups * 2)  # two turns over-exposed
        assert match.adjusted == min(1.0, match.best.p_value * match.comparisons)
        assert match.other.group != match.best.group
        assert match.other.log10_lr <= match.best.log10_lr
        assert match.best.p_value == pytest.approx(float(STRANGERS.rate(match.best.score)))
        assert match.best.log10_lr <= match.best.cap
    assert matches.comparisons == sum(m.comparisons for m in matches.photos)
    assert "law 1" in matches.measured


def test_a_stricter_rate_says_none(world, matches):
    file = strongest(world, matches)
    clear = match_photos(world.case, file).photos[0]
    assert clear.verdict == "match"
    weak = min((m for m in matches.photos if m.verdict == "match"), key=lambda m: m.best.score)
    strict = match_photos(world.case, world.root / weak.path, rate=1e-9).photos[0]
    assert (strict.verdict, strict.best) == ("none", weak.best)


def test_the_rate_is_for_all_comparisons_of_a_photo(world, matches):
    weak = min((m for m in matches.photos if m.verdict == "match"), key=lambda m: m.best.score)
    one = weak.best.p_value
    assert one < 1e-3
    for times, verdict in ((weak.comparisons / 2, "none"), (weak.comparisons * 2, "match")):
        match = match_photos(world.case, world.root / weak.path, rate=times * one).photos[0]
        assert match.verdict == verdict


def test_nothing_is_written(world):
    before = tree(world.case)
    match_photos(world.case, world.root / "held")
    assert tree(world.case) == before


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_turned_photo_is_found_turned_back(world, matches, tmp_path, turned):
    file = strongest(world, matches)
    straight = match_photos(world.case, file).photos[0]
    pixels = np.asarray(Image.open(file).convert("RGB"))
    stored = np.rot90(pixels, k=turned // 90)  # counter-clockwise: turning clockwise mends it
    Image.fromarray(np.ascontiguousarray(stored)).save(tmp_path / "turned.png")
    match = match_photos(world.case, tmp_path / "turned.png").photos[0]
    assert (match.verdict, match.group) == ("match", straight.group)
    assert match.best.turned == turned
    assert straight.best.turned == 0
    assert match.best.correlation == pytest.approx(straight.best.correlation, abs=1e-6)


def test_a_smaller_photo_is_compared_on_the_common_crop(world, matches, tmp_path):
    file = strongest(world, matches)
    whole = match_photos(world.case, file).photos[0]
    picture = Image.open(file).convert("RGB")
    picture.crop((0, 0, 230, 300)).save(tmp_path / "cut.png")
    match = match_photos(world.case, tmp_path / "cut.png").photos[0]
    assert match.frame == "224x224"
    assert (match.verdict, match.group, match.best.turned) == ("match", whole.group, 0)
    # Chance scatters as 1/side, the correlation stays.
    assert match.best.correlation == pytest.approx(whole.best.correlation, rel=0.3)
    assert whole.frame == "256x256"


def test_a_photo_of_the_case_is_left_out_of_its_group(world):
    path = world.result.groups[0].paths[0]
    with open(world.case / "clusters.csv", newline="") as stream:
        row = next(r for r in csv.DictReader(stream) if r["path"] == path)
    shutil.copy(world.root / "kept" / path, world.root / "renamed.jpg")
    match = match_photos(world.case, world.root / "renamed.jpg").photos[0]
    assert (match.known, match.known_group) == (path, 0)
    assert match.group == 0
    # The table has the correlation with the other members.
    assert match.best.correlation == pytest.approx(float(row["correlation"]), abs=2e-4)


def test_files_that_are_no_photos_say_why(world, tmp_path):
    (tmp_path / "text.jpg").write_bytes(b"no photo at all")
    (tmp_path / "white.png").write_bytes(encode(np.full((300, 300, 3), 255, np.uint8), "PNG"))
    (tmp_path / "tiny.png").write_bytes(encode(scene(1, 50, 400), "PNG"))
    photos = {m.path: m for m in match_photos(world.case, tmp_path).photos}
    assert photos["text.jpg"].verdict == "skipped"
    assert "not a picture" in photos["text.jpg"].reason
    assert photos["tiny.png"].verdict == "skipped"
    assert "too small" in photos["tiny.png"].reason
    assert photos["white.png"].verdict == "unusable"
    assert photos["white.png"].best is None


def test_cases_that_cannot_be_compared_with_say_so(world, tmp_path):
    photo = world.root / "held"
    with pytest.raises(SamecamError, match="no case folder"):
        match_photos(tmp_path, photo)
    extract_photos(world.root / "held", tmp_path / "new", SETTINGS)
    with pytest.raises(SamecamError, match="has not been clustered yet"):
        match_photos(tmp_path / "new", photo)
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(9, 400)))
    cluster_fingerprints(tmp_path / "x.npy", tmp_path / "brought")
    with pytest.raises(SamecamError, match="made from a file of fingerprints"):
        match_photos(tmp_path / "brought", photo)
    changed = copied(world.case, tmp_path / "changed")
    table = changed / "clusters.csv"
    table.write_text(table.read_text() + "\n")
    with pytest.raises(SamecamError, match="not as it was written"):
        match_photos(changed, photo)
    with pytest.raises(SamecamError, match="rate is 2"):
        match_photos(world.case, photo, rate=2)


def test_one_group_is_enough(world, matches, tmp_path):
    best = max((m for m in matches.photos if m.verdict == "match"), key=lambda m: m.best.score)
    group = world.result.groups[best.group]
    (tmp_path / "one").mkdir()
    for path in group.paths:
        shutil.copy(world.root / "kept" / path, tmp_path / "one" / path)
    case = cluster_photos(tmp_path / "one", tmp_path / "case", SETTINGS)
    assert len(case.groups) == 1
    result = match_photos(case.case, [world.root / best.path, world.root / "strangers"])
    mine = [m for m in result.photos if name(m) == name(best)]
    assert [m.verdict for m in mine] == ["match"]
    assert mine[0].adjusted < 0.01
    assert mine[0].best.log10_lr == mine[0].best.cap  # the law does not depend on the case's size
    assert mine[0].other is None
    others = [m for m in result.photos if name(m) != name(best)]
    assert sum(m.verdict == "match" for m in others) <= 1


@pytest.mark.parametrize("settings", [SETTINGS, ExtractionSettings()], ids=["square", "whole"])
def test_real_photographs(photos_dir, tmp_path, settings):
    """Held-back photos of known cameras, and photos of cameras the case never saw."""
    by_camera = {}
    with open(photos_dir / "truth.csv", newline="") as stream:
        for row in csv.DictReader(stream):
            by_camera.setdefault(row["camera"], []).append(str(photos_dir / row["path"]))
    cameras = [c for c, files in by_camera.items() if len(files) >= 20]
    assert len(cameras) > 6
    kept = [f for c in cameras[:5] for f in by_camera[c][4:16]]
    (tmp_path / "kept.txt").write_text("\n".join(kept))
    plain = ClusteringSettings(search="off")  # views of strangers are looked for below
    case = cluster_photos(f"@{tmp_path / 'kept.txt'}", tmp_path / "case", settings, plain)
    where = {f.split("/")[-1]: c for c, files in by_camera.items() for f in files}
    own = [f for c in cameras[:5] for f in by_camera[c][:4]]
    other = [f for c in cameras[5:] for f in by_camera[c][:2]]
    rarely = 0.001  # of so many strangers none is to be matched by chance
    answers = match_photos(case.case, own + other, rate=rarely, search="off").photos
    by_views = match_photos(case.case, other[::8], rate=rarely).photos
    right = 0
    for match in answers + by_views:
        if match.group is not None:
            camera = {where[p.split("/")[-1]] for p in case.groups[match.group].paths}
            assert where[name(match)] in camera
            right += 1
    assert right >= 0.5 * len(own)


def test_squares_in_the_centre_turned_and_cut(world, tmp_path):
    """A turned picture has its own centre; one that is cut alike on all sides has the same."""
    settings = ExtractionSettings(size=256, at="centre")
    case = cluster_photos(world.root / "kept", tmp_path / "case", settings).case
    held = match_photos(case, world.root / "held").photos
    best = max(held, key=lambda m: m.best.score)
    picture = Image.open(world.root / "held" / best.path).convert("RGB")
    (tmp_path / "in").mkdir()
    picture.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "in" / "turned.png")
    picture.crop((144, 96, 144 + 224, 96 + 192)).save(tmp_path / "in" / "cut.png")
    cut, turned = match_photos(case, tmp_path / "in").photos
    assert (turned.verdict, turned.group, turned.best.turned) == ("match", best.group, 90)
    assert turned.best.correlation == pytest.approx(best.best.correlation, abs=1e-6)
    assert (cut.verdict, cut.group, cut.frame) == ("match", best.group, "192x192")
    assert cut.best.correlation == pytest.approx(best.best.correlation, rel=0.3)
