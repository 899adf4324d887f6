"""Phones, a mixed disk and shares of the frame: planted answers, and all three, small."""

from pathlib import Path

import numpy as np
import pytest

from samecam.errors import SamecamError
from samecam.experiments import Run, Study, _piles, experiment, frames, mixed_disk, phones
from samecam.experiments._experiment import Context
from samecam.experiments._kinds import kinds_table, score_kinds
from samecam.experiments._photo_sets import PhotoSet
from samecam.experiments._piles import Answer
from samecam.simulate import Views, simulate_photos
from tests.experiments.test_piles import written


def test_originals_alone_are_scored_and_every_kind_is_counted():
    arrays = {
        "truth": np.array([0, 0, 0, 1, 1, 0, 2]),
        "groups": np.array([0, 0, -1, 1, 1, -1, -1]),
        "cameras": np.array([0, 0, 0, 1, 1, 1, 0]),
        "kind": np.array([0, 0, 1, 0, 0, 2, 2]),
    }
    scored = score_kinds(Run(arrays, {"searched": True}), ["plain", "zoom", "copy"], own=2)
    assert [(row["search"], row["recall"]) for row in scored["rows"]] == [("off", 0.5), ("on", 1)]
    assert scored["rows"][1]["precision"] == 1, "copies do not count"
    on = {row["kind"]: row for row in scored["kinds"] if row["search"] == "on"}
    assert on["zoom"] == {"search": "on", "kind": "zoom", "photos": 1, "placed": 1, "wrong": 0}
    assert (on["copy"]["placed"], on["copy"]["wrong"]) == (0, 2)
    words = {"plain": "any", "zoom": "any", "copy": "copy"}
    table = kinds_table(scored, words)
    assert "| any | 5 | 80.0% | 100.0% | 0 |" in table, "kinds of the same words are one row"
    assert "| copy | 2 | 0.0% | 0.0% | 2 |" in table


def test_pairs_of_two_bodies_of_one_model():
    truth, model = np.array([0, 0, 1, 2, 3]), np.array([5, 5, 5, 6, -1])
    assert phones.mixed_pairs(truth, model, np.array([1, 2, 2, 2, 2])) == (2, 1)
    assert phones.mixed_pairs(truth, model, np.full(5, -1)) == (2, 0)
    unknown = np.full(5, -1)
    assert phones.mixed_pairs(truth, unknown, np.zeros(5, int)) == (0, 0)


@pytest.fixture
def quick_search(monkeypatch):
    monkeypatch.setattr(_piles, "SEARCH", "quick")


@pytest.mark.usefixtures("quick_search")
def test_phones_on_simulated_photos(tmp_path, monkeypatch):
    monkeypatch.setattr(phones, "QUICK", (2, 6, (400, 300)))
    monkeypatch.setitem(phones.ASKED, "quality", (95, 98))
    result = written("phones", tmp_path)
    counts = {row["kind"]: row["photos"] for row in result["kinds"] if row["search"] == "off"}
    assert sum(counts.values()) == 12
    assert 0 < counts["zoom"] < counts["plain"]
    assert (result["models"], result["models_of_several"]) == (1, 1)
    assert result["rows"][0]["pairs_of_a_model"] == 36
    assert result["rows"][0]["mixed"] == 0
    text = experiment("phones").text(result)
    assert "12 photos by 2 cameras of 1 models" in text
    assert "of 36 pairs by two bodies of one model 0 are in one group" in text


@pytest.mark.usefixtures("quick_search")
def test_phones_of_real_photos_are_told_by_their_exif(tmp_path):
    data = tmp_path / "data"
    views = Views(zoom=0.5)
    simulate_photos(data, cameras=3, models=2, images=4, size=(320, 240), views=views, workers=1)
    result = written("phones", tmp_path, "--data", data)
    assert (result["models"], result["models_of_several"]) == (2, 1)
    assert result["rows"][0]["pairs_of_a_model"] == 16
    zoomed = [line for line in (data / "truth.csv").read_text().splitlines() if ",zoom," in line][
        1:
    ]
    counts = {row["kind"]: row["photos"] for row in result["kinds"] if row["search"] == "off"}
    assert counts["zoom"] == len(zoomed)


def test_what_lies_on_a_disk():
    items = mixed_disk.cast(["a"] * 12 + ["b"] * 3)
    assert len(items) == 12 + 6 + 1
    kinds = [item.kind for item in items]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "original": 9, "sent": 2, "damaged": 1, "thumbnail": 2, "duplicate": 2, "copy": 2,
        "stranger": 1,
    }  # fmt: skip
    assert len({item.name for item in items}) == len(items)
    originals = {item.photo for item in items if item.kind == "original"}
    assert all(item.photo in originals for item in items if "-" in item.name)
    # Where all cameras have many photos, every fifth is a stranger.
    many = mixed_disk.cast([camera for camera in "abcde" for _ in range(8)])
    assert [item.photo for item in many if item.kind == "stranger"] == [32]
    with pytest.raises(SamecamError, match="No camera has 8 photos"):
        mixed_disk.cast(["a", "b"])


def test_copies_stand_where_their_originals_stand():
    listed = {"a": ("good", ""), "b": ("copy", "a"), "c": ("duplicate", "x"), "d": ("skipped", "")}
    answer = mixed_disk.with_copies(Answer({"a": 2}, {"a": 7}, True, 1.0, listed))
    assert (answer.groups, answer.cameras) == ({"a": 2, "b": 2}, {"a": 7, "b": 7})
    truth, labels = np.array([0, 0, 1, 2, 3]), np.array([4, 4, 4, -1, -1])
    assert mixed_disk.wrong_pairs(truth, labels) == 2


def test_where_files_of_a_disk_should_be(tmp_path):
    """At their camera, or in no group."""
    kinds = list(mixed_disk.KINDS)
    rows = [  # kind, camera, label, status
        *(("original", 0, 4, "good"), ("original", 0, 4, "good"), ("original", 1, 5, "good")),
        *(("sent", 0, 4, "good"), ("sent", 1, 4, "good"), ("sent", 1, -1, "weak")),
        *(("damaged", 0, -1, "skipped"), ("stranger", 2, -1, "good"), ("stranger", 3, 5, "good")),
    ]
    kind, truth, labels, status = zip(*rows, strict=True)
    arrays = {"truth": np.array(truth), "cameras": np.array(labels), "status": np.array(status)}
    arrays["kind"] = np.array([kinds.index(word) for word in kind])
    context = Context(Study(tmp_path), quick=True)
    name = mixed_disk._name(context)
    context.study.run(f"{name}/disk", lambda: Run(arrays, {"seconds": 1.0, "frames": 2}))
    result = experiment("mixed-disk").score(context.study, context)
    told = {row["kind"]: (row["files"], row["right"], row["wrong"]) for row in result["rows"]}
    assert told == {
        "original": (3, 3, 0), "sent": (3, 1, 1), "damaged": (1, 1, 0), "stranger": (2, 1, 1),
    }  # fmt: skip
    assert result["cameras"] == 2
    assert result["wrong_pairs"] == 4
    text = experiment("mixed-disk").text(result)
    assert "4 of 6 (67%) are at their camera" in text
    assert "| messenger's copy, its original gone | 3 | 33% | 1 | good 2, weak 1 |" in text


@pytest.mark.usefixtures("quick_search")
def test_a_small_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(mixed_disk, "QUICK", (2, 12, ((640, 480), (512, 384)), 1))
    result = written("mixed-disk", tmp_path)
    listed = {row["kind"]: row["listed"] for row in result["rows"]}
    assert listed["damaged"] == {"skipped": 2}
    assert listed["duplicate"] == {"duplicate": 4}
    assert sum(listed["graphic"].values()) == mixed_disk.QUICK_GRAPHICS
    assert listed["graphic"].keys() <= {"weak", "unusable"}
    assert result["frames"] == 2
    assert result["wrong_pairs"] == 0
    assert not (tmp_path / "study" / "work" / result["set"]).exists()


def test_parts_of_a_frame(tmp_path):
    from PIL import Image

    for k, size in enumerate([(1600, 1200)] * 20 + [(2000, 1400)]):
        Image.new("L", size).save(tmp_path / f"{k}.png")
    files = tuple(sorted(Path(tmp_path).glob("*.png")))
    photos = PhotoSet("real", "real", files, ("a",) * len(files))
    assert frames.parts(photos) == [("256", 256), ("512", 512), ("half", 979), ("whole", None)]


def test_shares_of_a_frame_on_simulated_photos(tmp_path, monkeypatch):
    monkeypatch.setattr(frames, "QUICK", (2, 6, (640, 544), 1))
    monkeypatch.setattr(frames, "SIDES", (256,))
    monkeypatch.setattr(frames, "QUALITY", (85, 95))
    result = written("frames", tmp_path)
    assert [row["part"] for row in result["rows"]] == ["256", "half", "whole"]
    shares = [row["share"] for row in result["rows"]]
    assert shares == pytest.approx([256**2 / 640 / 544, 0.5, 1], abs=1e-3)
    assert result["rows"][-1]["f"] >= result["rows"][0]["f"]
    assert (result["cameras"], result["strangers"]) == (2, 1)
    text = experiment("frames").text(result)
    assert "2 cameras and 1 strangers" in text
    assert "behind" not in text
    result["rows"][1]["f"] = 1.1
    assert "**The whole frame is behind** the squares of 417 (1)." in experiment("frames").text(
        result
    )
