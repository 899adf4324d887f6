"""Views and messengers' copies: piles, who was placed where, and both experiments, small."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import ExifTags, Image

from samecam.case import ExtractionSettings
from samecam.errors import SamecamError
from samecam.experiments import Context, Run, Study, _piles, experiment, messengers, views
from samecam.experiments._piles import Answer, Order
from samecam.simulate import MESSENGERS, Look, simulate_photos, view_photo
from tests.experiments.test_cli import call

TRUTH = np.array([0, 0, 0, 0, 1, 1, 1, 2])
# camera 0 in groups 5 and 7, camera 1 in group 7 with one of camera 0 and alone, 2 with camera 0
LABELS = np.array([5, 5, 5, 7, 7, 7, -1, 5])


def test_a_group_belongs_to_the_camera_of_most_of_its_photos():
    assert _piles.owners(TRUTH, LABELS) == {5: 0, 7: 1}
    assert _piles.main_groups(TRUTH, LABELS) == {0: 5, 1: 7}


def test_photos_are_placed_wrong_or_apart():
    owner, main = _piles.owners(TRUTH, LABELS), _piles.main_groups(TRUTH, LABELS)
    assert _piles.outcome(TRUTH, LABELS, main, owner) == {"photos": 8, "placed": 5, "wrong": 2}
    split = np.array([1, 1, 1, 2, 3, 3, 4, -1])
    owner, main = _piles.owners(TRUTH, split), _piles.main_groups(TRUTH, split)
    assert _piles.outcome(TRUTH, split, main, owner) == {"photos": 8, "placed": 5, "wrong": 0}


def test_copies_are_right_with_originals_of_their_camera_only():
    roles = {"truth": [0, 0, 1, 0, 0, 1, 1, 2, 3], "role": [0, 0, 0, 1, 1, 1, 1, 2, 2]}
    labels = [0, 0, 1, 0, 2, 0, 2, 1, 2]
    run = Run({**{k: np.array(v) for k, v in roles.items()}, "groups": np.array(labels)}, {})
    # a group of copies alone, like 2, is nobody's
    assert messengers.placed(run, "groups") == {
        "copies": 4,
        "right": 1,
        "wrong": 1,
        "strangers": 2,
        "strangers_placed": 1,
    }


def test_both_columns_of_an_answer_are_read(tmp_path):
    table = tmp_path / "clusters.csv"
    table.write_text("path,cluster\na/000001.jpg,3\na/000002.jpg,-1\n")
    assert _piles._read_answer(tmp_path) == (two := {"000001": 3, "000002": -1}, two, False)
    table.write_text("path,cluster,group\na/000001.jpg,3,4\na/000002.jpg,3,-1\n")
    groups, cameras = {"000001": 4, "000002": -1}, {"000001": 3, "000002": 3}
    assert _piles._read_answer(tmp_path) == (groups, cameras, True)


def test_groups_and_cameras_are_scored_where_a_search_joined_them():
    answer = Answer({"a": 0, "b": 1, "c": 2}, {"a": 0, "b": 0, "c": 1}, True, 1.0, {})
    run = _piles.as_run(answer, ["a", "b", "c", "unusable"], ["x", "x", "y", "y"])
    assert _piles.steps_of(run) == ["groups", "cameras"]
    assert _piles.pair_scores(run.arrays["truth"], run.arrays["groups"])["recall"] == 0
    assert _piles.pair_scores(run.arrays["truth"], run.arrays["cameras"])["recall"] == 0.5
    assert run.arrays["cameras"].tolist() == [0, 0, 1, -1]


def test_the_search_is_asked_for(tmp_path, monkeypatch):
    asked = []

    def cluster(_photos, case, settings, *, resources, progress, search="quick"):
        asked.append((search, settings and settings.size, resources.workers, progress is not None))
        case.mkdir(parents=True)
        (case / "images.csv").write_text("path,sha256,status,copy_of\nx/a.jpg,12,good,\n")
        (case / "clusters.csv").write_text("path,cluster,group\nx/a.jpg,0,1\n")

    monkeypatch.setattr("samecam.case.cluster_photos", cluster)
    context = Context(Study(tmp_path), workers=1)
    answer = _piles.group_pile(context, tmp_path, tmp_path / "work")
    assert asked == [("normal", None, 1, True)]
    assert answer.listed == {"a": ("good", "")}
    assert (answer.groups, answer.cameras, answer.searched) == ({"a": 1}, {"a": 0}, True)
    assert not (tmp_path / "work").exists()
    # Squares have no other views.
    _piles.group_pile(context, tmp_path, tmp_path / "work", ExtractionSettings(size=512))
    assert asked[1][:2] == ("quick", 512)
    _piles.group_pile(context, tmp_path, tmp_path / "work", ExtractionSettings())
    assert asked[2][:2] == ("off", None)


def test_what_a_file_is_a_copy_of_is_read(tmp_path):
    (tmp_path / "images.csv").write_text(
        "path,sha256,status,copy_of\n"
        "x/a.jpg,12,good,\nx/b.jpg,34,copy,x/a.jpg\nx/c.jpg,12,duplicate,\nx/d.jpg,56,skipped,\n"
        "x/e.jpg,56,duplicate,\n"
    )
    assert _piles._read_list(tmp_path) == {
        "a": ("good", ""),
        "b": ("copy", "a"),
        "c": ("duplicate", "a"),
        "d": ("skipped", ""),
        "e": ("duplicate", ""),
    }


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Three photos by each of four cameras, as real ones would lie there."""
    folder = tmp_path_factory.mktemp("originals") / "photos"
    simulate_photos(folder, cameras=4, images=3, size=(640, 480), workers=1)
    return folder


def test_files_of_a_pile_are_linked_shown_or_sent(originals, tmp_path):
    source, work = str(originals / "images" / "IMG_00001.jpg"), tmp_path / "work"
    look = Look((640, 480)).zoomed(2).turned(90)
    orders = [
        Order(source, str(work / "a.jpg")),
        Order(source, str(work / "b.jpg"), look=look, zoom=2.0),
        Order(source, str(work / "c.jpg"), messenger="signal"),
        Order(str(originals / "truth.csv"), str(work / "d.jpg"), messenger="signal"),
    ]
    context = Context(Study(tmp_path), workers=1)
    orders += [Order(source, str(work / f"{part}.jpg"), part=part) for part in (0.5, 1.0)]
    there = _piles.lay_out(context, "", work, orders)
    assert there.tolist() == [True, True, True, False, True, True]
    whole = (work / "1.0.jpg").read_bytes()
    assert whole == (work / "a.jpg").read_bytes()
    assert not (work / "1.0.jpg").is_symlink()
    assert (work / "0.5.jpg").read_bytes() == whole[: round(len(whole) / 2)]
    assert (work / "a.jpg").is_symlink()
    with Image.open(work / "b.jpg") as picture:
        assert picture.size == (480, 640)
        tags = picture.getexif()
    assert tags[ExifTags.Base.Orientation] == 1
    assert tags.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DigitalZoomRatio] == 2
    assert tags[ExifTags.Base.Make]
    with Image.open(work / "c.jpg") as picture:
        assert not picture.getexif()


def test_a_pile_is_gone_on_with_only_by_the_same_orders(originals, tmp_path):
    source, work = str(originals / "images" / "IMG_00001.jpg"), tmp_path / "work"
    order = Order(source, str(work / "c.jpg"), messenger="signal")
    context = Context(Study(tmp_path), workers=1)
    _piles.lay_out(context, "", work, [order])
    before = (work / "c.jpg").stat().st_mtime_ns
    _piles.lay_out(context, "", work, [order])
    assert (work / "c.jpg").stat().st_mtime_ns == before
    _piles.lay_out(context, "", work, [replace(order, messenger="telegram")])
    assert (work / "c.jpg").stat().st_mtime_ns != before


def test_a_photo_without_exif_stays_so_unless_it_is_zoomed():
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48)).save(buffer, "JPEG")
    for zoom in (1.0, 2.0):
        data = view_photo(buffer.getvalue(), Look((64, 48)).zoomed(zoom), zoom=zoom)
        with Image.open(io.BytesIO(data)) as picture:
            assert bool(picture.getexif()) == (zoom != 1)


def test_real_photos_are_shown_in_turn():
    kinds = [views.planned_view((640, 480), number)[0] for number in range(30)]
    assert set(kinds) == set(list(views.KINDS)[:5])
    assert kinds[:8] == ["plain", "preset", "wide", "plain", "zoom", "wide", "turned", "preset"]
    for number in range(30):
        kind, look, zoom = views.planned_view((640, 480), number)
        assert (look is None) == (kind == "plain")
        assert kind != "zoom" or look.scale == zoom != 2
    assert views.planned_view((640, 360), 2) == ("plain", None, 1.0)
    assert views.planned_view((0, 0), 1) == ("plain", None, 1.0)


def test_cameras_of_few_photos_are_strangers_or_every_fifth(monkeypatch):
    monkeypatch.setattr(messengers, "KEPT", 2)
    monkeypatch.setattr(messengers, "SENT", 1)
    assert messengers.cast(["a"] * 4 + ["b"] * 2 + ["c"]) == {0: 0, 1: 0, 2: 1, 4: 2, 5: 2, 6: 2}
    roles = messengers.cast([camera for camera in "abcde" for _ in range(3)])
    assert [k for k, role in roles.items() if role == messengers.STRANGER] == [12, 13]
    with pytest.raises(SamecamError, match="No camera has more than 2 photos"):
        messengers.cast(["a", "b", "b"])


@pytest.fixture
def small(monkeypatch):
    """Both experiments, as small as they can be, and services that reduce such small photos."""
    monkeypatch.setattr(_piles, "SEARCH", "quick")
    monkeypatch.setattr(views, "QUICK", (2, 8, 2, (400, 300)))
    monkeypatch.setattr(messengers, "QUICK", (2, 1, (640, 480)))
    monkeypatch.setattr(messengers, "KEPT", 3)
    monkeypatch.setattr(messengers, "SENT", 1)
    few = {name: MESSENGERS[name] for name in ("whatsapp", "signal")}
    monkeypatch.setattr(messengers, "MESSENGERS", few)


def written(name, tmp_path, *more):
    where = ("-o", tmp_path / "study", "--results", tmp_path / "results")
    said = call(name, "--quick", "--workers", "1", "--device", "cpu", *where, *more)
    assert said.exit_code == 0, said.output
    stem = f"{name}-real" if more else name
    document = json.loads((tmp_path / "results" / f"{stem}.json").read_text())
    assert (tmp_path / "results" / f"{stem}.svg").exists()
    assert "nan" not in experiment(name).text(document["result"]).lower()
    return document["result"]


@pytest.mark.usefixtures("small")
def test_views_on_simulated_photos(tmp_path):
    result = written("views", tmp_path)
    off = {row["kind"]: row for row in result["kinds"] if row["search"] == "off"}
    assert sum(row["photos"] for row in off.values()) == 18
    assert off["stranger"]["photos"] == 2
    copies = sum(off[service]["photos"] for service in MESSENGERS if service in off)
    assert 5 <= copies <= 11
    assert result["rows"][0]["n_images"] == 16 - copies
    assert {"zoom", "wide"} & set(off)
    assert all(row["placed"] + row["wrong"] <= row["photos"] for row in off.values())
    assert not (tmp_path / "study" / "work" / result["set"]).exists()


@pytest.mark.usefixtures("small")
def test_views_of_real_photos(originals, tmp_path):
    result = written("views", tmp_path, "--data", originals)
    assert result["size"] is None
    assert [row["photos"] for row in result["kinds"] if row["search"] == "off"] == [4, 4, 4]


@pytest.mark.usefixtures("small")
def test_messengers_on_simulated_photos(tmp_path, monkeypatch):
    monkeypatch.setattr(_piles, "SEARCH", "off")
    result = written("messengers", tmp_path)
    assert [row["service"] for row in result["rows"] if row["search"] == "off"] == [
        "whatsapp",
        "signal",
    ]
    for row in result["rows"]:
        assert (row["copies"], row["strangers"]) == (2, 1)
        assert row["right"] + row["wrong"] <= 2
    assert not list((tmp_path / "study" / "work").rglob("*.jpg"))


@pytest.mark.usefixtures("small")
def test_messengers_of_real_photos(originals, tmp_path, monkeypatch):
    monkeypatch.setattr(messengers, "KEPT", 2)
    monkeypatch.setattr(messengers, "STRANGERS", 4)
    result = written("messengers", tmp_path, "--data", originals)
    assert {(row["copies"], row["strangers"]) for row in result["rows"]} == {(3, 2)}


@pytest.mark.parametrize("name", ["views", "messengers"])
def test_both_searches_are_drawn_and_told_apart(name):
    """What a result looks like once groups are joined."""
    both = ("off", "on")
    scored = {"f": 0.5, "precision": 1.0, "recall": 0.4, "n_images": 9, "n_clusters": 4}
    counts = {"copies": 4, "right": 3, "wrong": 0, "strangers": 2, "strangers_placed": 0}
    service = {"service": "signal", "edge": 1600, "quality": 70}
    result = {
        "views": {
            "rows": [{"search": s, **scored, "n_cameras": 3, "n_unclustered": 1} for s in both],
            "kinds": [
                {"search": s, "kind": kind, "photos": 4, "placed": 2 + (s == "on"), "wrong": 0}
                for s in both
                for kind in ("plain", "wide")
            ],
        },
        "messengers": {
            "rows": [{**service, "search": s, **counts} for s in both],
            "cameras": 3,
            "kept": 10,
        },
    }[name]
    shown = experiment(name)
    text = shown.text({"size": [640, 480], **result})
    assert "75" in text
    assert len(shown.plot({"size": None, **result}).axes) == {"views": 2, "messengers": 3}[name]
