"""Spectrum, eigengap and groups of a graph, against dense textbook computations."""

import numpy as np
import pytest
from scipy import sparse

from samecam.cluster import _spectral, eigengap, numbered, spectral_groups, spectrum
from tests.cluster.graphs import as_sets, blocks, laplacian_values


def with_isolated(weights, count):
    return sparse.csr_array(sparse.block_diag([weights, sparse.csr_array((count, count))]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("between", [0, 0.02, 0.3])
def test_values_are_those_of_the_whole_laplacian(between, seed):
    weights, _ = blocks([12, 30, 7, 2], between=between, seed=seed)
    result = spectrum(weights)
    np.testing.assert_allclose(result.values, laplacian_values(weights), atol=1e-12)


@pytest.mark.parametrize("isolated", [0, 3])
def test_one_zero_for_each_part(isolated):
    weights = with_isolated(blocks([10, 5, 8, 2, 2], between=0)[0], isolated)
    result = spectrum(weights)
    assert np.count_nonzero(result.values < 1e-12) == len(result.parts) == 5
    assert sorted(result.owner[:5]) == list(range(5))
    assert [len(p) for p in result.parts] == [10, 8, 5, 2, 2]
    assert len(result.values) == result.n_nodes == 27
    assert eigengap(result.values) == 5


def test_weights_may_be_single_precision():
    weights, _ = blocks([15, 15])
    result = spectrum(weights.astype(np.float32))
    np.testing.assert_allclose(result.values, spectrum(weights).values, atol=1e-6)
    assert result.values.dtype == np.float64


def test_no_edge_at_all():
    result = spectrum(sparse.csr_array((4, 4)))
    assert result.values.size == result.n_nodes == eigengap(result.values) == 0
    assert spectral_groups(sparse.csr_array((4, 4)), result, 2, 0).tolist() == [-1] * 4


# The eigengap.


def test_authors_rule_is_the_widest_gap_but_the_first():
    assert eigengap(np.array([0, 0.5, 0.55, 0.6, 0.9, 1.0]), "authors") == 4
    assert eigengap(np.array([0, 0.1, 0.12, 0.13, 0.14, 0.9]), "authors") == 5
    assert eigengap(np.array([0, 0.9, 0.95, 1.0]), "authors") in (2, 3)


def test_guarded_rule_looks_at_the_lower_half_only():
    values = np.concatenate([np.linspace(0, 0.05, 4), np.linspace(0.6, 0.9, 14), [1.6, 1.61]])
    assert eigengap(values, "authors") == 18
    assert eigengap(values) == 4


def test_guarded_rule_may_say_one():
    values = np.concatenate([[0], np.linspace(0.7, 1.3, 39)])
    assert eigengap(values) == 1
    assert eigengap(values, "authors") > 1


def test_guarded_rule_never_says_fewer_than_there_are_parts():
    for parts in (2, 3, 10):
        values = np.concatenate([np.zeros(parts), np.linspace(0.1, 1.9, 20)])
        assert eigengap(values) >= parts


@pytest.mark.parametrize(("n", "guarded", "authors"), [(0, 0, 0), (1, 1, 1), (2, 1, 2)])
def test_too_few_values_for_a_gap(n, guarded, authors):
    values = np.array([0.0, 2.0])[:n]
    assert eigengap(values) == guarded
    assert eigengap(values, "authors") == authors
    assert eigengap(values, "authors", most=1) <= 1


@pytest.mark.parametrize("rule", ["guarded", "authors"])
def test_upper_bound(rule):
    values = np.concatenate([np.zeros(6), np.linspace(0.8, 1.2, 30)])
    assert eigengap(values, rule) == 6
    assert eigengap(values, rule, most=6) == 6
    assert eigengap(values, rule, most=4) <= 4
    assert eigengap(values, rule, most=1) == 1


def test_the_lower_half_is_that_of_all_nodes():
    """Of the smallest 64 of 4000 eigenvalues, all lie in the lower half."""
    values = np.concatenate([np.linspace(0, 0.1, 45), np.linspace(0.6, 0.7, 19)])
    assert eigengap(values) != 45
    assert eigengap(values, n_nodes=4000) == 45


# Large graphs.


@pytest.mark.parametrize("between", [0, 0.02])
def test_lanczos_agrees_with_dense(monkeypatch, between):
    monkeypatch.setattr(_spectral, "_DENSE", 20)
    weights, _ = blocks([40, 60, 30], between=between)
    result = spectrum(weights)
    expected = laplacian_values(weights)
    assert 10 <= len(result.values) <= len(expected)
    np.testing.assert_allclose(result.values, expected[: len(result.values)], atol=1e-9)
    assert result.n_nodes == 130


def test_no_eigenvalue_is_missing_beside_small_parts(monkeypatch):
    """A small part has all its eigenvalues, a large one the smallest: the rest is cut."""
    monkeypatch.setattr(_spectral, "_DENSE", 100)
    monkeypatch.setattr(_spectral, "_FIRST", 16)
    large, _ = blocks([60, 60, 60], between=0.05)
    weights = sparse.csr_array(sparse.block_diag([large, blocks([8], seed=1)[0]]))
    result = spectrum(weights)
    assert len(result.values) < result.n_nodes == 188
    np.testing.assert_allclose(
        result.values, laplacian_values(weights)[: len(result.values)], atol=1e-9
    )
    assert eigengap(result.values, n_nodes=result.n_nodes) == 4


@pytest.mark.parametrize("count", [20, 40, 90])
def test_as_many_groups_are_seen_as_there_are(monkeypatch, count):
    """64 eigenvalues are not enough for 90 groups, and have no gap that means anything."""
    weights, _ = blocks([10] * count, between=0.005)
    dense = spectrum(weights)
    assert eigengap(dense.values) == count
    monkeypatch.setattr(_spectral, "_DENSE", 50)
    result = spectrum(weights)
    assert count < len(result.values) < len(dense.values)
    assert eigengap(result.values, n_nodes=result.n_nodes) == count


def test_as_many_values_as_asked(monkeypatch):
    monkeypatch.setattr(_spectral, "_DENSE", 20)
    monkeypatch.setattr(_spectral, "_FIRST", 8)
    weights, group = blocks([20] * 10, between=0.01)
    assert len(spectrum(weights, 70).values) > 70
    assert len(spectrum(weights, 10_000).values) <= 200
    labels = spectral_groups(weights, spectrum(weights, 10), 10, 0)
    assert as_sets(labels) == as_sets(group)


def test_above_two_thousand_nodes():
    weights, group = blocks([300] * 7, between=0.003)
    result = spectrum(weights)
    assert result.n_nodes == 2100
    assert len(result.values) <= 1024
    assert result.values[0] == pytest.approx(0, abs=1e-9)
    count = eigengap(result.values, n_nodes=result.n_nodes)
    labels = spectral_groups(weights, result, count, 0)
    assert as_sets(labels) == as_sets(group)


# The groups.


@pytest.mark.parametrize("between", [0, 0.03])
def test_groups_are_found_and_isolated_nodes_left_out(between):
    weights, group = blocks([20, 9, 14], between=between)
    weights = with_isolated(weights, 2)
    result = spectrum(weights)
    labels = spectral_groups(weights, result, 3, 0)
    assert labels[-2:].tolist() == [-1, -1]
    np.testing.assert_array_equal(numbered(labels[:-2]), numbered(group))


def test_lanczos_groups_are_the_dense_ones(monkeypatch):
    weights, group = blocks([40, 60, 30, 25], between=0.03)
    labels = spectral_groups(weights, spectrum(weights), 4, 0)
    monkeypatch.setattr(_spectral, "_DENSE", 20)
    again = spectral_groups(weights, spectrum(weights), 4, 0)
    assert as_sets(labels) == as_sets(again) == as_sets(group)


def test_rows_are_brought_to_unit_norm():
    """A node with a tenth of the links still goes with its group."""
    weights, group = blocks([20, 20], between=0.05)
    dense = weights.toarray()
    dense[0] *= 0.1
    dense[:, 0] *= 0.1
    weights = sparse.csr_array(dense)
    assert as_sets(spectral_groups(weights, spectrum(weights), 2, 0)) == as_sets(group)


@pytest.mark.parametrize("count", [1, 2, 5, 100])
def test_any_number_of_groups(count):
    weights, _ = blocks([6, 6], between=0.3)
    labels = spectral_groups(weights, spectrum(weights), count, 0)
    assert len(as_sets(labels)) == min(count, 12)


@pytest.mark.parametrize("dense", [20, 2000])
def test_the_same_at_every_call(monkeypatch, dense):
    monkeypatch.setattr(_spectral, "_DENSE", dense)
    weights, _ = blocks([30, 40, 20], between=0.2)
    first, second = spectrum(weights), spectrum(weights)
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(
        spectral_groups(weights, first, 5, 3), spectral_groups(weights, second, 5, 3)
    )


def test_input_is_not_modified():
    weights, _ = blocks([10, 10])
    before = weights.copy()
    spectral_groups(weights, spectrum(weights), 2, 0)
    np.testing.assert_array_equal(weights.toarray(), before.toarray())
