"""Cameras made of groups that see them in several ways, from the search for them to every file."""

import csv
import json
import shutil

import numpy as np
import pytest

from samecam import cluster_photos
from samecam.case import (
    ClusteringSettings,
    ExtractionSettings,
    add_photos,
    match_photos,
    open_case,
    verify_case,
)
from samecam.case.grouping import _cluster
from samecam.case.grouping._cameras import group_cameras
from samecam.compute import Resources, no_progress
from samecam.errors import SamecamError
from samecam.register import Cameras, View
from samecam.report import export_case, write_report
from tests.case.many import make_pile
from tests.case.seen import SEARCHED, Search
from tests.processes import run

FIND = "samecam.register.find_cameras"
ONE = Resources(workers=1)


@pytest.fixture(scope="module")
def pile(tmp_path_factory):
    return make_pile(tmp_path_factory.mktemp("cameras") / "photos")


@pytest.fixture
def search(pile, monkeypatch):
    """The search in place of the real one, for the length of a test."""
    made = Search(pile)
    monkeypatch.setattr(FIND, made)
    return made


@pytest.fixture(scope="module")
def made(pile, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FIND, Search(pile))
        return cluster_photos(
            pile.folder, tmp_path_factory.mktemp("cameras") / "case", resources=ONE
        )


@pytest.fixture
def case(made, tmp_path):
    """A copy: free to be spoilt."""
    return shutil.copytree(made.case, tmp_path / "case")


def table(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


# The answer


def test_groups_that_see_one_camera_are_one_cluster(pile, made):
    cameras = dict(zip(made.paths, made.labels.tolist(), strict=True))
    groups = dict(zip(made.paths, made.photo_groups.tolist(), strict=True))
    by_name = {name: {cameras[p] for p in pile.camera if pile.camera[p] == name} for name in "abxy"}
    assert by_name == {"a": {0}, "b": {0}, "x": {0}, "y": {-1}}
    assert {groups[p] for p in pile.camera if pile.camera[p] == "x"} == {-1}
    assert made.sizes == [7 + 6 + 1, 6, 5, 4, 3]
    assert [group.size for group in made.groups] == [7, 6, 6, 5, 4, 3]
    assert [group.id for group in made.groups] == list(range(6))
    first = made.cameras[0]
    assert [group.size for group in first.groups] == [7, 6]
    assert first.views == ["96×80", "2.0× zoom", first.placed[0].words]
    assert first.placed[0].words.endswith("turned by 90°")
    assert made.n_unclustered == 2


def test_the_table_says_group_and_view_of_every_photo(pile, made):
    rows = {row["path"]: row for row in table(made.case / "clusters.csv")}
    places = zip(made.paths, made.labels, made.photo_groups, strict=True)
    for path, camera, group in places:
        row = rows[path]
        assert (row["cluster"], row["group"]) == (str(camera), str(group))
        assert row["frame"] == pile.frame[path]
        seen = [row[name] for name in ("turn", "mirrored", "scale", "shift_x", "shift_y")]
        kind = pile.camera[path]
        if kind in "yz":
            assert set(seen) == {""} == {row["view_score"], row["view_rate"]}
        elif kind == "b":
            assert seen == ["0", "0", "1.996123", "0.12", "-1.46"]
            assert (row["view_score"], row["view_rate"]) == ("45.6", "1.23e-09")
            assert (row["radial"], row["view_share"], row["view_area"]) == (
                *("0.012346", "0.931", "1920"),
            )
        elif kind == "x":
            assert seen == ["90", "0", "1.0", "3.0", "40.0"]
            assert (row["correlation"], row["margin"], row["p_value"]) == ("", "", "0.0021")
        else:
            assert seen == ["0", "0", "1.0", "0.0", "0.0"]
            assert row["view_score"] == ""


def test_evidence_is_of_groups_and_of_views(pile, made):
    rows = {row["path"]: row for row in table(made.case / "evidence.csv")}
    single = next(path for path, camera in pile.camera.items() if camera == "x")
    row = rows[single]
    assert (row["cluster"], row["group"], row["score"], row["adjusted_p"]) == (
        *("0", "-1", "9.87", "0.0021"),
    )
    assert row["words"].startswith("In no group, but it sees camera 0: ")
    assert "group 0 with a score of 9.9 (chance scatters by 1), 71% of" in row["words"]
    for path, camera in pile.camera.items():
        if camera == "b":
            assert rows[path]["group"] != "0" == rows[path]["cluster"]
            assert f"photos of group {rows[path]['group']} is" in rows[path]["words"]


def test_the_object_of_a_camera_holds_its_groups_with_their_views(made):
    content = json.loads((made.case / "clusters.json").read_text())
    assert [camera["id"] for camera in content["clusters"]] == list(range(5))
    first, second, *_ = content["clusters"]
    assert [camera.as_dict() for camera in made.cameras] == content["clusters"]
    one, other = first["groups"]
    assert (one["view"]["scale"], one["view"]["score"], one["why_joined"]) == (1.0, None, "")
    assert other["view"] == {
        "turn": 0,
        "mirrored": False,
        "scale": 1.996123,
        "radial": 0.012346,
        "shift": [0.12, -1.46],
        "score": 45.6,
        "rate": 1.23e-09,
        "share": 0.931,
        "area": 1920,
    }
    assert other["why_joined"].startswith("Seen so, it correlates with the fingerprint of group 0")
    assert (one["apart"], one["nearest"]) == ("joined", other["id"])
    (placed,) = first["placed"]
    assert (placed["frame"], placed["view"]["turn"]) == ("112x72", 90)
    assert (len(second["groups"]), second["placed"], second["warnings"]) == (1, [], [])
    info = json.loads((made.case / "case.json").read_text())["clustering"]
    assert (info["cameras"], info["groups"], info["unclustered"]) == (5, 6, 2)
    assert (info["search"], info["details"]["searched"]) == ("normal", SEARCHED)
    saved = open_case(made.case)
    assert saved.cameras == made.cameras
    assert saved.groups == made.groups
    assert [photo.path for photo in saved.placed(saved.cameras[0])] == [placed["path"]]


def test_cameras_that_name_two_models_are_doubted(pile, tmp_path, monkeypatch):
    from PIL import Image

    photos = tmp_path / "photos"
    photos.mkdir()
    for name, camera in pile.camera.items():
        exif = Image.Exif()
        exif[0x0110] = {"a": "One", "b": "Two"}.get(camera, "Other")
        Image.open(pile.folder / name).save(photos / name, exif=exif)
    monkeypatch.setattr(FIND, Search(pile))
    result = cluster_photos(photos, tmp_path / "case", resources=ONE)
    (warning,) = result.cameras[0].warnings
    assert "3 camera models" in warning
    assert "these may be views of more than one camera" in warning
    assert shown_in(write_report(tmp_path / "case", thumbnails=False), warning)


def shown_in(page, text):
    return text in page.read_text()


# The search


def test_the_search_is_asked_for_as_it_was_wanted(pile, search, tmp_path, monkeypatch):
    result = cluster_photos(pile.folder, tmp_path / "case", search="deep", resources=ONE)
    ((far, zooms),) = search.calls
    assert far == "deep"
    assert all(np.isnan(zoom).all() for zoom in zooms.values())
    assert open_case(result.case).clustering_settings.search == "deep"
    cluster_photos(pile.folder, tmp_path / "case", search="deep", resources=ONE)
    assert len(search.calls) == 1, "the answer stands"
    with monkeypatch.context() as patch:
        patch.setattr(_cluster, "group_photos", lambda *_, **__: pytest.fail("grouped again"))
        other = cluster_photos(pile.folder, tmp_path / "case", search="off", resources=ONE)
    assert len(search.calls) == 1
    assert len(other.cameras) == len(other.groups) == 6
    assert other.labels.tolist() == other.photo_groups.tolist()
    assert "searched" not in other.details
    assert other.details["frames"] == result.details["frames"]
    assert verify_case(tmp_path / "case").agrees
    assert len(search.calls) == 1


def test_the_zoom_that_exif_names_orders_the_search(pile, search, tmp_path):
    from PIL import Image
    from PIL.TiffImagePlugin import IFDRational

    photos = shutil.copytree(pile.folder, tmp_path / "photos")
    zoomed = next(name for name, camera in pile.camera.items() if camera == "e")
    exif = Image.Exif()
    exif[0x0110] = "Zoomer"
    exif.get_ifd(0x8769)[0xA404] = IFDRational(5, 2)
    Image.open(pile.folder / zoomed).save(photos / zoomed, exif=exif)
    cluster_photos(photos, tmp_path / "case", resources=ONE)
    shutil.rmtree(photos)
    verify_case(tmp_path / "case")  # without the photos
    for _, zooms in search.calls:
        assert sorted(zooms["64x64"].tolist(), key=np.isnan)[0] == 2.5
        assert np.isnan(np.concatenate(list(zooms.values()))).sum() == len(pile.camera) - 1
    assert len(search.calls) == 2


def test_squares_have_no_views(pile, search, tmp_path):
    squares = ExtractionSettings(size=64)
    result = cluster_photos(pile.folder, tmp_path / "case", squares, resources=ONE)
    assert search.calls == []
    header = (tmp_path / "case" / "clusters.csv").read_text().partition("\n")[0]
    assert header == "path,sha256,cluster,frame,correlation,margin,p_value,doubtful"
    assert (tmp_path / "case" / "evidence.csv").read_text().startswith("path,cluster,correlation,")
    assert [camera.groups[0].view for camera in result.cameras] == [None] * len(result.cameras)
    assert verify_case(tmp_path / "case").agrees
    with pytest.raises(SamecamError, match="search is for whole frames"):
        cluster_photos(pile.folder, tmp_path / "other", squares, search="deep")
    code, _, error = run(
        *("cluster", pile.folder, "-o", tmp_path / "x", "--size", 64, "--search", "deep")
    )
    assert code == 2
    assert "--search is for whole frames" in error


def test_a_search_of_no_such_name_is_refused():
    with pytest.raises(SamecamError, match="search is 'far'; choose 'normal', 'quick'"):
        ClusteringSettings(search="far")


@pytest.mark.parametrize("wrong", ["groups", "cut", "no first", "no reason"])
def test_an_answer_that_cannot_be_written_is_noticed(pile, made, monkeypatch, wrong):
    saved, real = open_case(made.case), Search(pile)

    def odd(frames, **words):
        cameras = real(frames, **words)
        labels, groups = cameras.labels.copy(), cameras.groups.copy()
        views, alone = cameras.views, cameras.alone
        if wrong == "groups":
            groups[np.flatnonzero(groups == 0)[0]] = -1
        elif wrong == "cut":
            labels[np.flatnonzero(groups == 0)[0]] = 2
        elif wrong == "no first":
            views = tuple(View(score=5.0, rate=0.1) for _ in views)
        else:
            alone = {}
        return Cameras(labels, groups, views, cameras.first, alone)

    monkeypatch.setattr(FIND, odd)
    with saved.open_store() as store:
        photos = [record for record in store.records() if record.has_row]
        given = (store, photos, made.photo_groups, ClusteringSettings(), ONE.resolve())
        with pytest.raises((RuntimeError, ValueError)):
            group_cameras(*given, no_progress, {})


# The words


@pytest.mark.usefixtures("search")
def test_the_command_says_cameras_with_their_views(pile, case):
    code, out, _ = run("cluster", pile.folder, "-o", case, "--workers", 1, "--no-report")
    assert code == 0
    lines = out.splitlines()
    assert any(
        line.startswith("5 cameras with 3 to 14 photos (14, 6, 5, 4, 3); 2") for line in lines
    )
    at = lines.index("Made of 6 groups; 1 camera seen in several ways:")
    assert lines[at + 1 : at + 4] == [
        "  camera 0, 14 photos",
        "    group 0: 7 photos, 96×80",
        f"    group {other_group(case)}: 6 photos, 2.0× zoom",
    ]
    assert lines[at + 4].endswith("turned by 90°")
    said = json.loads(run("cluster", pile.folder, "-o", case, "--no-report", "--json", "-q")[1])
    assert (said["cameras"], said["groups"], said["sizes"]) == (5, 6, [14, 6, 5, 4, 3])
    assert [view["view"] for view in said["clusters"][0]["groups"]] == ["96×80", "2.0× zoom"]


def other_group(case):
    return open_case(case).cameras[0].groups[1].id


def test_the_report_has_a_strip_for_each_view(made, case):
    text = write_report(case, thumbnails=False).read_text()
    assert "14 photos, seen in 3 ways" in " ".join(text.split())
    assert "2.0× zoom <small>" in text
    for number in range(6):
        assert text.count(f'id="group-{number}"') == 1
    assert text.count('id="alone-0"') == 1
    assert "in at most 1 in 810,000,000 cases" in text
    assert text.count('<figure class="photo') == len(made.paths)
    assert "score 9.9" in text


def test_exports_say_camera_and_group(pile, case):
    rows = {row["path"]: row for row in table(export_case(case, "csv").file)}
    single = next(path for path, camera in pile.camera.items() if camera == "x")
    assert [rows[single][n] for n in ("camera_id", "camera_size", "group_id", "group_size")] == (
        ["0", "14", "-1", ""]
    )
    zoomed = next(path for path, camera in pile.camera.items() if camera == "b")
    assert (rows[zoomed]["camera_id"], rows[zoomed]["view"]) == ("0", "2.0× zoom")
    assert rows[zoomed]["group_id"] == str(other_group(case))
    content = json.loads(export_case(case, "json").file.read_text())
    assert content["cameras"][0]["groups"] == [0, other_group(case)]
    assert len(content["groups"]) == 6
    media = json.loads(export_case(case, "vics").file.read_text())["value"][0]["Media"]
    said = {entry["RelativeFilePath"]: entry for entry in media}
    assert said[zoomed]["Tags"] == said[single]["Tags"] == "samecam:camera-0000"
    assert f"camera 0, in group {other_group(case)} (2.0× zoom)" in said[zoomed]["Comments"]
    assert "camera 0, in no group (" in said[single]["Comments"]
    graph = json.loads(export_case(case, "case").file.read_text())["@graph"]
    assert sum(node["@type"] == "uco-observable:Device" for node in graph) == 5
    names = [node.get("uco-core:name", "") for node in graph]
    assert f"Group {other_group(case)}: 2.0× zoom" in names
    assert any("seen in several ways (96×80; 2.0× zoom" in str(node) for node in graph)


# Replayed, added to, matched


def test_the_replay_searches_again(case, search, monkeypatch):
    assert verify_case(case).agrees
    assert [far for far, _ in search.calls] == ["normal"]
    monkeypatch.undo()
    result = verify_case(case)
    assert not result.agrees
    assert len(result.relabelled) == 6 + 1 + (
        6 + 5 + 4 + 3
    )  # cameras behind are numbered otherwise
    code, out, _ = run("verify", case)
    assert code == 4
    assert f"group {other_group(case)} of camera 0, replayed group {other_group(case)}\n" in out


@pytest.mark.usefixtures("search")
def test_a_view_that_differs_is_named(case, pile, monkeypatch):
    from tests.case import seen

    monkeypatch.setattr(seen, "ZOOM", View(scale=1.95, score=45.6, rate=1e-9))
    result = verify_case(case)
    assert {pile.camera[photo.path] for photo in result.relabelled} == {"b"}
    assert all(photo.view for photo in result.relabelled)
    code, out, _ = run("verify", case)
    assert code == 4
    assert "sees camera 0 otherwise when replayed" in out


@pytest.mark.usefixtures("search")
def test_added_photos_join_and_cameras_are_sought_again(pile, made, case, tmp_path):
    more = make_pile(tmp_path / "more", {"b": ((96, 80), 2), "n": ((72, 88), 4)}, seed=60)
    names = {f"new {name}": camera for name, camera in more.camera.items()}
    for name in more.camera:
        (more.folder / name).rename(more.folder / f"new {name}")
    pile.camera.update(names)
    try:
        result = add_photos(case, more.folder, resources=ONE)
        assert verify_case(case).agrees
    finally:
        for name in names:
            del pile.camera[name]
    assert result.was == [0, 1, 2, 3, None, 4]
    assert result.moved == []
    new = {path.partition("/")[2]: camera for path, camera in result.new.items()}
    assert {new[name] for name, camera in names.items() if camera == "b"} == {0}
    assert {new[name] for name, camera in names.items() if camera == "n"} == {4}
    assert result.clustering.sizes == [16, 6, 5, 4, 4, 3]
    start = table(case / "start.csv")
    assert list(start[0]) == ["path", "sha256", "cluster", "group"]
    kept = dict(zip(made.paths, made.photo_groups.tolist(), strict=True))
    assert {row["path"]: int(row["group"]) for row in start} == kept


def test_a_photo_is_matched_with_groups_and_told_the_view(case, tmp_path):
    more = make_pile(tmp_path / "more", {"b": ((96, 80), 1)}, seed=70)
    (photo,) = match_photos(case, more.folder, resources=ONE).photos
    assert (photo.verdict, photo.camera, photo.group) == ("match", 0, other_group(case))
    assert photo.best.view == "2.0× zoom"
    assert photo.other.camera != 0, "the other group of that camera is no rival"
    code, out, _ = run("match", case, more.folder)
    assert code == 0
    assert f"camera 0 (group {other_group(case)}, 2.0× zoom) on 96×80 pixels" in out
