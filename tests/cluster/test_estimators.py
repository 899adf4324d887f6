"""SSC and SSC-NC from end to end on collections whose cameras are known."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from samecam import correlate
from samecam.cluster import SSC, SSCNC, ConsolidatedSSC
from samecam.metrics import scores
from samecam.simulate import fingerprints, gram
from samecam.store import MemoryStore
from tests.cluster.graphs import as_sets

NULL = 1 / 512
BOTH = pytest.mark.parametrize("Method", [SSC, SSCNC])
WITHOUT = {
    "check_clustering": "asks for three groups of blobs in the plane; rows of two numbers, "
    "centred and brought to unit norm, can only be equal or opposite, so only two can be found"
}


@parametrize_with_checks(
    [SSC(), SSCNC(), ConsolidatedSSC()], expected_failed_checks=lambda _: WITHOUT
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def planted():
    """Five cameras of 40 photos, and their fingerprints."""
    return fingerprints([40] * 5, 0.03, 65536, seed=1)


@pytest.fixture(scope="module")
def clear():
    """Five cameras about whose photos there is no doubt, as correlations."""
    return gram([40] * 5, 0.03, photo_cv=0.2, camera_spread=0.1, seed=3)


def stored(rows):
    store = MemoryStore(rows.shape[1])
    for i, row in enumerate(rows):
        store.add(f"{i:05d}", row)
    store.commit()
    return store


# What is found.


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_planted_cameras_are_recovered(Method, seed):
    drawn = gram([40] * 5, 0.03, seed=seed)
    fitted = Method(metric="precomputed", n_pixels=512**2).fit(drawn.gram)
    result = scores(drawn.labels, fitted.labels_)
    assert result.f >= 0.95
    assert fitted.n_clusters_ == result.n_clusters == 5


@BOTH
def test_array_store_and_correlations_are_one(Method, planted):
    X = planted.X
    from_array = Method().fit(X)
    from_store = Method().fit(stored(X))
    given = Method(metric="precomputed", n_pixels=X.shape[1]).fit(correlate.gram(X))
    assert scores(planted.labels, from_array.labels_).f >= 0.95
    np.testing.assert_array_equal(from_array.labels_, from_store.labels_)
    np.testing.assert_array_equal(from_array.labels_, given.labels_)
    assert from_array.gamma_ == pytest.approx(given.gamma_, rel=1e-3)
    assert from_store.n_features_in_ == from_array.n_features_in_ == 65536


def test_rows_are_centred_and_normalised_inside(planted):
    X = planted.X[:80]
    scaled = X * np.linspace(0.5, 20, len(X), dtype=np.float32)[:, None] + 3
    np.testing.assert_array_equal(SSCNC().fit(scaled).labels_, SSCNC().fit(X).labels_)


@BOTH
@pytest.mark.parametrize("solver", ["admm", "authors"])
def test_solvers_agree_where_things_are_clear(Method, solver, clear):
    exact = Method(metric="precomputed", n_pixels=512**2).fit(clear.gram)
    other = clone(exact).set_params(solver=solver).fit(clear.gram)
    assert other.gamma_ == pytest.approx(exact.gamma_ / (2 if solver == "authors" else 1))
    np.testing.assert_array_equal(exact.labels_, other.labels_)
    assert as_sets(exact.labels_) == as_sets(clear.labels)


@BOTH
@pytest.mark.parametrize("scaling", ["max", "l1", "none"])
@pytest.mark.parametrize("rule", ["guarded", "authors"])
def test_every_reading_of_the_graph_finds_clear_cameras(Method, scaling, rule, clear):
    fitted = Method(metric="precomputed", scaling=scaling, eigengap=rule).fit(clear.gram)
    assert as_sets(fitted.labels_) == as_sets(clear.labels)


@BOTH
@pytest.mark.parametrize("gamma", ["auto", "paper", 0.004])
def test_every_gamma_finds_clear_cameras(Method, gamma, clear):
    fitted = Method(gamma=gamma, metric="precomputed", n_pixels=512**2).fit(clear.gram)
    assert as_sets(fitted.labels_) == as_sets(clear.labels)
    assert fitted.gamma_ == pytest.approx(0.004, rel=0.15)


def test_gamma_by_cost():
    drawn = gram([15] * 3, 0.05, photo_cv=0.2, seed=1)
    fitted = SSCNC(gamma="cost", metric="precomputed").fit(drawn.gram)
    assert 1e-4 <= fitted.gamma_ <= 0.02
    assert scores(drawn.labels, fitted.labels_).f >= 0.95


@BOTH
def test_the_order_of_photos_does_not_matter(Method):
    drawn = gram([30, 20, 25, 40], 0.03, seed=4)
    order = np.random.default_rng(0).permutation(len(drawn.labels))
    here = Method(metric="precomputed").fit(drawn.gram).labels_
    there = Method(metric="precomputed").fit(drawn.gram[np.ix_(order, order)]).labels_
    assert as_sets(there) == as_sets(here[order])
    assert np.bincount(there[there >= 0]).tolist() == np.bincount(here[here >= 0]).tolist()


def test_the_same_at_every_call():
    drawn = gram([12] * 8, 0.01, seed=5)
    runs = [SSCNC(metric="precomputed", random_state=7).fit(drawn.gram) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].labels_, runs[1].labels_)
    np.testing.assert_array_equal(runs[0].eigenvalues_, runs[1].eigenvalues_)
    state = SSCNC(metric="precomputed", random_state=np.random.RandomState(7)).fit(drawn.gram)
    np.testing.assert_array_equal(runs[0].labels_, state.labels_)


@BOTH
@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_number_of_groups_may_be_given(Method, count, clear):
    fitted = Method(metric="precomputed", n_clusters=count).fit(clear.gram)
    assert fitted.n_clusters_ == count
    sizes = np.bincount(fitted.labels_[fitted.labels_ >= 0])
    assert (np.diff(sizes) <= 0).all()


def test_results_hold_together(clear):
    fitted = SSCNC(metric="precomputed").fit(clear.gram)
    n = len(clear.labels)
    assert fitted.coefficients_.shape == fitted.affinity_.shape == (n, n)
    assert fitted.coefficients_.data.min() > 0
    assert SSC(metric="precomputed", gamma=NULL).fit(clear.gram).coefficients_.data.min() < 0
    assert fitted.report_.converged
    assert fitted.report_.gamma == fitted.gamma_ == 2 * fitted.null_scale_
    assert (np.diff(fitted.eigenvalues_) >= 0).all()
    assert fitted.labels_.dtype == np.intp
    assert set(fitted.labels_) - {-1} == set(range(fitted.n_clusters_))


def test_null_scale_may_be_given(clear):
    fitted = SSCNC(metric="precomputed", null_scale=0.003).fit(clear.gram)
    assert fitted.null_scale_ == 0.003
    assert fitted.gamma_ == pytest.approx(0.006)


# Odd collections.


@BOTH
@pytest.mark.parametrize("size", [20, 60, 300])
def test_one_camera_is_one_group(Method, size):
    drawn = gram([size], 0.05, photo_cv=0.3, seed=1)
    fitted = Method(metric="precomputed", n_pixels=512**2).fit(drawn.gram)
    assert fitted.n_clusters_ == 1
    assert np.count_nonzero(fitted.labels_ == 0) >= 0.95 * size


def test_outliers_do_little_harm():
    drawn = gram([30] * 5 + [1] * 10, 0.03, seed=2)
    fitted = SSCNC(metric="precomputed", n_pixels=512**2).fit(drawn.gram)
    inside = drawn.labels < 5
    assert scores(drawn.labels[inside], fitted.labels_[inside]).f >= 0.95


@BOTH
def test_strangers_only(Method):
    """Nobody is linked where every correlation is below γ."""
    drawn = gram([1] * 50, 0.03)
    fitted = Method(metric="precomputed", gamma=0.02).fit(drawn.gram)
    assert (fitted.labels_ == -1).all()
    assert fitted.n_clusters_ == 0
    assert fitted.eigenvalues_.size == 0


@BOTH
@pytest.mark.parametrize("solver", ["exact", "admm", "authors"])
@pytest.mark.parametrize("count", [None, 3])
def test_a_huge_gamma_leaves_everybody_alone(Method, solver, count, clear):
    fitted = Method(metric="precomputed", gamma=2.0, solver=solver, n_clusters=count)
    assert (fitted.fit(clear.gram).labels_ == -1).all()
    assert fitted.n_clusters_ == 0
    assert fitted.coefficients_.nnz == fitted.affinity_.nnz == 0


@BOTH
@pytest.mark.parametrize("gamma", ["auto", "paper", "cost", 0.004])
def test_a_single_photo(Method, gamma, planted):
    fitted = Method(gamma=gamma).fit(planted.X[:1])
    assert fitted.labels_.tolist() == [-1]
    assert fitted.n_clusters_ == 0


@BOTH
@pytest.mark.parametrize("gamma", ["auto", 0.004])
def test_two_photos(Method, gamma):
    alike = np.array([[1, 0.3], [0.3, 1]])
    foreign = np.array([[1, 0.001], [0.001, 1]])
    options = {"metric": "precomputed", "n_pixels": 512**2, "gamma": gamma}
    assert Method(**options).fit(alike).labels_.tolist() == [0, 0]
    assert Method(**options).fit(foreign).labels_.tolist() == [-1, -1]


@BOTH
def test_identical_photos_go_together(Method, planted):
    first, second = planted.X[0], planted.X[planted.labels != planted.labels[0]][0]
    fitted = Method(gamma=0.02).fit(np.stack([first] * 12))
    assert fitted.labels_.tolist() == [0] * 12
    fitted = Method().fit(np.stack([first] * 12 + [second] * 8))
    assert fitted.labels_.tolist() == [0] * 12 + [1] * 8


def test_a_constant_row_links_to_nobody(planted):
    X = np.concatenate([planted.X[:60], np.full((1, 65536), 7, dtype=np.float32)])
    assert SSCNC().fit(X).labels_[-1] == -1


# Manners.


@BOTH
def test_input_is_not_modified(Method, planted, clear):
    X = planted.X[:50].copy()
    Method().fit(X)
    np.testing.assert_array_equal(X, planted.X[:50])
    before = clear.gram.copy()
    Method(metric="precomputed").fit(clear.gram)
    np.testing.assert_array_equal(clear.gram, before)


@BOTH
def test_parameters_survive_cloning(Method):
    settings = {
        "gamma": 0.004, "n_clusters": 3, "solver": "admm", "scaling": "l1", "eigengap": "authors",
        "metric": "precomputed", "memory": 10**9, "random_state": 5, "null_scale": 0.002,
        "n_pixels": 4096, "device": "cuda:1",
    }  # fmt: skip
    first = Method(**settings)
    assert first.get_params() == clone(first).get_params() == settings
    assert set(Method().get_params()) == set(settings)


def test_float64_and_fortran_order_are_welcome(clear):
    here = SSCNC(metric="precomputed").fit(clear.gram).labels_
    for other in (clear.gram.astype(np.float64), np.asfortranarray(clear.gram)):
        np.testing.assert_array_equal(SSCNC(metric="precomputed").fit(other).labels_, here)


# What was measured before must hold.

# Cameras, photos of each, mean correlation, F of the prototype at γ = 2/√d (one figure each).
QUICK = (120, 5, 15, 0.03, 0.95)
TABLE = [
    (60, 10, 50, 0.01, 0.887),
    (60, 10, 50, 0.03, 0.983),
    (20, 100, 100, 0.01, 0.966),
    (20, 100, 100, 0.03, 0.994),
    (120, 5, 15, 0.01, 0.79),
    QUICK,
]


def check_against_prototype(row):
    """F, mean of three seeds, is within .02 of what the prototype reached, or better."""
    count, low, high, mean, prototype = row
    result = []
    for seed in range(3):
        sizes = np.random.default_rng(seed).integers(low, high + 1, count).tolist()
        drawn = gram(sizes, mean, seed=seed)
        fitted = SSCNC(gamma=2 * NULL, metric="precomputed").fit(drawn.gram)
        result.append(scores(drawn.labels, fitted.labels_).f)
    assert np.mean(result) >= prototype - 0.02


def test_many_small_cameras():
    check_against_prototype(QUICK)


@pytest.mark.long
@pytest.mark.parametrize("row", TABLE, ids=str)
def test_simulated_collections(row):
    check_against_prototype(row)


def test_real_correlations(golden_dir):
    with np.load(golden_dir / "authors_ssc_nc.npz") as golden:
        matrix, cameras = golden["gram"], golden["cameras"]
    fitted = SSCNC(gamma=0.0036, metric="precomputed").fit(matrix)
    assert scores(cameras.tolist(), fitted.labels_).f >= 0.85
    assert 20 <= fitted.n_clusters_ <= 24
