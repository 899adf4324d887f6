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
