"""Which camera took it: right groups, strangers refused, turns and sizes, counted comparisons."""

import csv
import json
import shutil

import numpy as np
import pytest
from PIL import Image
from scipy.special import ndtr

from samecam import cluster_fingerprints, cluster_photos, correlate
from samecam.case import (
    ExtractionSettings,
    extract_photos,
    match_photos,
    match_reference,
    open_store,
)
from samecam.case.matching._match import _scatter
from samecam.case.matching._orientations import TURNS, Cropped, TurnTask, turn
from samecam.case.matching._shifts import STEP, shift_null
from samecam.errors import SamecamError
from samecam.evidence import false_alarm
from samecam.fingerprint import fingerprint
from samecam.photos import read_photo
from samecam.store import MemoryStore
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
    return world.root / max(held, key=lambda m: m.best.z).path


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
        assert match.other.z <= match.best.z
        assert match.best.p_value >= 3 / (2 * len(world.result.paths))  # no more than was seen
    assert matches.comparisons == sum(m.comparisons for m in matches.photos)
    assert "measured on" in matches.measured


def test_a_stricter_rate_says_none(world, matches):
    file = strongest(world, matches)
    clear = match_photos(world.case, file).photos[0]
    assert clear.verdict == "match"
    weak = min((m for m in matches.photos if m.verdict == "match"), key=lambda m: m.best.z)
    strict = match_photos(world.case, world.root / weak.path, rate=1e-30).photos[0]
    assert (strict.verdict, strict.best) == ("none", weak.best)


def test_the_rate_is_for_all_comparisons_of_a_photo(world, matches):
    weak = min((m for m in matches.photos if m.verdict == "match"), key=lambda m: m.best.z)
    one = float(ndtr(-weak.best.z))  # beyond all that was measured
    assert one < 1e-5
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


@pytest.mark.parametrize("shape", [(150, 210), (211, 140), (97, 300)])
@pytest.mark.parametrize("offset", [(0, 0), (5, 19)])
def test_views_are_the_crops_of_the_turned_picture(tmp_path, shape, offset):
    picture = scene(3, *shape)
    (tmp_path / "p.png").write_bytes(encode(picture, "PNG"))
    settings = ExtractionSettings(size=128, offset=offset)
    seen = turn(TurnTask("p.png", str(tmp_path / "p.png"), settings))
    assert len(seen.orientations) == sum(
        min(t.shape[0] - offset[1], t.shape[1] - offset[0]) >= 64
        for t in (np.rot90(picture, -k) for k in range(4))
    )
    for view in seen.orientations:
        whole = np.rot90(picture, k=-(view.turned // 90))
        x, y = offset
        room = min(whole.shape[0] - y, whole.shape[1] - x)
        assert view.side == (128 if room >= 128 else room // 16 * 16)
        crop = whole[y : y + view.side, x : x + view.side]
        np.testing.assert_array_equal(view.vector, fingerprint(np.ascontiguousarray(crop)))


def test_a_smaller_photo_is_compared_on_the_common_crop(world, matches, tmp_path):
    file = strongest(world, matches)
    whole = match_photos(world.case, file).photos[0]
    picture = Image.open(file).convert("RGB")
    picture.crop((0, 0, 230, 300)).save(tmp_path / "cut.png")
    match = match_photos(world.case, tmp_path / "cut.png").photos[0]
    assert match.side == 224
    assert (match.verdict, match.group, match.best.turned) == ("match", whole.group, 0)
    # Chance scatters as 1/side, the correlation stays.
    assert match.best.correlation == pytest.approx(whole.best.correlation, rel=0.3)
    assert whole.side == 256


def test_a_cut_fingerprint_is_nearly_that_of_the_smaller_crop(world):
    """What cutting stored rows costs: how like they are to extracting again.

    Means of the rows and columns of the smaller square were not taken away: 2 in 160 of the
    energy, so about .99.
    """
    with open_store(world.case) as store:
        cropped = Cropped(store, 160)
        cut = cropped.read()
        likes = []
        for key, row in zip(store.keys, cut, strict=True):
            data = (world.root / "kept" / key).read_bytes()
            likes.append(row @ fingerprint(read_photo(data, size=160).pixels))
    assert np.mean(likes) > 0.985
    assert np.min(likes) > 0.95


def test_cropped_rows_are_those_of_the_slow_way():
    rng = np.random.default_rng(1)
    rows = correlate.normalised(rng.normal(size=(5, 20 * 20)) + 0.2)
    store = MemoryStore(400)
    for k, row in enumerate(rows):
        store.add(f"{k}", row)
    store.commit()
    wanted = rows.reshape(5, 20, 20)[:, :13, :13].reshape(5, -1).astype(float)
    wanted -= wanted.mean(axis=1, keepdims=True)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    cropped = Cropped(store, 13)
    np.testing.assert_allclose(cropped.read(), wanted, atol=1e-6)
    for width in (7, 20, 33, 1000):
        parts = list(cropped.columns(width))
        assert [at for at, _ in parts] == np.cumsum([0, *(p.shape[1] for _, p in parts)])[
            :-1
        ].tolist()
        np.testing.assert_allclose(np.hstack([p for _, p in parts]), wanted, atol=1e-6)
    some = np.array([3, 1])
    parts = [p.copy() for _, p in cropped.columns(20, some)]
    np.testing.assert_allclose(np.hstack(parts), wanted[some], atol=1e-6)


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


def test_with_one_group_chance_is_measured_on_shifts(world, matches, tmp_path):
    best = max((m for m in matches.photos if m.verdict == "match"), key=lambda m: m.best.z)
    group = world.result.groups[best.group]
    (tmp_path / "one").mkdir()
    for path in group.paths:
        shutil.copy(world.root / "kept" / path, tmp_path / "one" / path)
    case = cluster_photos(tmp_path / "one", tmp_path / "case", SETTINGS)
    assert len(case.groups) == 1
    result = match_photos(case.case, [world.root / best.path, world.root / "strangers"])
    assert "shifts" in result.measured
    mine = [m for m in result.photos if name(m) == name(best)]
    assert [m.verdict for m in mine] == ["match"]
    assert mine[0].adjusted < 0.01
    assert mine[0].other is None
    others = [m for m in result.photos if name(m) != name(best)]
    assert sum(m.verdict == "match" for m in others) <= 1


def test_shifts_are_those_of_rolling_by_hand():
    rng = np.random.default_rng(0)
    vector, camera = correlate.normalised(rng.normal(size=(2, 64 * 64)))
    camera = 3 * camera
    null = shift_null([vector], camera)
    steps = range(0, 64, STEP)
    slow = []
    for dy in steps:
        for dx in steps:
            if min(dy, 64 - dy) <= 16 and min(dx, 64 - dx) <= 16:
                continue
            rolled = np.roll(vector.reshape(64, 64), (-dy, -dx), axis=(0, 1)).ravel()
            slow.append(rolled @ camera / 3)
    assert null.comparisons == len(slow) == 64 - 25
    np.testing.assert_allclose(null.body_z * null.scale, np.sort(slow), atol=1e-6)
    assert null.floor == pytest.approx(3 / len(slow), rel=0.01)
    assert false_alarm(50.0, null) == pytest.approx(null.floor)
    nothing = shift_null([vector], np.zeros_like(camera))
    assert false_alarm(50.0, nothing) == 1


def test_chance_from_shifts_holds_for_noise():
    """Of photos of other cameras no more than a share p has a rate below p."""
    rng = np.random.default_rng(5)
    d = 96
    patterns = correlate.normalised(rng.normal(size=(400, d * d)))
    camera = patterns[:8].sum(axis=0)
    rates = []
    for row in patterns[8:]:
        null = shift_null([row], camera)
        rates.append(float(false_alarm(row @ camera / np.linalg.norm(camera) / null.scale, null)))
    assert np.mean(np.array(rates) <= 0.1) < 0.12
    assert np.mean(np.array(rates) <= 0.05) < 0.07


def reference(world, tmp_path, camera, count=8):
    folder = tmp_path / "reference"
    folder.mkdir()
    group = world.result.groups[world.group_of(camera)]
    for path in group.paths[:count]:
        shutil.copy(world.root / "kept" / path, folder / path)
    return folder


def test_a_reference_names_its_own_and_its_outliers(world, matches, tmp_path):
    best = max((m for m in matches.photos if m.verdict == "match"), key=lambda m: m.best.z)
    folder = reference(world, tmp_path, world.truth[name(best)])
    stranger = sorted((world.root / "strangers").iterdir())[0]
    shutil.copy(stranger, folder / "alien.jpg")
    shutil.copy(sorted(folder.glob("IMG*"))[0], folder / "z twin.jpg")
    result = match_reference(folder, [world.root / best.path, world.root / "strangers"], size=256)
    assert result.agrees
    assert result.agreement > 0.01
    reasons = {o.path: o.reason for o in result.outliers}
    assert "does not agree" in reasons["alien.jpg"]
    assert reasons["z twin.jpg"].startswith("same bytes as IMG_")
    assert "alien.jpg" not in result.used
    mine = next(m for m in result.matches.photos if name(m) == name(best))
    assert (mine.verdict, mine.group, mine.comparisons) == ("match", None, 4)
    assert mine.adjusted < 0.01
    others = [m for m in result.matches.photos if name(m) != name(best)]
    assert sum(m.verdict == "match" for m in others) <= 1
    assert json.loads(json.dumps(result.as_dict()))["reference"]["size"] == 256


def test_a_photo_of_the_reference_is_left_out_of_it(world, matches, tmp_path):
    best = max((m for m in matches.photos if m.verdict == "match"), key=lambda m: m.best.z)
    folder = reference(world, tmp_path, world.truth[name(best)])
    file = sorted(folder.iterdir())[0]
    match = match_reference(folder, file, size=256).matches.photos[0]
    assert match.known == file.name
    assert match.best.correlation < 0.9  # itself it would be like by more
    for other in list(folder.iterdir())[1:]:
        other.unlink()
    one = next(folder.iterdir())
    alone = match_reference(folder, one, size=256)
    assert not alone.agrees
    assert alone.matches.photos[0].verdict == "none"
    assert alone.matches.photos[0].best.correlation == 0


def test_the_reference_chooses_its_size(world, tmp_path):
    folder = reference(world, tmp_path, world.truth[world.result.paths[0]], count=2)
    result = match_reference(folder, sorted((world.root / "held").iterdir())[0])
    assert result.size == 256
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / "a.jpg").write_bytes(b"nothing")
    with pytest.raises(SamecamError, match="None of the 1 files of the reference"):
        match_reference(tmp_path / "junk", folder)
    with pytest.raises(SamecamError, match="None of the 1 photos of the reference can be used"):
        match_reference(tmp_path / "junk", folder, size=256)


def test_real_photographs(photos_dir, tmp_path):
    """Held-back photos of known cameras, and photos of cameras the case never saw."""
    by_camera = {}
    with open(photos_dir / "truth.csv", newline="") as stream:
        for row in csv.DictReader(stream):
            by_camera.setdefault(row["camera"], []).append(str(photos_dir / row["path"]))
    cameras = [c for c, files in by_camera.items() if len(files) >= 20]
    assert len(cameras) > 6
    kept = [f for c in cameras[:5] for f in by_camera[c][4:20]]
    (tmp_path / "kept.txt").write_text("\n".join(kept))
    case = cluster_photos(f"@{tmp_path / 'kept.txt'}", tmp_path / "case", SETTINGS)
    where = {f.split("/")[-1]: c for c, files in by_camera.items() for f in files}
    own = [f for c in cameras[:5] for f in by_camera[c][:4]]
    other = [f for c in cameras[5:] for f in by_camera[c][:4]]
    answers = match_photos(case.case, own + other).photos
    right = 0
    for match in answers:
        if match.group is not None:
            camera = {where[p.split("/")[-1]] for p in case.groups[match.group].paths}
            assert where[name(match)] in camera
            right += 1
    assert right >= 0.5 * len(own)


def test_a_photo_that_scatters_more_is_measured_by_its_own_scatter():
    rng = np.random.default_rng(0)
    z = rng.normal(scale=2, size=(4, 200))
    z[0, :5] = 40  # its own camera does not widen it
    assert _scatter(z) == pytest.approx(2, rel=0.1)
    assert _scatter(z / 4) == 1
    assert _scatter(np.array([[-3.0]])) < 1.3  # one value tells little
