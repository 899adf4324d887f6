"""What is particular to each rival."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from samecam import correlate
from samecam.cluster import SSC
from samecam.cluster.rivals import (
    CCC,
    MSC,
    RIVALS,
    AverageLinkage,
    Bloy,
    Hierarchical,
    LinLS,
    NCuts,
)
from samecam.cluster.rivals._bloy import grow, threshold
from samecam.cluster.rivals._lin_evidence import (
    FingerprintEvidence,
    GramEvidence,
    area_weights,
    reduced_rows,
)
from samecam.cluster.rivals._lin_steps import attract, batched_graph, merge_centroids
from samecam.metrics import scores
from samecam.simulate import fingerprints, gram

GIVEN = {"metric": "precomputed", "n_pixels": 512**2}


def seeded(Method, seed, **options):
    """The method with that seed, if there is chance in it."""
    chance = "random_state" in Method().get_params()
    return Method(**({"random_state": seed} if chance else {}), **options)


# Multiclass spectral clustering


def test_msc_stops_before_the_first_single_photo():
    drawn = gram([30] * 4, 0.02, seed=5)
    fitted = MSC(**GIVEN).fit(drawn.gram)
    assert np.bincount(fitted.labels_).min() >= 2
    assert fitted.n_clusters_ >= 4


# Hierarchical


def test_hierarchical_takes_the_level_of_the_least_silhouette():
    drawn = gram([30] * 4, 0.03, seed=5)
    fitted = Hierarchical(**GIVEN).fit(drawn.gram)
    n = len(drawn.labels)
    assert len(fitted.silhouettes_) == n
    groups = fitted.n_clusters_ + np.count_nonzero(fitted.labels_ < 0)
    assert np.argmin(fitted.silhouettes_) == n - groups


def test_one_camera_is_one_group():
    drawn = gram([40], 0.05, seed=1)
    for method in (Hierarchical(**GIVEN), NCuts(**GIVEN), LinLS(**GIVEN), Bloy(**GIVEN)):
        assert method.fit(drawn.gram).n_clusters_ == 1


# Average linkage


def test_linkage_is_cut_at_the_mean_pce():
    drawn = gram([10] * 5, 0.03, seed=2, dtype=np.float64)
    fitted = AverageLinkage(**GIVEN).fit(drawn.gram)
    energy = np.sign(drawn.gram) * drawn.gram**2 * 512**2
    single = np.where(fitted.labels_ < 0, 100 + np.arange(50), fitted.labels_)
    groups = [np.flatnonzero(single == c) for c in set(single.tolist())]
    assert max(energy[np.ix_(a, b)].mean() for a, b in itertools.combinations(groups, 2)) < 60
    strict = AverageLinkage(pce=200, **GIVEN).fit(drawn.gram)
    assert np.count_nonzero(strict.labels_ < 0) > np.count_nonzero(fitted.labels_ < 0)


# Normalised cuts


def test_every_part_exceeds_the_threshold():
    drawn = gram([15] * 4, 0.05, seed=3)
    fitted = NCuts(**GIVEN).fit(drawn.gram)
    assert fitted.threshold_ == 0.037
    for c in range(fitted.n_clusters_):
        part = drawn.gram[np.ix_(fitted.labels_ == c, fitted.labels_ == c)]
        m = len(part)
        assert (part.sum() - m) / (m * (m - 1)) > 0.037
    measured = NCuts(null="measured", **GIVEN).fit(drawn.gram)
    assert measured.threshold_ == pytest.approx(3 * measured.null_scale_)
    assert NCuts(null_scale=0.01, **GIVEN).fit(drawn.gram).threshold_ == pytest.approx(0.03)
    assert NCuts(threshold=0.05, null="measured", **GIVEN).fit(drawn.gram).threshold_ == 0.05


# Greedy growing


def test_bloy_threshold_grows_with_the_group():
    floor = norm.isf(0.001) / 512
    assert threshold(2, 0.0, floor) == floor
    own = 0.05
    result = [threshold(m, own * m * (m - 1), floor) for m in (2, 10, 50)]
    expected = [0.2 * np.sqrt(m) * own / np.sqrt(1 + (m - 1) * own) for m in (2, 10, 50)]
    np.testing.assert_allclose(result, expected)
    assert result == sorted(result)


def test_growing_slowly():
    """The same photos join if the average fingerprint is computed anew each time."""
    X, truth = fingerprints([150, 10], 0.02, 2048, photo_cv=0.3, camera_spread=0, seed=3)
    G = (X @ X.T).astype(np.float64)
    np.fill_diagonal(G, 0)
    left = np.random.default_rng(0).permutation(160)
    pair = tuple(np.flatnonzero(truth == 0)[:2].tolist())
    floor = norm.isf(0.001) / np.sqrt(2048)
    group, frozen = list(pair), None
    for scan in range(2):
        for i in left:
            if i in group:
                continue
            if len(group) >= 50 or scan == 1:
                frozen = frozen or list(group)
            averaged = frozen or group
            mean = X[averaged].sum(axis=0)
            inside = G[np.ix_(averaged, averaged)].sum()
            r = X[i] @ mean / np.linalg.norm(mean)
            if r > threshold(len(averaged), inside, floor):
                group.append(int(i))
    result = grow(G, left, pair, floor)
    assert set(result.tolist()) == set(group)
    assert len(result) > 50


def test_bloy_ends_when_no_pair_is_left():
    drawn = gram([30] * 2, 0.05, seed=1)
    few, many = (
        Bloy(n_pairs=k, random_state=1, **GIVEN).fit(drawn.gram).n_clusters_ for k in (1, 1000)
    )
    assert few <= many


# Lin-LS


def slow_graph(G, batch, threshold):
    """Every pair that is held in memory together, photo by photo."""
    n, pairs, held = len(G), set(), []
    for start in range(0, n, batch):
        new = list(range(start, min(start + batch, n)))
        for i in new:
            pairs |= {frozenset((i, j)) for j in held + new if j != i and G[i, j] > threshold}
        partners = set().union(*pairs) if pairs else set()
        held = [i for i in held + new if i in partners]
    result = np.zeros((n, n))
    for i, j in pairs:
        result[i, j] = result[j, i] = 1
    return result


@pytest.mark.parametrize("batch", [1, 3, 7, 100])
def test_graph_in_batches_slowly(batch):
    G = gram([6, 5, 4, 1, 1, 1], 0.01, seed=2).gram
    graph = batched_graph(lambda a, b: G[np.ix_(a, b)], np.arange(18), batch, 0.006)
    np.testing.assert_array_equal(graph.toarray(), slow_graph(G, batch, 0.006))
    if batch == 100:
        np.testing.assert_array_equal(graph.toarray(), (G > 0.006) & ~np.eye(18, dtype=bool))
    some = np.array([3, 9, 1])
    part = batched_graph(lambda a, b: G[np.ix_(a, b)], some, batch, -2)
    assert part.shape == (3, 3)


def slow_merge(X, groups, floor):
    """Merge with the fingerprints themselves, best pair first."""
    groups = [list(g) for g in groups]
    while True:
        best, pair = -1.0, None
        for a, b in itertools.combinations(range(len(groups)), 2):
            sums = [X[groups[k]].sum(axis=0) for k in (a, b)]
            n = [len(groups[k]) for k in (a, b)]
            rho = [
                max(s @ s - m, 0) / (m * (m - 1)) if m > 1 else 0.0
                for s, m in zip(sums, n, strict=True)
            ]
            expected = np.sqrt(n[0] * n[1] * rho[0] * rho[1]) / np.sqrt(
                (1 + (n[0] - 1) * rho[0]) * (1 + (n[1] - 1) * rho[1])
            )
            r = sums[0] @ sums[1] / np.linalg.norm(sums[0]) / np.linalg.norm(sums[1])
            if r > max(floor, expected / 2) and r > best:
                best, pair = r, (a, b)
        if pair is None:
            return {frozenset(g) for g in groups}
        groups[pair[0]] += groups.pop(pair[1])


@pytest.mark.parametrize("seed", range(3))
def test_merging_by_centroids_slowly(seed):
    X, truth = fingerprints([12, 9, 6], 0.1, 1024, seed=seed)
    X = X.astype(np.float64)
    pieces = np.unique(truth * 4 + np.arange(27) % 4, return_inverse=True)[1]
    products = np.eye(pieces.max() + 1)[pieces].T @ X @ X.T @ np.eye(pieces.max() + 1)[pieces]
    given = products.copy()
    floor = norm.isf(0.001) / 32
    root = merge_centroids(products, np.bincount(pieces), floor)
    merged = root[pieces]
    result = {frozenset(np.flatnonzero(merged == c).tolist()) for c in set(merged.tolist())}
    groups = [np.flatnonzero(pieces == c) for c in range(pieces.max() + 1)]
    assert result == slow_merge(X, groups, floor)
    assert len(result) < len(groups)
    np.testing.assert_array_equal(products, given)


def products_of(size, own, across):
    """Products of summed fingerprints from mean correlations within and between groups."""
    size = np.array(size, dtype=float)
    result = np.array(across, dtype=float) * np.outer(size, size)
    np.fill_diagonal(result, size + size * (size - 1) * np.array(own))
    return result


@pytest.mark.parametrize(("across", "groups"), [(0.07, 2), (0.12, 1)])
def test_groups_merge_at_half_of_what_one_camera_shows(across, groups):
    """The mean correlation between two groups against .2 within them: .35 and .6 of it."""
    products = products_of([10, 12], [0.2, 0.2], [[0, across], [across, 0]])
    assert len(set(merge_centroids(products, np.array([10, 12]), 0.006).tolist())) == groups


def test_a_merged_group_is_judged_by_what_it_became():
    """C would go with B alone; once A and B are one, it is too far from both together."""
    across = [[0, 0.18, -0.1], [0.18, 0, 0.12], [-0.1, 0.12, 0]]
    size = np.array([10, 10, 10])
    products = products_of(size, [0.2] * 3, across)
    assert merge_centroids(products, size, 0.006).tolist() == [0, 0, 2]
    assert len(set(merge_centroids(products[1:, 1:], size[1:], 0.006).tolist())) == 1


def test_attraction_takes_the_best_above_the_floor():
    r = np.array([[0.5, 0.6], [0.1, 0.0], [0.3, 0.2], [0.9, 0.9]])
    assert attract(np.array([-1, -1, -1, 1]), r, 0.25).tolist() == [1, -1, 0, 1]
    assert attract(np.array([-1, -1]), np.zeros((2, 0)), 0.25).tolist() == [-1, -1]


def test_reduction_is_the_mean_over_cells():
    rows = np.random.default_rng(0).standard_normal((3, 512 * 512)).astype(np.float32)
    cells = rows.reshape(3, 256, 2, 256, 2).mean(axis=(2, 4)).reshape(3, -1)
    np.testing.assert_allclose(reduced_rows(rows, 2**30), correlate.normalised(cells), atol=1e-6)
    weights = area_weights(5, 2)
    np.testing.assert_allclose(weights, [[0.4, 0.4, 0.2, 0, 0], [0, 0, 0.2, 0.4, 0.4]], atol=1e-7)
    small = rows[:, :4096]
    np.testing.assert_array_equal(reduced_rows(small, 2**30), correlate.normalised(small))


def test_both_sources_of_evidence_agree():
    """Up to what reduction and equalisation change, which is nothing for 32×31 white pixels."""
    X, truth = fingerprints([10, 8], 0.3, 32 * 31, seed=1)
    X = correlate.normalised(X)
    here, there = GramEvidence(correlate.gram(X)), FingerprintEvidence(X, 2**28)
    labels = np.where(np.arange(18) < 12, truth, -1)
    rows = np.arange(5, 11)
    np.testing.assert_allclose(here.fine(rows), there.fine(rows), atol=1e-5)
    np.testing.assert_allclose(here.coarse(rows, rows[:3]), there.coarse(rows, rows[:3]), atol=1e-5)
    np.testing.assert_allclose(here.group_products(labels), there.group_products(labels), atol=1e-4)
    free = labels < 0
    np.testing.assert_allclose(
        here.attraction(labels)[free], there.attraction(labels)[free], atol=1e-5
    )


def test_equalisation_takes_periodic_patterns_off_the_group_fingerprints():
    """A pattern of period 8 that all cameras share would attract strangers to any group."""
    side = 64
    X, truth = fingerprints([30, 20], 0.05, side * side, seed=2)
    wave = np.sin(2 * np.pi * np.arange(side) / 8)
    shared = 0.3 * np.add.outer(wave, wave).ravel() / side
    X = correlate.normalised(X + shared)
    labels = np.where(truth == 0, 0, -1)
    plain = GramEvidence(correlate.gram(X)).attraction(labels)[truth == 1, 0]
    equalised = FingerprintEvidence(X, 2**28).attraction(labels)[truth == 1, 0]
    assert plain.mean() > 3 / side
    assert abs(equalised.mean()) < plain.mean() / 3


def test_lin_ls_on_full_fingerprints():
    """512² fingerprints are reduced for the coarse step; the scale of both steps is its own."""
    X, truth = fingerprints([8] * 3, 0.05, 512 * 512, photo_cv=0.3, camera_spread=0.1, seed=4)
    for null in ("published", "measured"):
        fitted = LinLS(null=null).fit(X)
        assert scores(truth, fitted.labels_).f >= 0.95
        assert fitted.null_scale_ == pytest.approx(1 / 512, rel=0.15)
    assert fitted.rounds_ >= 1
    given = LinLS(null_scale=0.003).fit(X)
    assert given.null_scale_ == 0.003
    assert given._set_scales(FingerprintEvidence(X[:2], 2**28)) == pytest.approx(0.006)


def test_small_batches_and_screening():
    drawn = gram([20] * 4 + [2], 0.05, photo_cv=0.3, seed=3)
    fitted = LinLS(batch=16, **GIVEN).fit(drawn.gram)
    assert scores(drawn.labels[drawn.labels < 4], fitted.labels_[drawn.labels < 4]).f > 0.9
    assert np.bincount(fitted.labels_[fitted.labels_ >= 0]).min() >= 3
    strict = LinLS(min_size=30, **GIVEN).fit(drawn.gram)
    assert (strict.labels_ == -1).all()


# Consensus


def test_ccc_starts_from_too_many_groups_and_joins_them():
    drawn = gram([25] * 6, 0.02, seed=1)
    fitted = CCC(**GIVEN).fit(drawn.gram)
    assert fitted.n_consensus_ > 6
    assert fitted.n_clusters_ <= fitted.n_consensus_
    assert scores(drawn.labels, fitted.labels_).f > 0.9


def test_photos_that_all_clusterings_put_together_are_not_parted():
    """With so few photos every merge changes the partition; unanimous ones are done."""
    drawn = gram([4] * 3, 0.3, photo_cv=0.1, seed=1)
    fitted = CCC(tolerance=0.0, **GIVEN).fit(drawn.gram)
    assert fitted.n_consensus_ == 3
    assert scores(drawn.labels, fitted.labels_).f == 1


def test_ccc_published_scale_is_the_spread_of_all_correlations():
    G = gram([20] * 10, 0.02, seed=1).gram
    values = G[np.triu_indices(200, 1)]
    expected = 1.4826 * np.median(np.abs(values - np.median(values)))
    assert CCC(**GIVEN).fit(G).null_scale_ == pytest.approx(expected, rel=1e-4)


# What was published, and what was measured before.


@pytest.mark.long
@pytest.mark.parametrize("sizes", [[100] * 10, [40, 46, 53, 60, 66, 66, 73, 76, 80, 100]])
def test_the_published_order_comes_out(sizes):
    """Phan 2017, JPEG photographs of ten cameras: F, mean of three draws."""
    methods = {**RIVALS, "ssc": SSC}
    reached = {name: [] for name in ("ssc", "lin-ls", "mrf", "msc", "hierarchical", "ncuts")}
    for seed in range(3):
        drawn = gram(sizes, 0.01, seed=seed)
        for name, values in reached.items():
            fitted = seeded(methods[name], seed, **GIVEN).fit(drawn.gram)
            values.append(scores(drawn.labels, fitted.labels_).f)
    f = {name: np.mean(values) for name, values in reached.items()}
    assert min(f["ssc"], f["lin-ls"]) > max(f["mrf"], f["msc"])
    assert min(f["mrf"], f["msc"]) > f["hierarchical"] > f["ncuts"]


FLOORS = {
    "msc": 0.8, "lin-ls": 0.85, "ccc": 0.91, "hierarchical": 0.85, "mrf": 0.62, "ncuts": 0.73,
    "bloy": 0.6, "hdbscan": 0.71, "average-linkage": 0.37,
}  # fmt: skip


@pytest.mark.parametrize("name", FLOORS)
def test_real_correlations(golden_dir, name):
    """240 photographs of 22 cameras, 512²; the scale of chance measured; mean of three runs."""
    with np.load(golden_dir / "authors_ssc_nc.npz") as golden:
        matrix, cameras = golden["gram"], golden["cameras"].tolist()
    options = {"null": "measured"} if "null" in RIVALS[name]().get_params() else {}
    runs = [seeded(RIVALS[name], s, **options, **GIVEN).fit(matrix) for s in range(3)]
    assert np.mean([scores(cameras, run.labels_).f for run in runs]) >= FLOORS[name]
