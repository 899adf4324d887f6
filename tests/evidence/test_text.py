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
    null, unknown = evidence.measured_null(given), evidence.Chance.unknown(len(labels))
    scores = evidence.photo_scores(given, null, unknown, unknown)
    photos = evidence.photo_evidence(given, scores, 512**2)
    return labels, photos, evidence.group_evidence(given, null, scores[0], 512**2)


def test_photos_say_what_speaks_for_them(looked):
    labels, photos, _ = looked
    strong = int(np.nanargmax(photos.score))
    sentence = evidence.photo_sentence(photos, strong)
    group = f"group {labels[strong]}"
    assert f"the other photos of {group} is" in sentence
    assert (
        f"Such a score is at least 3,000 times more probable if the camera of {group} took the "
        "photo than if another camera did; larger values are not supported: strong support for "
        "one camera."
    ) in sentence
    assert "than if another body of the same model did" in sentence
    assert "compared with 12 groups" in sentence
    assert "doubtful" not in sentence
    for alone in np.flatnonzero(labels < 0):
        assert evidence.photo_sentence(photos, alone).startswith("In no group. Nearest is group")


def test_where_another_group_names_the_model_only_that_is_said(looked):
    _, photos, _ = looked
    strong = int(np.nanargmax(photos.score))
    sentence = evidence.photo_sentence(photos, strong, same_model=True)
    assert "Files of another group name the same model." in sentence
    assert "if another camera did" not in sentence
    assert "another body of the same model did" in sentence


def test_doubtful_places_say_so(looked):
    labels, photos, _ = looked
    score = photos.score.copy()
    some = int(np.flatnonzero(labels >= 0)[0])
    score[some] = 4.2
    sentence = evidence.photo_sentence(dataclasses.replace(photos, score=score), some)
    assert "Its place is doubtful: a score below 5." in sentence


def test_photos_of_other_sizes_have_nothing_to_be_compared_with():
    nobody = evidence.comparisons_from_gram(np.eye(9), np.full(9, -1))
    scores = (np.full(9, np.nan), np.full(9, np.nan))
    lonely = evidence.photo_evidence(nobody, scores, 512**2)
    assert "none of its width and height to compare" in evidence.photo_sentence(lonely, 0)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (4.0, "at least 10,000 times"),
        (9.0, "at least 10,000 times"),
        (3.99, "10,000 times"),
        (2.4, "300 times"),
        (0.3, "2 times"),
        (0.18, "1.5 times"),
        (-1.7, "50 times"),
    ],
)
def test_ratios_as_people_say_them(ratio, text):
    assert evidence.ratio_text(ratio, 4.0) == text


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.2, "no support for either"),
        (0.8, "weak support for one camera"),
        (1.9, "moderate support for one camera"),
        (2.5, "moderately strong support for one camera"),
        (3.5, "strong support for one camera"),
        (8.0, "strong support for one camera"),
        (-1.5, "moderate support for another camera"),
        (math.nan, "not known"),
    ],
)
def test_the_verbal_scale(ratio, words):
    assert evidence.support(ratio, 4.0) == words


def test_the_law_is_named_and_said_to_be_wider():
    assert f"law {evidence.LAW_VERSION})." in evidence.law_sentence(evidence.STRANGERS)
    wide = evidence.STRANGERS.widened(1.3)
    assert "widened by a factor of 1.30" in evidence.law_sentence(wide)


def test_groups_say_why_they_are_two_and_never_different_for_nothing(looked):
    found = looked[2][0]
    words = {
        "alone": "no other group",
        "different": "different in this mode",
        "may be one": "may be one camera in two modes, or share processing",
        "not shown": "not shown to be one camera",
    }
    for apart, part in words.items():
        assert part in evidence.apart_sentence(dataclasses.replace(found, apart=apart))
    other_mode = dataclasses.replace(found, apart="different")
    assert "not shown" in evidence.apart_sentence(other_mode, same_mode=False)
    assert "times more probable for two cameras" in evidence.apart_sentence(
        dataclasses.replace(found, apart="different", nearest_ratio=-1.5)
    )


def test_divisions_and_what_repeats_are_told():
    second = np.array([True, False, True, False, False])
    division = evidence.Division(second, 0.002, 0.02, 1.4, falls_apart=True)
    assert "divided into 3 and 2 photos" in evidence.division_sentence(5, division)
    assert "10% of what one camera would show" in evidence.division_sentence(5, division)
    assert evidence.repeats_sentence(0.47).startswith("47% of what its photos have in common")


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
        "Seen so, it correlates with the fingerprint of group 2 with a score of 45.6 (chance "
        "scatters by 1), 93% of what one camera would show; chance does that anywhere in all "
        "that was searched in at most 1 in 10,000 cases."
    )
    assert "1 in 1,000,000,000,000 cases" in evidence.view_sentence(99, 0.0, None, 0)
    assert "no bound" in evidence.view_sentence(3, 0.7, None, 0)
