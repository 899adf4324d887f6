import numpy as np
import pytest

from samecam import correlate
from samecam.evidence import (
    Chance,
    comparisons_from_gram,
    comparisons_from_rows,
    group_evidence,
    measured_null,
    pair_evidence,
    photo_scores,
)
from samecam.simulate import fingerprints, gram


def weighed(given, null_scale=None):
    null = measured_null(given, null_scale=null_scale)
    unknown = Chance.unknown(len(given.labels))
    scores, _ = photo_scores(given, null, unknown, unknown)
    return null, group_evidence(given, null, scores, 512**2)


def evidence_of(G, labels):
    return weighed(comparisons_from_gram(G, labels), 1 / 512)[1]


def test_numbers_of_a_group_are_the_obvious_ones():
    X, truth = fingerprints([12, 9, 7], 0.1, n_pixels=8100, seed=1)
    given = comparisons_from_rows(X, truth)
    null, every = weighed(given)
    G = correlate.gram(X)
    means = np.stack([X[truth == c].mean(axis=0) for c in range(3)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    like = means @ means.T
    for c, found in enumerate(every):
        members = np.flatnonzero(truth == c)
        pairs = G[np.ix_(members, members)][np.triu_indices(len(members), 1)]
        assert (found.group, found.size) == (c, len(members))
        assert found.intra_correlation == pytest.approx(pairs.mean(), abs=1e-6)
        assert found.score == pytest.approx(pairs.sum() / null.scale / len(pairs) ** 0.5, rel=1e-3)
        others = [b for b in range(3) if b != c]
        assert found.nearest == max(others, key=lambda b: like[c, b])
        assert found.nearest_correlation == pytest.approx(like[c, found.nearest], abs=1e-6)
        assert found.apart == "different"
        assert found.nearest_ratio < -1
        assert found.weakest < found.score


def test_expected_is_what_two_halves_of_one_camera_show():
    X, truth = fingerprints([40] * 6, 0.05, n_pixels=40_000, seed=2, photo_cv=0.1)
    labels = truth.copy()
    labels[np.flatnonzero(truth == 0)[::2]] = 6
    given = comparisons_from_rows(X, labels)
    _, found = weighed(given)
    assert found[0].nearest == 6
    assert found[6].nearest == 0
    assert found[0].nearest_correlation == pytest.approx(found[0].expected, rel=0.1)
    assert found[0].apart == found[6].apart == "may be one"
    assert found[0].nearest_ratio == found[0].cap == 3.5
    assert {f.apart for f in found[1:6]} <= {"different", "not shown"}


@pytest.mark.parametrize(
    ("share", "apart"),
    [(0.35, "may be one"), (0.8, "may be one"), (0.15, "may be one"), (0.0, "not shown")],
)
def test_why_two_groups_are_two(share, apart):
    # Two groups of strength ρ = .04 whose photos correlate across by share·ρ.
    G, truth = gram([25] * 10, 0.04, seed=1, camera_spread=0, photo_cv=0)
    across = (truth[:, None] < 2) & (truth[None] < 2) & (truth[:, None] != truth[None])
    found = evidence_of(G + np.where(across, share * 0.04, 0), truth)
    assert found[0].apart == apart
    if share:
        assert found[0].nearest == 1


def test_weak_groups_cannot_be_told_apart():
    G, truth = gram([2] * 30, 0.004, seed=0, camera_spread=0, photo_cv=0)
    assert {f.apart for f in evidence_of(G, truth)} == {"not shown"}


def test_a_single_group_is_alone():
    G, truth = gram([8], 0.05)
    (found,) = evidence_of(G, truth)
    assert (found.apart, found.nearest) == ("alone", -1)
    assert np.isnan(found.nearest_correlation)


def test_pairs_of_unlike_pictures_alone():
    rng = np.random.default_rng(0)
    G = 0.01 + 0.002 * rng.standard_normal((12, 12))
    G = (G + G.T) / 2
    alike = np.zeros((12, 12), dtype=bool)
    alike[:6, :6] = True
    np.fill_diagonal(alike, False)
    G[alike] += 0.05
    np.fill_diagonal(G, 1)
    every, unlike = pair_evidence(G, 0.002), pair_evidence(G, 0.002, alike)
    assert (every.pairs, unlike.pairs) == (66, 51)
    assert unlike.correlation == pytest.approx(0.01, abs=0.001)
    assert every.correlation == pytest.approx(0.01 + 0.05 * 15 / 66, abs=0.001)
    assert unlike.score == pytest.approx(unlike.correlation * 51**0.5 / 0.002)
    none = pair_evidence(G[:6, :6], 0.002, alike[:6, :6])
    assert none.pairs == 0
    assert np.isnan(none.score)
    with pytest.raises(ValueError, match=r"\(12, 12\)"):
        pair_evidence(G[:6, :6], 0.002, alike)


def test_what_repeats_is_a_share_of_what_members_show():
    G, truth = gram([20] * 3, 0.05)
    given = comparisons_from_gram(G, truth)
    null = measured_null(given)
    own = Chance(0.2 * given.own, np.full(60, 0.002), np.full(60, 1e-5), 64)
    found = group_evidence(given, null, given.own / 0.002, 512**2, own=own)
    assert [f.repeats for f in found] == pytest.approx([0.2] * 3)
    none = Chance(np.full(60, 1e-6), np.full(60, 0.002), np.full(60, 1e-5), 64)
    assert group_evidence(given, null, given.own / 0.002, 512**2, own=none)[0].repeats == 0
