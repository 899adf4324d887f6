"""One way to number groups: by size, ties by first image."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecam.cluster import numbered
from tests.cluster.graphs import as_sets

LABELS = st.lists(st.integers(-1, 6), max_size=40)


@pytest.mark.parametrize(
    ("given_labels", "expected"),
    [
        ([], []),
        ([-1, -1], [-1, -1]),
        ([7, 3, 3], [1, 0, 0]),
        ([5, 2, 2, 5], [0, 1, 1, 0]),
        ([4, -1, 9, 9, -1, 1, 1, 1], [2, -1, 1, 1, -1, 0, 0, 0]),
    ],
)
def test_by_size_then_first_image(given_labels, expected):
    assert numbered(given_labels).tolist() == expected


@given(LABELS)
def test_same_groups_in_the_promised_order(labels):
    result = numbered(labels)
    assert as_sets(result) == as_sets(labels)
    assert [r == -1 for r in result] == [k == -1 for k in labels]
    outcome = sorted(set(result.tolist()) - {-1})
    assert outcome == list(range(len(outcome)))
    rank = [(-int((result == k).sum()), int(np.flatnonzero(result == k)[0])) for k in outcome]
    assert rank == sorted(rank)


@given(LABELS)
def test_numbering_again_changes_nothing(labels):
    once = numbered(labels)
    np.testing.assert_array_equal(numbered(once), once)


@given(LABELS, st.permutations(range(7)))
def test_the_names_of_groups_do_not_matter(labels, names):
    renamed = [k if k == -1 else 10 * names[k] for k in labels]
    np.testing.assert_array_equal(numbered(renamed), numbered(labels))


@given(LABELS, st.randoms(use_true_random=False))
def test_permuted_images_keep_their_groups(labels, random):
    order = list(range(len(labels)))
    random.shuffle(order)
    moved = numbered([labels[i] for i in order])
    here = numbered(labels)
    assert as_sets(moved) == as_sets(here[order]) if order else moved.size == 0
    assert np.bincount(moved[moved >= 0]).tolist() == np.bincount(here[here >= 0]).tolist()


def test_input_is_not_modified():
    labels = np.array([3, 1, 1, -1])
    numbered(labels)
    assert labels.tolist() == [3, 1, 1, -1]
