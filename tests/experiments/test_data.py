"""Experiments on trees laid out as the real downloads are, of simulated photographs."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

from samecam.datasets import configuration, load_dresden, load_vision
from samecam.errors import SamecamError
from samecam.experiments import (
    Context,
    Study,
    conduct,
    experiment,
    medium,
    outliers,
    rivals_table,
    running_time,
)
from samecam.experiments._methods import METHODS

DRESDEN = (
    *("Canon_Ixus70_0", "Nikon_D70s_1", "Agfa_DC-504_0", "Sony_DSC-T77_2", "Kodak_M1063_4"),
    *("Canon_Ixus70_1",),
)
VISION = ("D01_Samsung_GalaxyS3Mini", "D26_Samsung_GalaxyS3Mini", "D02_Apple_iPhone4s")
EACH = 6


def spread(root, shots, names, name_of):
    """The first photos of as many cameras as there are names, laid out by name and number."""
    for name, files in zip(names, shots, strict=False):
        for k, file in enumerate(files[:EACH]):
            path = root / name_of(name, k)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.read_bytes())
    return root


@pytest.fixture(scope="module")
def dresden(tmp_path_factory, shots):
    root = tmp_path_factory.mktemp("dresden")
    spread(root, shots, DRESDEN, lambda name, k: f"natural/{name}_{1000 + k}.JPG")
    flat = root / "flatfield" / "Canon_Ixus70_0_9.JPG"
    flat.parent.mkdir()
    flat.write_bytes(shots[0][0].read_bytes())
    return root


@pytest.fixture(scope="module")
def vision(tmp_path_factory, shots):
    root = tmp_path_factory.mktemp("vision")
    return spread(
        root, shots, VISION, lambda name, k: f"{name}/images/nat/{name[:3]}_I_nat_{k:04d}.jpg"
    )


@pytest.fixture
def few_methods(monkeypatch):
    monkeypatch.setattr(medium, "METHODS", {k: METHODS[k] for k in ("ours", "average-linkage")})


def state(root):
    return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(root.rglob("*"))}


@pytest.mark.usefixtures("few_methods")
def test_dresden(tmp_path, dresden):
    before = state(dresden)
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    document = conduct("medium-dresden", data=dresden, workers=1, **where)
    result = document["result"]
    assert document["kind"] == "real"
    assert (tmp_path / "results/medium-dresden-real.json").is_file()
    assert (tmp_path / "results/medium-dresden-real.svg").is_file()
    # Six cameras of five models are there, with six photos each: only one configuration fits.
    assert result["configurations"] == ["Ds5-scaled", "Ds20-scaled", "Da5", "Dsm5-scaled"]
    assert result["skipped"] == [
        "Dsm20 and Dam5 would take the photos of Dsm5-scaled again: left out."
    ]
    there = {run["configuration"]: run["n_cameras"] for run in result["runs"]}
    assert there == {"Ds5-scaled": 5, "Ds20-scaled": 6, "Da5": 5, "Dsm5-scaled": 2}
    runs = {run["method"]: run for run in result["runs"] if run["configuration"] == "Da5"}
    with open(tmp_path / "study/case-512/images.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    drawn = set(load_dresden(dresden).configured(configuration("Da5")).cameras)
    good = [row["path"] for row in rows if row["status"] == "good"]
    used = sum(path.split("/")[1].rsplit("_", 1)[0] in drawn for path in good)
    assert 0 < used < 5 * EACH, "some of these photographs are saturated"
    assert "dark" not in " ".join(result["notes"]), "dark ones are used"
    assert runs["ours"]["n_images"] == used
    assert result["notes"][:5] == [
        "1 pictures are no part of Dresden: left out.",
        "Ds5 is scaled to 5 cameras, 6 photos each; in print it has 5 cameras, 100 photos each.",
        "Ds20 is scaled to 6 cameras, 6 photos each, some of one model; in print it has 20 "
        "cameras, 100 photos each.",
        f"Da5 has 1089 photos in print, {5 * EACH} here.",
        "Dsm5 is scaled to 2 cameras, 6 photos each; in print it has 5 cameras, 100 photos each.",
    ]
    assert (
        f"Of Da5, {used} of {5 * EACH} photos could be used; the others are over-exposed, flat, "
        "doubles, too small, or cannot be read: the study's case-512/images.csv has the reason of "
        "each."
    ) in result["notes"]
    assert runs["ours"]["precision"] > 0.9
    names = [row["path"] for row in rows]
    assert len(names) == 6 * EACH
    assert not any("flat" in name for name in names)
    assert state(dresden) == before
    said = experiment("medium-dresden").text(result)
    assert "- Ds5 is scaled to 5 cameras, 6 photos each" in said
    assert "In print" not in said, "nothing in print is of these"


@pytest.mark.usefixtures("few_methods")
def test_vision_with_fewer_cameras_than_any_configuration(tmp_path, vision):
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    foreign = vision / "MyPhone/images/nat/a.jpg"
    foreign.parent.mkdir(parents=True)
    foreign.touch()
    document = conduct("medium-vision", data=vision, workers=1, **where)
    result = document["result"]
    assert result["configurations"] == ["Vs5-scaled"]
    assert result["skipped"] == [
        "Vs20, Va5 and Va20 would take the photos of Vs5-scaled again: left out."
    ]
    assert result["notes"][:2] == [
        "1 pictures are in no folder Dxx_Brand_Model: left out (1 in MyPhone).",
        f"Vs5 is scaled to 3 cameras, {EACH} photos each, some of one model; in print it has 5 "
        "cameras, 100 photos each.",
    ]
    assert result["runs"][0]["n_cameras"] == 3
    # The same again loads the runs; with another tree they are not taken for it.
    conduct("medium-vision", data=vision, workers=1, **where)
    (vision / VISION[0] / "images/nat/D01_I_nat_0000.jpg").unlink()
    with pytest.raises(SamecamError, match="name a new folder"):
        conduct("medium-vision", data=vision, workers=1, **where)


@pytest.mark.usefixtures("few_methods")
def test_another_collection_is_taken_in_the_same_spirit(tmp_path, shots):
    names = ("D01_Motorola_E3_1", "D15_Samsung_A6_1", "D16_Samsung_A6_2")
    tree = spread(
        tmp_path / "tree", shots, names, lambda name, k: f"{name}/orig/{name[:3]}_img_orig_{k}.jpg"
    )
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    document = conduct("medium-vision", data=tree, workers=1, **where)
    result = document["result"]
    assert result["configurations"] == ["Vs5-scaled"]
    assert result["skipped"][0] == (
        "The photos are of FODB, so that nothing here is the paper's own collection."
    )
    assert result["best_first"]
    assert "Vs5 is scaled to 3 cameras, 6 photos each, some of one model" in " ".join(
        result["notes"]
    )
    read = json.loads((tmp_path / "results/medium-vision-real.json").read_text())
    assert read["result"]["notes"] == result["notes"]


def test_a_configuration_of_another_collection_is_only_like_the_one_in_print(tmp_path):
    names = [f"D{n:02d}_Brand_Model{n}_1" for n in range(1, 22)]
    tree = touched(tmp_path / "t", [f"{n}/orig/{k}.jpg" for n in names for k in range(3)])
    planned, _ = medium._todo("vision", Context(Study(tmp_path / "s"), data=tree, quick=True))
    assert [source.name for source in planned.sources] == [
        *("Vs5-scaled", "Vs20-scaled", "Va5-like", "Va20-like")
    ]
    of_rivals = rivals_table._plan(Context(Study(tmp_path / "s"), data=tree))
    assert [source.name for source in of_rivals.sources] == [
        *("phan-D1-scaled", "phan-D2-scaled", "phan-D3-scaled", "phan-D4-scaled")
    ]


def test_draws_share_a_case_that_grows(tmp_path, dresden):
    from samecam.datasets import load_dresden
    from samecam.experiments._sources import _extracted

    context = Context(Study(tmp_path), workers=1)
    whole = load_dresden(dresden)
    few, more = whole.draw(2, 3, seed=1), whole.draw(4, 3, seed=1)
    assert set(few.photos) < set(more.photos)
    first, second = (_extracted(context, drawn, 256) for drawn in (few, more))
    assert sorted(set(first.truth)) == [0, 1]
    assert sorted(set(second.truth)) == [0, 1, 2, 3]
    assert len(second.gram) == len(second.truth) > len(first.truth)
    log = [json.loads(line) for line in (tmp_path / "case-256/log.jsonl").read_text().splitlines()]
    assert [entry["files"] for entry in log if entry["event"] == "extract"] == [6, 6]
    with open(tmp_path / "case-256/images.csv", newline="") as stream:
        assert {row["path"] for row in csv.DictReader(stream)} == {p.path for p in more.photos}


def test_large_on_a_small_tree_is_planned_without_extracting(tmp_path, dresden):
    from samecam.experiments.large import _todo

    planned, todo = _todo("dresden", Context(Study(tmp_path), data=dresden))
    assert [source.name for source in planned.sources] == ["LDa30-scaled"]
    assert len(planned.skipped) == 1
    assert planned.skipped[0].startswith("LDa35, LDa40,")
    assert planned.sources[0].notes[-1] == (
        "LDa30 is scaled to 6 cameras, 6 photos each; in print it has 30 cameras, 6596 photos."
    )
    assert {task.method.key for task in todo} == {"ours", "ls-ssc", "lin-ls"}
    assert not list(tmp_path.iterdir())


def test_a_tree_that_is_none_is_an_error(tmp_path):
    (tmp_path / "a.jpg").touch()
    with pytest.raises(SamecamError, match="holds no photos in an order that tells their cameras"):
        conduct("medium-dresden", data=tmp_path, study=tmp_path / "study")


def touched(root, paths):
    """A tree of empty files: enough to plan with."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    return root


def devices(root, count):
    """VISION with that many devices, each of another model, of three photos."""
    names = [f"D{n:02d}_Brand_Model{n}" for n in range(1, count + 1)]
    return touched(root, [f"{n}/images/nat/{n[:3]}_I_nat_{k}.jpg" for n in names for k in range(3)])


@pytest.mark.parametrize(("count", "strangers"), [(20, 0), (35, 15), (70, 50), (72, 50)])
def test_strangers_are_alone_and_as_many_as_there_are(tmp_path, count, strangers):
    from samecam.datasets import configuration, load_vision
    from samecam.experiments._sources import draw

    whole = load_vision(devices(tmp_path, count))
    drawn = draw(whole, configuration("Va20-strangers"))
    assert sorted(drawn.sizes().values()) == [1] * strangers + [3] * 20
    assert list(drawn.photos) == sorted(set(drawn.photos))
    # Va20 is the same without them.
    known = set(whole.configured(configuration("Va20")).photos)
    assert known == {p for p in drawn.photos if drawn.sizes()[p.camera] == 3}
    said = [note for note in drawn.notes if "50 strangers" in note]
    assert said == (
        [
            f"Va20-strangers has 50 strangers in print, {strangers} here: one photo of each camera "
            "that is not among the 20."
        ]
        if strangers < 50
        else []
    )


def test_outliers_on_a_whole_tree_are_planned_without_extracting(tmp_path):
    context = Context(Study(tmp_path / "study"), data=devices(tmp_path / "tree", 35))
    planned = outliers._plan(context)
    assert [source.name for source in planned.sources] == ["Va20-strangers"]
    assert planned.sources[0].parameters["images"] == 20 * 3 + 15
    assert planned.skipped == ()
    assert not (tmp_path / "study").exists()


def test_outliers_on_a_small_tree(tmp_path, vision, monkeypatch):
    monkeypatch.setattr(outliers, "_METHODS", ("ours", "hdbscan"))
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    document = conduct("outliers", data=vision, workers=1, **where)
    result = document["result"]
    assert document["kind"] == "real"
    assert result["configurations"] == ["Va20-strangers-scaled"]
    assert result["skipped"] == []
    known = load_vision(vision).draw(2)
    said = [note for note in result["notes"] if "scaled" in note]
    assert said == [
        f"Va20-strangers is scaled to 2 of 3 cameras, {len(known.photos)} photos, with one photo "
        "of each of the others; in print it has 20 cameras, 4435 photos, and 50 strangers."
    ]
    with open(tmp_path / "study/case-512/images.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    good = Counter(row["path"].split("/")[0] for row in rows if row["status"] == "good")
    there = Counter(row["path"].split("/")[0] for row in rows)
    assert sorted(there.values())[0] == 1
    assert len(there) == 3
    for run in result["runs"]:
        assert run["n_images"] == good.total()
        assert run["strangers"] == sum(count == 1 for count in good.values())
    assert result["printed"] == []
    assert said[0] in experiment("outliers").text(result)
    assert (tmp_path / "results/outliers-real.svg").is_file()


def cameras_of_dresden(root, cameras, photos):
    names = [f"Brand_Model{n}_0" for n in range(cameras)]
    return touched(root, [f"{name}_{k}.JPG" for name in names for k in range(photos)])


def test_rivals_table_of_dresden_leaves_out_what_is_of_raise(tmp_path):
    context = Context(Study(tmp_path / "study"), data=cameras_of_dresden(tmp_path / "t", 11, 105))
    planned = rivals_table._plan(context)
    images = {source.name: source.parameters["images"] for source in planned.sources}
    assert images == {"phan-D2": 1000, "phan-D4": 660}
    assert planned.skipped == tuple(
        f"phan-D{n} was left out: its photos are of RAISE, and this tree is not." for n in (1, 3)
    )
    assert not any(source.notes for source in planned.sources)


def test_rivals_table_of_raise(tmp_path):
    files = [f"r{camera}{k:03d}.NEF" for camera in "abc" for k in range(101)]
    device = {"a": "Nikon D40", "b": "Nikon D90", "c": "Nikon D7000"}
    tree = touched(tmp_path / "tree", files)
    lines = [f"{name[:-4]},{device[name[1]]}" for name in files]
    (tree / "RAISE_all.csv").write_text("\n".join(["File,Device", *lines]) + "\n")
    planned = rivals_table._plan(Context(Study(tmp_path / "study"), data=tree))
    images = {source.name: source.parameters["images"] for source in planned.sources}
    assert images == {"phan-D1": 150, "phan-D3": 225}
    assert [reason[:21] for reason in planned.skipped] == [
        "phan-D2 was left out:",
        "phan-D4 was left out:",
    ]
    assert "photos are of Dresden" in planned.skipped[0]


def test_uneven_draws_have_the_sizes_asked_for(tmp_path):
    from samecam.datasets import configuration, load_dresden, twin
    from samecam.experiments._sources import draw

    whole, sizes = load_dresden(cameras_of_dresden(tmp_path, 12, 100)), twin("phan-D4").sizes
    drawn = draw(whole, configuration("phan-D4"), sizes)
    assert sorted(drawn.sizes().values()) == sorted(sizes)
    few = load_dresden(cameras_of_dresden(tmp_path / "few", 9, 100))
    with pytest.raises(SamecamError, match="10 cameras with 100 photos or more are wanted"):
        draw(few, configuration("phan-D4"), sizes)


def test_rivals_table_on_a_small_tree(tmp_path, dresden, monkeypatch):
    monkeypatch.setattr(rivals_table, "METHODS", {k: METHODS[k] for k in ("ours", "mrf")})
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    document = conduct("rivals-table", data=dresden, workers=1, **where)
    result = document["result"]
    assert result["configurations"] == ["phan-D2-scaled", "phan-D4-scaled"]
    assert len(result["skipped"]) == 2
    said = experiment("rivals-table").text(result)
    assert all(reason in said for reason in result["skipped"])
    assert "phan-D2 is scaled to 6 cameras, 6 photos each" in said
    assert "Twins" not in said
    assert "| method | D2-scaled | D4-scaled |" in said
    assert (tmp_path / "results/rivals-table-real.svg").is_file()


def test_running_time_on_a_small_tree(tmp_path, dresden, monkeypatch):
    monkeypatch.setattr(running_time, "_warm_up", lambda *_: None)
    study = Study(tmp_path / "study")
    where = {"study": study.folder, "results": tmp_path / "results", "quick": True}
    result = conduct("running-time", data=dresden, workers=1, **where)["result"]
    assert result["configurations"] == ["Da10-scaled"]
    assert result["side"] == 512
    assert len(result["skipped"]) == 1
    assert {run["method"] for run in result["runs"]} == {"ours", "ls-ssc", "ssc-nc"}
    for run in result["runs"]:
        assert run["reading"] > 0
        assert run["computing"] > 0
        assert run["reading"] + run["computing"] == pytest.approx(run["seconds"], abs=3e-6)
    said = experiment("running-time").text(result)
    assert "extracting them is not counted" in said
    assert "twins" not in said
    assert not (study.folder / "store").exists()
    # Another tree is not taken for this one.
    less = tmp_path / "less"
    less.mkdir()
    for path in sorted((dresden / "natural").iterdir())[1:]:
        (less / path.name).symlink_to(path)
    with pytest.raises(SamecamError, match="name a new folder"):
        conduct("running-time", data=less, workers=1, **where)


def test_what_is_timed_is_the_draw_and_not_the_whole_case(tmp_path, dresden):
    from samecam import correlate
    from samecam.datasets import load_dresden
    from samecam.experiments._sources import _extracted, _fingerprints
    from samecam.experiments._timed import TimedStore

    context = Context(Study(tmp_path), workers=1)
    whole = load_dresden(dresden)
    everything = _extracted(context, whole, 256)
    few = whole.draw(3, 4, seed=1)
    photos = _fingerprints(context, few, 256)
    assert len(photos.rows) < len(everything.truth)
    with running_time._opened(photos) as (store, truth):
        timed = TimedStore(store)
        gram = correlate.gram(timed)
        assert timed.seconds > 0
        camera = {photo.path: photo.camera for photo in few.photos}
        assert [sorted(set(few.cameras))[k] for k in truth] == [camera[key] for key in store.keys]
    np.testing.assert_array_equal(gram, _extracted(context, few, 256).gram)


def test_few_images_says_why_it_takes_no_data(tmp_path, dresden):
    with pytest.raises(SamecamError, match="several places of a photo"):
        conduct("few-images", data=dresden, study=tmp_path / "study")
    assert not (tmp_path / "study").exists()
