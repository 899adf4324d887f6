"""Pair counts against loops and scikit-learn; properties shared by all scores."""

import dataclasses
import itertools
import json
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.metrics import Scores, per_camera, per_cluster, scores

SHARES = ["precision", "recall", "f", "rand_index", "purity", "ld_over_lg"]
UNBOUNDED = ["lp_over_lg"]
COUNTS = [
    "n_images", "n_clusters", "n_cameras", "n_discovered", "n_unclustered",
    "true_positives", "false_positives", "false_negatives", "true_negatives",
]  # fmt: skip
ADJUSTED = ["ari"]
SYMMETRIC = ["f", "rand_index", "ari", "true_positives", "true_negatives", "n_images"]
SWAPPED = [("precision", "recall"), ("false_positives", "false_negatives")]

pairs_of_labels = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 4)), max_size=40).map(
    lambda rows: ([t for t, _ in rows], np.array([p for _, p in rows], int))
)


def test_lists_of_properties_cover_every_field():
    assert set(SHARES + UNBOUNDED + COUNTS + ADJUSTED) == {
        field.name for field in dataclasses.fields(Scores)
    }


@given(pairs_of_labels)
def test_pair_counts_against_loops(case):
    truth, labels = case
    tp = fp = fn = tn = 0
    for i, j in itertools.combinations(range(len(truth)), 2):
        together = labels[i] == labels[j] and labels[i] >= 0
        same = truth[i] == truth[j]
        tp += together and same
        fp += together and not same
        fn += same and not together
        tn += not same and not together
    result = scores(truth, labels)
    assert (tp, fp, fn, tn) == (
        result.true_positives, result.false_positives,
        result.false_negatives, result.true_negatives,
    )  # fmt: skip
    assert result.precision == (tp / (tp + fp) if tp + fp else 1)
    assert result.recall == (tp / (tp + fn) if tp + fn else 1)
    assert result.f == (2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 1)


@given(pairs_of_labels)
def test_scikit_learn_with_unclustered_as_singletons(case):
    from sklearn.metrics import adjusted_rand_score, rand_score
    from sklearn.metrics.cluster import pair_confusion_matrix

    truth, labels = case
    if not truth:
        return
    alone = np.where(labels < 0, 100 + np.arange(labels.size), labels)
    result = scores(truth, labels)
    assert result.ari == pytest.approx(adjusted_rand_score(truth, alone), abs=1e-15)
    if len(truth) > 1:
        assert result.rand_index == pytest.approx(rand_score(truth, alone), abs=1e-15)
    table = pair_confusion_matrix(truth, alone) // 2
    assert table.ravel().tolist() == [
        result.true_negatives, result.false_positives,
        result.false_negatives, result.true_positives,
    ]  # fmt: skip


@given(pairs_of_labels, st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(case, random):
    truth, labels = case
    order = list(range(len(truth)))
    random.shuffle(order)
    names = random.sample(["Nikon", "iPhone 5", "", "ß", "x" * 99], 5)
    numbers = np.array([*random.sample(range(10**12), 5), -1])
    renamed = np.array([names[truth[i]] for i in order])
    assert scores(renamed, numbers[labels[order]]) == scores(truth, labels)
    assert scores(renamed.tolist(), numbers[labels[order]].tolist()) == scores(truth, labels)


@given(pairs_of_labels)
def test_bounds_and_types(case):
    result = scores(*case)
    for name in SHARES:
        assert 0 <= getattr(result, name) <= 1
    for name in ADJUSTED:
        assert -1 <= getattr(result, name) <= 1
    for name in UNBOUNDED:
        assert getattr(result, name) >= 0
    for name in COUNTS:
        assert type(getattr(result, name)) is int
    assert json.loads(json.dumps(result.as_dict())) == result.as_dict()
    assert result.n_discovered <= min(result.n_clusters, result.n_cameras)


@given(pairs_of_labels)
def test_symmetry_where_nothing_is_unclustered(case):
    truth, labels = case
    labels = np.abs(labels)
    there, back = scores(truth, labels), scores(labels, truth)
    for name in SYMMETRIC:
        assert getattr(there, name) == getattr(back, name)
    for one, other in SWAPPED:
        assert getattr(there, one) == getattr(back, other)


@given(st.lists(st.text(max_size=2), max_size=30))
def test_perfect_grouping(truth):
    numbers = {name: k for k, name in enumerate(dict.fromkeys(truth))}
    result = scores(truth, [numbers[name] for name in truth])
    for name in SHARES + UNBOUNDED + ADJUSTED:
        assert getattr(result, name) == 1
    assert result.n_unclustered == 0


@given(pairs_of_labels)
def test_tables_add_up_to_the_scores(case):
    truth, labels = case
    result, cameras, clusters = (f(truth, labels) for f in (scores, per_camera, per_cluster))
    assert len(cameras) == result.n_cameras
    assert len(clusters) == result.n_clusters
    assert sum(row.n_images for row in cameras) == result.n_images
    assert sum(row.n_unclustered for row in cameras) == result.n_unclustered
    assert sum(row.discovered for row in cameras) == result.n_discovered
    assert sum(row.n_images for row in clusters) == result.n_images - result.n_unclustered
    assert sum(row.n_clusters for row in cameras) == sum(row.n_cameras for row in clusters)
    pure = sum(row.n_of_camera for row in clusters)
    assert result.purity == (pure / sum(row.n_images for row in clusters) if clusters else 1)
    together = sum(Fraction(row.recall) * row.n_images * (row.n_images - 1) for row in cameras)
    assert round(together / 2) == result.true_positives
    assert [row.cluster for row in clusters] == sorted({int(k) for k in labels if k >= 0})
    sizes = [row.n_images for row in cameras]
    assert sizes == sorted(sizes, reverse=True)


def test_a_worked_example():
    truth = ["A", "A", "A", "A", "B", "B", "B", "C"]
    labels = [7, 7, 7, -1, 7, 3, 3, -1]
    result = scores(truth, labels)
    assert (result.true_positives, result.false_positives) == (4, 3)
    assert (result.false_negatives, result.true_negatives) == (5, 16)
    assert result.precision == 4 / 7
    assert result.recall == 4 / 9
    assert result.f == 8 / 16
    assert result.rand_index == 20 / 28
    assert result.purity == 5 / 6
    assert (result.n_clusters, result.n_cameras, result.n_discovered) == (2, 3, 2)
    assert result.n_unclustered == 2
    a, b, c = per_camera(truth, labels)
    assert dataclasses.astuple(a) == ("A", 4, 1, 1, 7, 3, 0.5, True)
    assert dataclasses.astuple(b) == ("B", 3, 0, 2, 3, 2, 1 / 3, True)
    assert dataclasses.astuple(c) == ("C", 1, 1, 0, -1, 0, 1.0, False)
    small, large = per_cluster(truth, labels)
    assert dataclasses.astuple(small) == (3, 2, 1, "B", 2, 1.0)
    assert dataclasses.astuple(large) == (7, 4, 2, "A", 3, 0.75)


def test_half_a_cluster_is_no_discovery():
    result = scores(["A", "B"], [0, 0])
    assert result.n_discovered == 0
    assert result.purity == 0.5
    assert per_cluster(["A", "B"], [0, 0])[0].camera == "A"
    assert per_cluster(["B", "A"], [0, 0])[0].camera == "B"


def test_everything_unclustered():
    result = scores(["A", "A", "B"], [-1, -1, -1])
    assert (result.precision, result.recall, result.f, result.purity) == (1, 0, 0, 1)
    assert (result.ari, result.rand_index) == (0, 2 / 3)
    assert (result.lp_over_lg, result.ld_over_lg, result.n_unclustered) == (0, 0, 3)
    assert per_cluster(["A"], [-1]) == []


@pytest.mark.parametrize("label", [0, -1])
def test_none_and_one(label):
    empty, one = scores([], []), scores(["A"], [label])
    for name in SHARES + ADJUSTED + UNBOUNDED:
        assert getattr(empty, name) == 1
    for name in ("precision", "recall", "f", "rand_index", "ari", "purity"):
        assert getattr(one, name) == 1
    assert per_camera([], []) == per_cluster([], []) == []


def test_independent_groupings_score_zero_on_average():
    rng = np.random.default_rng(0)
    result = [scores(rng.integers(0, 5, 100), rng.integers(0, 5, 100)).ari for _ in range(200)]
    assert abs(np.mean(result)) < 3 * np.std(result) / np.sqrt(200)


@pytest.mark.parametrize("kind", ["numbers", "names"])
def test_a_million_images_exactly_and_soon(kind):
    n = 10**6
    truth = np.arange(n) % 2
    labels = np.zeros(n, np.int32)
    expected = 2 * ((n // 2) * (n // 2 - 1) // 2)
    if kind == "names":
        truth = np.array(["a camera", "another camera"])[truth]
    start = time.process_time()
    result = scores(truth, labels)
    seconds = time.process_time() - start
    assert result.true_positives == expected == 249_999_500_000
    assert result.true_positives + result.false_positives == n * (n - 1) // 2
    rng = np.random.default_rng(0)
    many = rng.integers(0, 20_000, n)
    start = time.process_time()
    scores(many, rng.integers(-1, 30_000, n))
    assert max(seconds, time.process_time() - start) < 1


@pytest.mark.parametrize(
    ("truth", "labels", "message"),
    [
        (["A"], [0, 1], "truth has 1 entries but labels has 2"),
        (["A"], [0.5], "labels has dtype float64"),
        (["A"], ["B"], "labels has dtype <U1"),
        (["A"], [-2], "labels holds -2: number clusters from 0"),
        (["A"], [[0]], r"labels has shape \(1, 1\)"),
        (np.zeros((2, 2)), [0, 0], r"truth has shape \(2, 2\)"),
        ("AB", [0, 0], "truth is the string 'AB'"),
    ],
)
def test_bad_input_is_refused(truth, labels, message):
    for function in (scores, per_camera, per_cluster):
        with pytest.raises(ValueError, match=message) as caught:
            function(truth, labels)
        assert not str(caught.value).endswith(".")


def test_input_is_not_modified():
    truth, labels = np.array(["A", "B"]), np.array([1, -1])
    scores(truth, labels)
    assert truth.tolist() == ["A", "B"]
    assert labels.tolist() == [1, -1]
