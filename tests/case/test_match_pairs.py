"""Two photos without a case: one camera or not shown, turned, resized, alike, hostile."""

import csv
import os
import shutil
import threading

import numpy as np
import pytest
from PIL import Image

from samecam import evidence
from samecam.case import match_pairs
from samecam.errors import ParameterError, SamecamError
from samecam.simulate import simulate_photos
from tests.once import made_once
from tests.photos.pictures import encode, scene


def _take(folder):
    simulate_photos(folder, cameras=2, images=5, size=(1024, 768), seed=11, workers=1)


@pytest.fixture(scope="module")
def taken(tmp_path_factory):
    """Files of each of two cameras."""
    root = made_once(tmp_path_factory, "photos of pairs", _take)
    with open(root / "truth.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    cameras = sorted({row["camera"] for row in rows})
    return [[root / r["path"] for r in rows if r["camera"] == name] for name in cameras]


@pytest.fixture(scope="module")
def every(taken):
    """Every two of all photos, pixel by pixel."""
    return match_pairs([file for files in taken for file in files], search="off")


def camera_of(taken, name):
    return next(k for k, files in enumerate(taken) if name in {file.name for file in files})


def test_pairs_of_one_camera_match_and_others_do_not(taken, every):
    assert len(every.photos) == 10
    assert len(every.pairs) == 45
    same = [p for p in every.pairs if camera_of(taken, p.first) == camera_of(taken, p.second)]
    other = [p for p in every.pairs if p not in same]
    assert sum(pair.verdict == "match" for pair in same) >= len(same) // 2
    assert {pair.verdict for pair in other} == {"none"}
    assert every.comparisons == sum(pair.comparisons for pair in every.pairs)


def test_figures_are_those_of_evidence(every):
    law, count = evidence.STRANGERS, every.comparisons
    for pair in every.pairs:
        if pair.best is None:
            continue
        best, members = pair.best, evidence.usual_members(1024 * 768)
        assert best.p_value == pytest.approx(float(law.rate(best.score)))
        assert pair.adjusted == min(1.0, best.p_value * count)
        ratio = float(evidence.log_ratios(best.score, members))
        cap = evidence.largest_ratio(1024 * 768)
        weak = "weak" in {p.status for p in every.photos if p.path in (pair.first, pair.second)}
        assert best.cap == (min(cap, evidence.WEAK_CAP) if weak else cap)
        assert best.log10_lr == pytest.approx(min(ratio, best.cap))


def strong_pair(taken, every):
    """Two photos that clearly match."""
    best = max((p for p in every.pairs if p.verdict == "match"), key=lambda p: p.score)
    files = {file.name: file for some in taken for file in some}
    return files[best.first], files[best.second]


def test_two_photos_get_a_sentence_in_the_words_of_the_scale(taken, every, capfd):
    one, two = strong_pair(taken, every)
    result = match_pairs([one, two])
    (pair,) = result.pairs
    words = evidence.support(pair.best.log10_lr, pair.best.cap)
    assert result.summary == pair.support == words
    assert pair.sentence.startswith(f"{words[0].upper()}{words[1:]}: such a score is ")
    assert "more probable if one camera took both photos than if two cameras did" in pair.sentence
    assert repr(result) == f"<PairMatches of 2 photos: {words}>"
    shown = result.as_dict()
    assert shown["pairs"][0]["sentence"] == pair.sentence
    assert "files" not in shown
    assert capfd.readouterr().out == ""


def test_a_turned_photo_is_found_pixel_by_pixel(taken, every, tmp_path):
    one, two = strong_pair(taken, every)
    with Image.open(two) as picture:
        picture.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned.png")
    (pair,) = match_pairs([one, tmp_path / "turned.png"], search="off").pairs
    assert pair.verdict == "match"
    assert pair.best.turned in (90, 270)
    assert f"the first turned by {pair.best.turned}°" in pair.sentence


def test_a_copy_is_alike_and_no_evidence(taken, every, tmp_path):
    one, _ = strong_pair(taken, every)
    with Image.open(one) as picture:
        picture.resize((768, 576)).save(tmp_path / "small.jpg", quality=92)
        picture.save(tmp_path / "again.jpg", quality=80)
    (small,) = match_pairs([one, tmp_path / "small.jpg"]).pairs
    assert small.verdict == "alike"
    assert small.seen is not None
    (again,) = match_pairs([one, tmp_path / "again.jpg"]).pairs
    assert again.verdict == "alike"
    assert again.seen is None
    for pair in (small, again):
        assert pair.sentence.startswith("The two look like one picture")
        assert "no evidence of a sensor" in pair.sentence
        assert "times more probable" not in pair.sentence
        assert pair.as_dict()["support"] == "one picture or scene"


def zoomed(tmp_path):
    """A photo, and one of the same sensor at 4/3 zoom."""
    rng = np.random.default_rng(5)
    pattern = rng.normal(size=(768, 1024))
    for k, name in enumerate(("wide.png", "zoomed.png")):
        gray = scene(90 + k, 1024, 768)[..., 0] * 0.5 + 60
        seen = np.clip(gray + 6 * pattern + rng.normal(size=gray.shape), 0, 255)
        picture = Image.fromarray(seen.astype(np.uint8))
        if k:
            picture = picture.crop((128, 96, 896, 672)).resize((1024, 768))
        picture.convert("RGB").save(tmp_path / name)
    return tmp_path / "wide.png", tmp_path / "zoomed.png"


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_a_zoomed_photo_is_found_by_a_view_whichever_is_first(names, tmp_path):
    wide, close = (
        file.rename(tmp_path / f"{name}.png")
        for file, name in zip(zoomed(tmp_path), names, strict=True)
    )
    (pair,) = match_pairs([wide, close], search="normal").pairs
    assert pair.verdict == "match"
    scale = 3 / 4 if names == ("a", "b") else 4 / 3
    assert pair.seen.view.scale == pytest.approx(scale, rel=0.003)
    assert ("zoom" if scale > 1 else "wider") in pair.seen.words
    assert "No likelihood ratio is stated for a view." in pair.sentence
    assert pair.support == "one camera, by a view"
    assert pair.as_dict()["seen"]["view"]["scale"] == pair.seen.view.scale
    (pixels,) = match_pairs([wide, close], search="off").pairs
    assert (pixels.verdict, pixels.by_views) == ("none", False)


def test_the_same_bytes_and_no_photo_are_said(taken, tmp_path):
    one = taken[0][0]
    shutil.copy(one, tmp_path / "copy.jpg")
    odd = os.fsdecode(b"odd\xff\n.jpg")
    (tmp_path / odd).write_bytes(b"no photo")
    result = match_pairs([one, tmp_path / "copy.jpg", tmp_path / odd])
    told = {(p.first, p.second): p for p in result.pairs}
    assert told[one.name, "copy.jpg"].verdict == "same"
    assert "same bytes" in told[one.name, "copy.jpg"].sentence
    assert told[one.name, odd].verdict == "unusable"
    assert told[one.name, odd].sentence.startswith("Not compared: ")
    assert [p.status for p in result.photos if p.path == odd] == ["skipped"]
    assert result.summary == "0 of 3 pairs match"


def test_frames_that_differ_are_said(taken, tmp_path):
    (tmp_path / "wide.png").write_bytes(encode(scene(1, 600, 400), "PNG"))
    (pair,) = match_pairs([taken[0][0], tmp_path / "wide.png"], search="off").pairs
    assert (pair.verdict, pair.best, pair.support) == ("none", None, "not compared")
    assert "their widths and heights differ" in pair.sentence


def test_wrong_arguments_are_sentences(taken, tmp_path):
    one = taken[0][0]
    for k in range(21):
        shutil.copy(one, tmp_path / f"{k}.jpg")
    with pytest.raises(SamecamError, match="21 photos were given, and every two of up to 20"):
        match_pairs(tmp_path)
    with pytest.raises(SamecamError, match="is the only photo: give two, or a case"):
        match_pairs([one, one])
    with pytest.raises(ParameterError, match="give one of"):
        match_pairs(taken[0][:2], search="far")
    with pytest.raises(SamecamError, match="give a probability"):
        match_pairs(taken[0][:2], rate=2)


def test_a_stop_gives_no_pair(taken):
    stop = threading.Event()
    result = match_pairs(taken[0][:2], progress=lambda *_: stop.set(), stop=stop)
    assert result.interrupted
    assert all(pair.verdict != "match" for pair in result.pairs)
