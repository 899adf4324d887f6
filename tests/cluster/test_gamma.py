"""γ: as published, in units of chance, by the cost of Phan 2017."""

import numpy as np
import pytest
from scipy import sparse

from samecam.cluster import SSCNC, cost_gamma, normalised_cut, null_gamma, paper_gamma
from samecam.cluster._gamma import PUBLISHED
from samecam.metrics import scores
from samecam.simulate import gram
from tests.cluster.graphs import blocks


@pytest.mark.parametrize(
    ("side", "published"), [(256, 0.0045), (512, 0.0018), (768, 0.0012), (1024, 0.0008)]
)
def test_published_values(side, published):
    assert paper_gamma(side**2, "authors") == published
    assert paper_gamma(side**2, "exact") == 2 * published
    assert paper_gamma(side**2, "admm") == 2 * published
    assert paper_gamma(side**2) == 2 * published


@pytest.mark.parametrize("n_pixels", [1, 100, 4096, 512 * 513, 512**2 + 1, 2048**2])
def test_elsewhere_the_published_values_are_extended(n_pixels):
    assert paper_gamma(n_pixels, "authors") == pytest.approx(0.92 / np.sqrt(n_pixels))
    assert paper_gamma(n_pixels) == pytest.approx(1.84 / np.sqrt(n_pixels))


def test_published_values_are_near_their_extension():
    for side, gamma in PUBLISHED.items():
        assert gamma == pytest.approx(0.92 / side, rel=0.3)


def test_null_gamma_is_twice_the_scale_of_chance():
    assert null_gamma(0.0027) == pytest.approx(0.0054)
    assert null_gamma(0.0027, "admm") == pytest.approx(0.0054)
    assert null_gamma(0.0027, "authors") == pytest.approx(0.0027)


def obvious_cut(weights, labels):
    shares = []
    for group in range(labels.max() + 1):
        leaves = stays = 0.0
        for i in range(len(labels)):
            for j in range(len(labels)):
                if labels[i] == group and labels[j] == group:
                    stays += weights[i, j]
                elif labels[i] == group:
                    leaves += weights[i, j]
        shares.append(leaves / (leaves + stays))
    return sum(shares) / len(shares)


@pytest.mark.parametrize("unclustered", [0, 3])
def test_normalised_cut_equals_the_obvious_loop(unclustered):
    weights, group = blocks([5, 9, 4], between=0.4)
    labels = group.copy()
    labels[:unclustered] = -1
    expected = obvious_cut(weights.toarray(), labels)
    assert normalised_cut(weights, labels) == pytest.approx(expected)


def test_normalised_cut_of_separate_groups_is_zero():
    weights, group = blocks([5, 9, 4], between=0)
    assert normalised_cut(weights, group) == pytest.approx(0, abs=1e-12)
    assert normalised_cut(sparse.csr_array((3, 3)), np.full(3, -1)) == 0


def test_cost_picks_a_gamma_that_groups_right():
    drawn = gram([20] * 4, 0.03, photo_cv=0.2, camera_spread=0.1, seed=2)
    choice = cost_gamma(drawn.gram, candidates=np.geomspace(5e-4, 0.02, 7))
    assert choice.gamma in choice.costs
    assert len(choice.costs) == 7
    assert choice.costs[choice.gamma] == min(choice.costs.values())
    fitted = SSCNC(gamma=choice.gamma, metric="precomputed").fit(drawn.gram)
    assert scores(drawn.labels, fitted.labels_).f >= 0.95


def test_cost_is_the_published_sum():
    """J = Ncuts_K + 1/Δ_K + Δ_{K+1} + Δ_{K−1}, computed here once more from the parts."""
    drawn = gram([15] * 3, 0.05, seed=1)
    fitted = SSCNC(gamma=0.004, metric="precomputed", eigengap="authors").fit(drawn.gram)
    result, K = fitted.eigenvalues_, fitted.n_clusters_
    gap = {k: result[k] - result[k - 1] for k in range(1, len(result))}  # Δ_k = λ_{k+1} − λ_k
    cut = obvious_cut(fitted.affinity_.toarray(), fitted.labels_)
    expected = cut + 1 / gap[K] + gap[K + 1] + gap[K - 1]
    assert cost_gamma(drawn.gram, candidates=[0.004]).costs[0.004] == pytest.approx(expected)


def test_cost_of_nothing_is_infinite():
    drawn = gram([10] * 2, 0.05)
    assert cost_gamma(drawn.gram, candidates=[0.9, 5.0]).costs == {0.9: np.inf, 5.0: np.inf}
