"""How smooth fingerprints are, from the files to the answer: zoomed photos among plain ones."""

import csv
import json
import shutil
import sqlite3

import numpy as np
import pytest
from PIL import Image

from samecam import cluster_photos
from samecam.case import (
    ClusteringSettings,
    ExtractionSettings,
    add_photos,
    match_photos,
    open_case,
    open_store,
    verify_case,
)
from samecam.case.folder import colours
from samecam.case.grouping import _method
from samecam.cluster import ConsolidatedSSC
from samecam.compute import Resources
from samecam.errors import SamecamError
from samecam.simulate import Views, simulate_photos
from samecam.store import Record
from tests.smooth import enlarged

ONE = Resources(workers=1)
OFF = ClusteringSettings(search="off")
SIDE, FACTOR, ZOOMED = 192, 4, 12


def save(folder, name, seed, pattern=None, factor=1):
    """A gray picture, with a camera's pattern or zoomed."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((SIDE, SIDE))
    noise = enlarged(noise if pattern is None else noise + 0.7 * pattern, factor)
    y, x = np.mgrid[:SIDE, :SIDE] / SIDE
    light = 120 + 40 * np.sin(3 * x + rng.uniform(0, 6)) * np.cos(2 * y) + 5 * noise
    Image.fromarray(np.clip(light, 0, 255).astype(np.uint8)).save(folder / name)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Four cameras with six photos each, and zoomed photos by as many cameras as there are."""
    folder = tmp_path_factory.mktemp("colour") / "photos"
    folder.mkdir()
    for camera in range(4):
        pattern = np.random.default_rng(camera).standard_normal((SIDE, SIDE))
        for k in range(6):
            save(folder, f"plain {camera}-{k}.png", [100 + camera, 1 + k], pattern)
    for k in range(ZOOMED):
        save(folder, f"zoomed {k:02d}.png", [252 + k, 1], factor=FACTOR)
    return folder


@pytest.fixture(scope="module")
def made(photos, tmp_path_factory):
    case = tmp_path_factory.mktemp("colour") / "case"
    settings = ExtractionSettings(dtype="bits")
    return cluster_photos(photos, case, settings, OFF, resources=ONE)


@pytest.fixture
def case(made, tmp_path):
    return shutil.copytree(made.case, tmp_path / "case")


def kinds(result):
    """The beginnings of the names in each group."""
    return sorted(sorted({path.split("-")[0] for path in g.paths}) for g in result.groups)


PURE = [[f"plain {camera}"] for camera in range(4)]


def test_zoomed_strangers_are_in_no_group(photos, made, tmp_path, monkeypatch):
    assert kinds(made) == PURE
    assert [group.size for group in made.groups] == [6] * 4
    monkeypatch.setattr(_method, "colours", lambda _: None)
    settings = ExtractionSettings(dtype="bits")
    without = cluster_photos(photos, tmp_path / "case", settings, OFF, resources=ONE)
    assert kinds(without) != PURE  # what colours are for


def test_records_say_how_smooth_a_fingerprint_is(made):
    with open_store(made.case) as store:
        known = {record.key: record.meta["colour"] for record in store.records()}
    assert max(value for name, value in known.items() if name.startswith("plain")) < 1.3
    assert min(value for name, value in known.items() if name.startswith("zoomed")) > 1.5
    checked = verify_case(made.case)
    assert checked.replayed
    assert not checked.relabelled


def test_fingerprints_of_squares_have_none(photos, tmp_path):
    result = cluster_photos(photos, tmp_path / "c", ExtractionSettings(size=64), OFF, resources=ONE)
    with open_store(result.case) as store:
        assert not any("colour" in record.meta for record in store.records())
        assert colours(store.records()) is None


def test_photos_that_join_later_bring_theirs(made, case, tmp_path, monkeypatch):
    given, fit = [], ConsolidatedSSC.fit

    def noted(self, X, y=None, *, colour=None, **more):
        given.append(colour)
        return fit(self, X, y, colour=colour, **more)

    noted.__wrapped__ = fit  # has its signature
    monkeypatch.setattr(ConsolidatedSSC, "fit", noted)
    (tmp_path / "new").mkdir()
    save(tmp_path / "new", "new.png", 9, factor=FACTOR)
    result = add_photos(case, tmp_path / "new", resources=ONE).clustering
    assert kinds(result) == PURE
    assert len(given[0]) == len(made.paths) + 1
    assert np.count_nonzero(given[0] > 1.5) == ZOOMED + 1


def test_a_fingerprint_from_before_counts_as_white():
    records = [Record("a", meta={}), Record("b", meta={"colour": 2.5})]
    assert colours(records).tolist() == [1.0, 2.5]
    assert colours(records[:1]) is None


@pytest.mark.parametrize("value", ["-1", "0", '"2"', "true", "1e300"])
def test_a_colour_that_cannot_be_is_refused(case, value):
    with sqlite3.connect(case / "fingerprints" / "catalogue.sqlite") as db:
        key, text = db.execute("SELECT key, meta FROM records LIMIT 1").fetchone()
        meta = {**json.loads(text), "colour": json.loads(value)}
        db.execute("UPDATE records SET meta = ? WHERE key = ?", (json.dumps(meta), key))
    with pytest.raises(SamecamError, match="'colour', cannot be"):
        open_case(case).open_store()


def test_a_zoomed_photo_matches_none(made, tmp_path):
    save(tmp_path, "new.png", 11, factor=FACTOR)
    pattern = np.random.default_rng(2).standard_normal((SIDE, SIDE))
    save(tmp_path, "own.png", 12, pattern)
    matches = match_photos(made.case, tmp_path, resources=ONE)
    assert {m.path: m.verdict for m in matches.photos} == {"new.png": "none", "own.png": "match"}


def test_simulated_cameras_with_zoomed_photos_are_told_apart(tmp_path):
    views = Views(zoom=0.4, max_zoom=4)
    simulate_photos(
        tmp_path / "all", cameras=5, images=6, size=(512, 384), views=views, seed=3, workers=1
    )
    with open(tmp_path / "all" / "truth.csv", newline="") as stream:
        camera = {row["path"].split("/")[-1]: row["camera"] for row in csv.DictReader(stream)}
    result = cluster_photos(tmp_path / "all/images", tmp_path / "case", None, OFF, resources=ONE)
    assert result.groups
    for group in result.groups:
        assert len({camera[path.split("/")[-1]] for path in group.paths}) == 1
