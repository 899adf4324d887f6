import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam import evidence
from samecam.evidence import PairEvidence
from samecam.simulate import gram


@given(st.floats(1e-12, 0.5))
def test_a_rate_is_never_understated(p):
    text = evidence.rate_text(p)
    count = int(text.removeprefix("1 in ").replace(",", ""))
    assert 1 / count >= p * (1 - 1e-8)
    assert 1 / count <= p * 1.5 + 1e-15 or count == 1


def test_rates_as_people_say_them():
    assert evidence.rate_text(0.01) == "1 in 100"
    assert evidence.rate_text(0.000377) == "1 in 2,600"
    assert evidence.rate_text(1.0) == "1 in 1"
    assert evidence.rate_text(math.nan) == "not known"
    for wrong in (0.0, -0.1, 1.5):
        with pytest.raises(ValueError, match="give a probability"):
            evidence.rate_text(wrong)


@pytest.fixture(scope="module")
def looked():
    G, truth = gram([15] * 12 + [1] * 10, 0.05, seed=0)
    labels = np.where(truth < 12, truth, -1)
    given = evidence.comparisons_from_gram(G, labels)
    null = evidence.measured_null(given)
    return labels, given, null, evidence.photo_evidence(given, null)


def test_photos_say_what_they_were_compared_with(looked):
    labels, _, null, photos = looked
    strong = int(np.nanargmax(photos.z))
    sentence = evidence.photo_sentence(photos, strong)
    assert f"group {labels[strong]}" in sentence
    assert "any of the 12 groups compared in at most 1 in " in sentence
    assert evidence.rate_text(null.floor * 12) in sentence
    for alone in np.flatnonzero(labels < 0):
        assert evidence.photo_sentence(photos, alone).startswith("In no group. Nearest is group")


def test_no_bound_is_stated_where_none_was_measured():
    G, truth = gram([8, 1], 0.1)
    labels = np.where(truth == 0, 0, -1)
    given = evidence.comparisons_from_gram(G, labels)
    null = evidence.measured_null(given, null_scale=0.002)
    photos = evidence.photo_evidence(given, null)
    member = int(np.flatnonzero(labels == 0)[0])
    assert "no bound" in evidence.photo_sentence(photos, member)
    assert "none is stated" in evidence.null_sentence(null)
    nobody = evidence.comparisons_from_gram(G, np.full(9, -1))
    lonely = evidence.photo_evidence(nobody, evidence.measured_null(nobody, null_scale=0.002))
    assert "none of its width and height to compare" in evidence.photo_sentence(lonely, 0)


def test_the_null_names_its_comparisons_and_floor(looked):
    _, _, null, _ = looked
    sentence = evidence.null_sentence(null)
    assert f"{null.comparisons:,} comparisons" in sentence
    assert evidence.rate_text(null.floor) in sentence
    assert "parts of one camera" not in sentence
    cut = dataclasses.replace(null, left_out=np.array([[0, 1]]))
    assert "1 pair of groups that may be parts of one camera" in evidence.null_sentence(cut)


def test_groups_say_why_they_are_two(looked):
    _, given, null, _ = looked
    found = evidence.group_evidence(given, null)[0]
    words = {
        "alone": "no other group",
        "different": "do not look like one camera",
        "unclear": "a common model",
        "near": "may well be one camera",
        "too weak": "too few or too weak",
    }
    for apart, part in words.items():
        assert part in evidence.apart_sentence(dataclasses.replace(found, apart=apart))


def test_base_rate_counts_all_comparisons():
    sentence = evidence.base_rate_sentence(384, 22, 0.001)
    assert "8,448 comparisons" in sentence
    assert "up to 8.4 false links" in sentence


def test_unmoving_scenes_are_named():
    every, unlike = PairEvidence(190, 0.03, 90.0), PairEvidence(100, 0.011, 42.0)
    sentence = evidence.still_sentence(20, 20, every, unlike)
    assert "100 pairs of unlike pictures alone the mean correlation is 0.0110" in sentence
    none = evidence.still_sentence(5, 5, every, PairEvidence(0, math.nan, math.nan))
    assert "not evidence of a sensor" in none


def test_a_link_is_to_a_sensor_and_absence_means_little():
    assert "not a person" in evidence.SENSOR
    assert "no evidence of different cameras" in evidence.ABSENCE
    assert "model" in evidence.MODEL


def test_views_say_what_they_rest_on():
    sentence = evidence.view_sentence(45.63, 1e-4, 0.931, 2)
    assert sentence == (
        "Seen so, it correlates with the fingerprint of group 2 by 45.6 times what chance "
        "scatters, 93% of what one camera would show; chance does that anywhere in all that was "
        "searched in at most 1 in 10,000 cases."
    )
    assert "1 in 1,000,000,000,000 cases" in evidence.view_sentence(99, 0.0, None, 0)
    assert "no bound" in evidence.view_sentence(3, 0.7, None, 0)
