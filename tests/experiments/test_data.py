"""Experiments on trees laid out as the real downloads are, of simulated photographs."""

import csv
import json
from collections import Counter

import pytest

from samecam.errors import SamecamError
from samecam.experiments import Context, Study, conduct, experiment, medium
from samecam.experiments._methods import METHODS
from samecam.metrics import read_truth
from samecam.simulate import simulate_photos

DRESDEN = (
    *("Canon_Ixus70_0", "Nikon_D70s_1", "Agfa_DC-504_0", "Sony_DSC-T77_2", "Kodak_M1063_4"),
    *("Canon_Ixus70_1",),
)
VISION = ("D01_Samsung_GalaxyS3Mini", "D26_Samsung_GalaxyS3Mini", "D02_Apple_iPhone4s")
EACH = 6


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    """Photos of six simulated cameras: [(bytes, camera)]."""
    root = tmp_path_factory.mktemp("shots")
    simulate_photos(root, cameras=6, images=EACH, size=(512, 512), workers=2)
    truth = read_truth(root / "truth.csv")
    return [((root / path).read_bytes(), camera) for path, camera in truth.items()]


def spread(root, shots, names, name_of):
    """The photos of as many cameras as there are names, laid out by name and number."""
    cameras = sorted({camera for _, camera in shots})
    seen = Counter()
    for data, camera in shots:
        at = cameras.index(camera)
        if at < len(names):
            path = root / name_of(names[at], seen[camera])
            seen[camera] += 1
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return root


@pytest.fixture(scope="module")
def dresden(tmp_path_factory, shots):
    root = tmp_path_factory.mktemp("dresden")
    spread(root, shots, DRESDEN, lambda name, k: f"natural/{name}_{1000 + k}.JPG")
    flat = root / "flatfield" / "Canon_Ixus70_0_9.JPG"
    flat.parent.mkdir()
    flat.write_bytes(shots[0][0])
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
    found = conduct("medium-dresden", data=dresden, workers=2, **where)
    result = found["result"]
    assert found["kind"] == "real"
    assert (tmp_path / "results/medium-dresden-real.json").is_file()
    assert (tmp_path / "results/medium-dresden-real.svg").is_file()
    # Five cameras of five models are there, with six photos each: only one configuration fits.
    assert result["configurations"] == ["Da5"]
    assert len(result["skipped"]) == 7
    assert all("was left out: " in sentence for sentence in result["skipped"])
    runs = {run["method"]: run for run in result["runs"]}
    assert runs["ours"]["n_cameras"] == 5
    with open(tmp_path / "study/case-512/images.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    used = sum(row["status"] == "good" for row in rows)
    assert 0 < used < 5 * EACH, "some of these photographs are saturated"
    assert runs["ours"]["n_images"] == used
    assert result["notes"] == [
        "1 pictures are no part of Dresden: left out.",
        f"Da5 has 1089 photos in print, {5 * EACH} here.",
        f"Of Da5, {used} of {5 * EACH} photos could be used; the others are dark, saturated, "
        "doubles, or too small.",
    ]
    assert runs["ours"]["precision"] > 0.9
    names = [row["path"] for row in rows]
    assert len(names) == 5 * EACH
    assert not any("flat" in name for name in names)
    assert state(dresden) == before
    said = experiment("medium-dresden").words(result)
    assert "Ds5 was left out: 5 cameras with 100 photos or more" in said


@pytest.mark.usefixtures("few_methods")
def test_vision_with_fewer_cameras_than_any_configuration(tmp_path, vision):
    where = {"study": tmp_path / "study", "results": tmp_path / "results", "quick": True}
    found = conduct("medium-vision", data=vision, workers=2, **where)
    result = found["result"]
    assert result["configurations"] == ["all"]
    assert len(result["skipped"]) == 5
    assert result["skipped"][-1] == f"No configuration fits, so all {3 * EACH} photos are grouped."
    assert result["runs"][0]["n_cameras"] == 3
    # The same again loads the runs; with another tree they are not taken for it.
    conduct("medium-vision", data=vision, workers=2, **where)
    (vision / VISION[0] / "images/nat/D01_I_nat_0000.jpg").unlink()
    with pytest.raises(SamecamError, match="name a new folder"):
        conduct("medium-vision", data=vision, workers=2, **where)


def test_draws_share_a_case_that_grows(tmp_path, dresden):
    from samecam.datasets import load_dresden
    from samecam.experiments._sources import _extracted

    context = Context(Study(tmp_path), workers=2)
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

    found, todo = _todo("dresden", Context(Study(tmp_path), data=dresden))
    assert [source.name for source in found.sources] == ["all"]
    assert len(found.skipped) == 11
    assert {task.method.key for task in todo} == {"ours", "ls-ssc", "lin-ls"}
    assert not list(tmp_path.iterdir())


def test_a_tree_that_is_none_is_a_sentence(tmp_path):
    (tmp_path / "a.jpg").touch()
    with pytest.raises(SamecamError, match="holds no photo of Dresden"):
        conduct("medium-dresden", data=tmp_path, study=tmp_path / "study")
