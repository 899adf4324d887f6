"""Which camera took it, by whole frames: within one width and height, in bits and in bytes."""

import csv
import hashlib
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import samecam
from samecam import Resources
from samecam.case import Clustering, ClusteringSettings, ExtractionSettings, open_case
from samecam.case.matching import _compare
from samecam.fingerprint import frame_row
from samecam.frames import Frame
from samecam.photos import read_frame
from samecam.store import BitRows, ByteRows, StoredRows
from tests.case.worlds import other_photos, shared_world, tree
from tests.photos.pictures import encode, scene

FRAME, OTHER = Frame(512, 384), Frame(448, 320)
# Pixel by pixel; views have tests of their own.
cluster_photos = partial(samecam.cluster_photos, clustering=ClusteringSettings(search="off"))
match_photos = partial(samecam.match_photos, search="off")
# Of two bits a pixel the scales of rows are rounded in sums.
ROUNDING = {"bits": 1e-6, "2bits": 1e-5, "int8": 1e-6}


@dataclass(frozen=True)
class Frames:
    """A case of three cameras of one frame, and two of another; photos of the first held back."""

    world: object
    small: Path
    result: Clustering
    settings: ExtractionSettings

    @property
    def case(self):
        return self.result.case

    def file(self, path):
        """A photo of the case."""
        first = self.world.root / path
        return first if first.exists() else self.small.parent / path


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Photos of the other frame."""
    root = tmp_path_factory.mktemp("other")
    shutil.copytree(other_photos(tmp_path_factory), root / "all")
    (root / "all" / "images").rename(root / "small")
    return root / "small"


@pytest.fixture(scope="module", params=["bits", "2bits", "int8"])
def frames(request, small, tmp_path_factory):
    world = shared_world(tmp_path_factory)
    settings = ExtractionSettings(dtype=request.param)
    folder = tmp_path_factory.mktemp("case") / "case"
    result = cluster_photos([world.root / "kept", small], folder, settings)
    return Frames(world, small, result, settings)


@pytest.fixture(scope="module")
def matches(frames):
    root = frames.world.root
    return match_photos(frames.case, [root / "held", root / "strangers"])


def name(match):
    return match.path.split("/")[-1]


def cameras_of(frames, group):
    return {frames.world.truth[Path(path).name] for path in frames.result.groups[group].paths}


def strongest(frames, matches):
    held = [m for m in matches.photos if m.path.startswith("held/")]
    best = max(held, key=lambda m: m.best.score)
    return best, frames.world.root / best.path


def floats(frames, data, turned):
    """The fingerprint of a picture turned clockwise, as float64."""
    dtype, key = frames.settings.dtype, hashlib.sha256(data).hexdigest()
    pixels = np.ascontiguousarray(np.rot90(read_frame(data).pixels, k=-(turned // 90)))
    row = frame_row(pixels, key=key, dtype=dtype)
    if dtype != "int8":
        return BitRows(row.values[np.newaxis], pixels.size).read()[0].astype(float)
    return ByteRows(row.values[np.newaxis], [row.scale]).read()[0].astype(float)


def test_photos_go_to_their_camera_and_strangers_to_none(frames, matches):
    held = [m for m in matches.photos if m.path.startswith("held/")]
    matched = [m for m in held if m.verdict == "match"]
    strangers = [m for m in matches.photos if m.path.startswith("strangers/")]
    assert (len(held), len(strangers)) == (9, 17)
    assert len(matched) >= 7
    assert all({frames.world.truth[name(m)]} == cameras_of(frames, m.group) for m in matched)
    assert {m.verdict for m in strangers} == {"none"}
    assert "law 1" in matches.measured
    assert matches.cameras == len(frames.result.groups) == 5
    for match in matches.photos:
        assert match.frame == "512x384"
        assert match.comparisons == 2 * 3  # upright and upside down, with the groups of its frame
        assert match.adjusted == min(1.0, match.best.p_value * 6)
        assert {match.best.group, match.other.group} <= {
            group.id for group in frames.result.groups if group.frame == "512x384"
        }


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_a_turned_photo_is_found_turned_back(frames, matches, tmp_path, turned):
    """Its correlation is that of the turned picture with the sum of the group's rows."""
    straight, file = strongest(frames, matches)
    stored = np.rot90(read_frame(file.read_bytes()).pixels, k=turned // 90)
    Image.fromarray(np.ascontiguousarray(stored)).save(tmp_path / "turned.png")
    match = match_photos(frames.case, tmp_path / "turned.png").photos[0]
    assert (match.verdict, match.group, match.best.turned) == ("match", straight.group, turned)
    assert (match.frame, match.comparisons) == ("512x384", 6)
    saved = open_case(frames.case)
    with saved.open_store() as store:
        rows = store.rows(FRAME)
        members = [rows.index(path) for path in saved.groups[match.group].paths]
        camera = rows.read(members).astype(float).sum(axis=0)
    row = floats(frames, (tmp_path / "turned.png").read_bytes(), turned)
    slow = row @ camera / np.linalg.norm(camera)
    assert match.best.correlation == pytest.approx(slow, abs=ROUNDING[frames.settings.dtype])
    assert slow == pytest.approx(straight.best.correlation, rel=0.05)  # but for random bits


def test_another_frame_is_said_to_have_no_group(frames, tmp_path):
    (tmp_path / "wide.png").write_bytes(encode(scene(1, 600, 400), "PNG"))
    (tmp_path / "square.png").write_bytes(encode(scene(1, 400, 400), "PNG"))
    square, wide = match_photos(frames.case, tmp_path).photos
    assert (wide.verdict, wide.status, wide.best, wide.comparisons) == ("none", "good", None, 0)
    assert (wide.adjusted, wide.frame, wide.group) == (1.0, None, None)
    assert wide.reason == (
        "no group has photos of 600×400 pixels, nor of 400×600: they have 512×384, 448×320"
    )
    assert square.reason.startswith("no group has photos of 400×400 pixels: they have")


def test_files_that_are_no_photos_say_why(frames, tmp_path):
    flat = np.full((384, 512, 3), 90, np.uint8)
    flat[:30, :60] = scene(1, 60, 30)
    pictures = {
        "white.png": np.full((384, 512, 3), 255, np.uint8),
        "blank.png": np.full((384, 512, 3), 90, np.uint8),
        "flat.png": flat,
        "tiny.png": scene(1, 50, 400),
    }
    for file, picture in pictures.items():
        (tmp_path / file).write_bytes(encode(picture, "PNG"))
    (tmp_path / "text.jpg").write_bytes(b"no photo at all")
    photos = {m.path: m for m in match_photos(frames.case, tmp_path).photos}
    assert {path: m.verdict for path, m in photos.items()} == {
        "white.png": "unusable",
        "blank.png": "unusable",
        "flat.png": "unusable",
        "tiny.png": "skipped",
        "text.jpg": "skipped",
    }
    assert photos["white.png"].reason == "100.0% of the picture is over-exposed"
    assert "of the picture is flat" in photos["flat.png"].reason
    assert "too small: 50×400" in photos["tiny.png"].reason


def test_a_photo_of_the_case_is_left_out_of_its_group(frames):
    with open(frames.case / "clusters.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for wanted, alone in (("512x384", False), ("448x320", False), (None, True)):
        row = next(
            r
            for r in rows
            if (int(r["cluster"]) < 0 if alone else r["frame"] == wanted and int(r["cluster"]) >= 0)
        )
        match = match_photos(frames.case, frames.file(row["path"])).photos[0]
        assert (match.known, match.known_group) == (row["path"], int(row["cluster"]))
        if not alone:
            # The table has the correlation with the other members.
            mine = [c for c in (match.best, match.other) if c.group == match.known_group]
            error = ROUNDING[frames.settings.dtype]
            assert mine[0].correlation == pytest.approx(float(row["correlation"]), abs=error)


def test_nothing_is_written_and_neither_memory_nor_company_changes_anything(
    frames, matches, monkeypatch
):
    before, root = tree(frames.case), frames.world.root
    photos = [root / "held", root / "strangers"]
    monkeypatch.setattr(_compare, "_MOST", 2)
    few = match_photos(frames.case, photos, resources=Resources(workers=1, memory=2**24))
    assert few.photos == matches.photos
    assert tree(frames.case) == before


def test_rows_are_read_once_for_several_photos(frames, monkeypatch):
    passes = []
    for each in ("words", "columns"):
        whole = getattr(StoredRows, each)

        def counted(self, width, rows=None, whole=whole):
            passes.append(self.frame)
            return whole(self, width, rows)

        monkeypatch.setattr(StoredRows, each, counted)
    held = frames.world.root / "held"
    match_photos(frames.case, sorted(held.iterdir())[0])
    one = passes.copy()
    passes.clear()
    match_photos(frames.case, held)
    # Groups are added up once more each, to be shifted, whatever the number of photos.
    assert set(one) == {FRAME, OTHER}
    assert len(passes) <= len(one) + 3


@pytest.fixture(scope="module")
def one_group(frames, matches, tmp_path_factory):
    """A case of the photos of the strongest camera alone, which are in the folder beside it."""
    root = tmp_path_factory.mktemp("one")
    best, _ = strongest(frames, matches)
    (root / "photos").mkdir()
    for path in frames.result.groups[best.group].paths:
        shutil.copy(frames.file(path), root / "photos")
    return cluster_photos(root / "photos", root / "case", frames.settings)


def test_one_group_is_enough(frames, matches, one_group):
    assert len(one_group.groups) == 1
    best, file = strongest(frames, matches)
    result = match_photos(one_group.case, [file, frames.world.root / "strangers"])
    mine = next(m for m in result.photos if name(m) == name(best))
    assert (mine.verdict, mine.group, mine.other) == ("match", 0, None)
    error = ROUNDING[frames.settings.dtype]  # BLAS adds in another order for one group
    assert mine.best.correlation == pytest.approx(best.best.correlation, abs=error)
    assert mine.best.p_value < 1e-3
    assert mine.best.log10_lr > 2
    others = [m for m in result.photos if name(m) != name(best)]
    assert len(others) == 17
    assert sum(m.verdict == "match" for m in others) <= 1


def test_a_photo_of_the_only_group_is_left_out_of_it_and_of_its_shifts(frames, one_group):
    path = one_group.groups[0].paths[0]
    with open(one_group.case / "clusters.csv", newline="") as stream:
        row = next(r for r in csv.DictReader(stream) if r["path"] == path)
    match = match_photos(one_group.case, one_group.case.parent / "photos" / path).photos[0]
    assert match.known == path
    error = ROUNDING[frames.settings.dtype]
    assert match.best.correlation == pytest.approx(float(row["correlation"]), abs=error)


def test_a_frame_with_one_group(frames, small, tmp_path):
    """Its chance is measured on its own shifts, and is that of the evidence."""
    with open(small.parent / "all" / "truth.csv", newline="") as stream:
        truth = {Path(r["path"]).name: r["camera"] for r in csv.DictReader(stream)}
    group = next(g for g in frames.result.groups if g.frame == OTHER.name)
    (tmp_path / "in").mkdir()
    for path in group.paths[1:]:
        shutil.copy(frames.file(path), tmp_path / "in")
    case = cluster_photos(
        [frames.world.root / "kept", tmp_path / "in"], tmp_path / "case", frames.settings
    )
    alone = [g for g in case.groups if g.frame == OTHER.name]
    assert len(alone) == 1
    held = frames.file(group.paths[0])
    other = next(f for f in sorted(small.iterdir()) if truth[f.name] != truth[held.name])
    result = match_photos(case.case, [held, other])
    mine = next(m for m in result.photos if m.path.endswith(held.name))
    assert (mine.verdict, mine.group) == ("match", alone[0].id)
    assert (mine.frame, mine.comparisons, mine.other) == ("448x320", 2, None)
    stranger = next(m for m in result.photos if m.path.endswith(other.name))
    assert stranger.verdict == "none"
    with open(case.case / "evidence.csv", newline="") as stream:
        rows = [r for r in csv.DictReader(stream) if int(r["cluster"]) == alone[0].id]
    known = match_photos(case.case, [tmp_path / row["path"] for row in rows]).photos
    again = {match.known: match.best.score for match in known}
    ratios = [again[row["path"]] / float(row["score"]) for row in rows]
    assert len(ratios) == alone[0].size
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)
    # From eight photos on the evidence leaves the photo in the sum that is shifted.
    assert ratios == pytest.approx([1] * len(ratios), abs=0.003 if len(ratios) < 8 else 0.2)
