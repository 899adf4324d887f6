"""A stamp in pairs, references and groups of two or three photos."""

import numpy as np

from samecam import cluster_photos, verify_case
from samecam.case import match_pairs, match_reference
from tests.case.printed import HEIGHT, SETTINGS, WIDTH, alone, not_looked_for

LARGE = (slice(HEIGHT - 64, HEIGHT - 4), slice(WIDTH - 184, WIDTH - 4))


def test_two_photos_are_compared_without_the_stamp(tmp_path, monkeypatch):
    folder = alone(tmp_path / "photos", [(0, 0), (0, 1), (80, 0), (81, 0)])
    own = [folder / "0-0.jpg", folder / "0-1.jpg"]
    strangers = [folder / "80-0.jpg", folder / "81-0.jpg"]
    (pair,) = match_pairs(own, search="off").pairs
    assert pair.verdict == "match"
    assert pair.best.shared_score > pair.score
    assert "without a pattern that is no sensor's, of " in pair.sentence
    for search in ("off", "normal"):
        (pair,) = match_pairs(strangers, search=search).pairs
        assert pair.verdict == "none"
    not_looked_for(monkeypatch)
    (pair,) = match_pairs(strangers, search="off").pairs
    assert pair.verdict == "match"
    assert "no sensor's" not in pair.sentence


def test_a_reference_is_compared_without_the_stamp(tmp_path, monkeypatch):
    reference = alone(tmp_path / "reference", [(0, k) for k in range(4)])
    new = alone(tmp_path / "new", [(0, 70), (80, 0), (81, 0)])
    found = match_reference(reference, new).photos
    assert [match.verdict for match in found] == ["match", "none", "none"]
    not_looked_for(monkeypatch)
    monkeypatch.setattr("samecam.evidence.left_out", lambda *_, **__: [])
    found = match_reference(reference, new).photos
    assert "match" in {match.verdict for match in found[1:]}


def test_strangers_with_a_stamp_are_no_small_group(tmp_path, monkeypatch):
    large = {"stamp": 4, "place": LARGE}
    folder = alone(tmp_path / "photos", [(80, 0), (81, 0)], **large)
    alone(folder, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)], stamp=0)
    result = cluster_photos(folder, tmp_path / "case", **SETTINGS)
    assert [{path[0] for path in group.paths} for group in result.groups] == [{"0"}, {"1"}]
    assert not verify_case(tmp_path / "case").troubles
    monkeypatch.setattr("samecam.evidence.misled", lambda *_, **__: np.zeros(0, np.intp))
    result = cluster_photos(folder, tmp_path / "before", **SETTINGS)
    assert ["80-0.jpg", "81-0.jpg"] in [group.paths for group in result.groups]


def test_groups_of_two_or_three_stay_with_a_stamp(tmp_path):
    large = {"stamp": 6, "place": LARGE}
    folder = alone(tmp_path / "photos", [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (80, 0)], **large)
    result = cluster_photos(folder, tmp_path / "case", **SETTINGS)
    assert [{path[0] for path in group.paths} for group in result.groups] == [{"0"}, {"1"}]


def test_a_stamp_takes_no_photo_of_others_into_a_reference(tmp_path, monkeypatch):
    large = {"stamp": 6, "place": LARGE}
    own, others = [(0, k) for k in range(5)], [(80, 0), (81, 0), (82, 0)]
    reference = alone(tmp_path / "reference", own + others, **large)
    new = alone(tmp_path / "new", [(0, 70), (83, 0)], **large)
    found = match_reference(reference, new)
    assert {path[0] for path in found.used} == {"0"}
    assert sorted(outlier.path[0] for outlier in found.outliers) == ["8"] * 3
    assert [match.verdict for match in found.photos] == ["match", "none"]
    (frame,) = found.frames
    assert max(frame.scores) < found.photos[0].best.shared_score
    monkeypatch.setattr("samecam.evidence.left_out", lambda *_, **__: [])
    assert "8" in {path[0] for path in match_reference(reference, new).used}


def test_a_few_strangers_with_a_stamp_are_no_reference(tmp_path, monkeypatch):
    reference = alone(tmp_path / "reference", [(80, 0), (81, 0), (82, 0)], stamp=4, place=LARGE)
    new = alone(tmp_path / "new", [(0, 70)])
    more = alone(tmp_path / "more", [(80, 0), (81, 0), (82, 0)], stamp=4, place=LARGE)
    alone(more, [(83, 0), (84, 0)], stamp=0)
    for folder in (reference, more):
        assert not match_reference(folder, new).frames[0].agrees
    monkeypatch.setattr("samecam.evidence.misled", lambda *_, **__: np.zeros(0, np.intp))
    assert match_reference(reference, new).frames[0].agrees


def test_small_groups_say_what_they_have_in_common_with_others(tmp_path):
    large = {"stamp": 6, "place": LARGE}
    folder = alone(tmp_path / "photos", [(0, k) for k in range(6)], **large)
    alone(folder, [(1, 0), (1, 1), (80, 0)], **large)
    result = cluster_photos(folder, tmp_path / "case", **SETTINGS)
    assert [{path[0] for path in group.paths} for group in result.groups] == [{"0"}, {"1"}]
    assert [group.shared.groups for group in result.groups] == [[1], [0]]
    for group in result.groups:
        assert group.shared.median_without < group.shared.median
    assert not verify_case(tmp_path / "case").troubles
