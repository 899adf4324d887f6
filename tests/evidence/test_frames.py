"""Photos of several frames: one law of chance, in units that every frame understands."""

import numpy as np
import pytest

from samecam.evidence import compare_frames, local_groups, measured_null
from samecam.evidence import comparisons_from_rows as compared
from samecam.simulate import fingerprints
from samecam.store import MemoryStore


def rows_of(sizes, n_pixels, seed):
    X, truth = fingerprints(sizes, 0.1, n_pixels, seed=seed)
    store = MemoryStore(n_pixels)
    for k, x in enumerate(X):
        store.add(f"{k:04d}", x)
    store.commit()
    return store, truth


@pytest.fixture(scope="module")
def frames():
    return [rows_of([10] * 8, 6400, 1), rows_of([10] * 8, 400, 2), rows_of([9], 1600, 3)]


def test_strangers_scatter_alike_in_all_frames_and_each_has_its_own_scale(frames):
    for (rows, labels), (given, null) in zip(
        frames, compare_frames(frames, [None] * 3), strict=True
    ):
        assert null.scale * np.sqrt(rows.n_pixels) == pytest.approx(1, abs=0.15)
        z = given.array() / null.group_scale
        strangers = z[labels[:, None] != np.arange(given.n_groups)]
        if len(strangers):
            assert strangers.std() == pytest.approx(1, abs=0.12)


def test_a_frame_with_one_group_leans_on_the_others(frames):
    alone = compare_frames(frames[2:], [0.5])[0][1]
    assert (alone.scale, alone.comparisons) == (0.5, 0)
    beside = compare_frames(frames, [None, None, 0.5])[2][1]
    assert beside.comparisons == 2 * 80 * 7
    assert beside.group_scale == pytest.approx([1 / 40], rel=0.15)


def test_one_frame_is_as_if_frames_were_not_known(frames):
    rows, labels = frames[0]
    given, null = compare_frames(frames[:1], [None])[0]
    expected = measured_null(compared(rows, labels))
    assert np.array_equal(null.group_scale, expected.group_scale)
    assert np.array_equal(given.own, compared(rows, labels).own)


def test_progress_counts_the_photos_of_all_frames(frames):
    seen = []
    compare_frames(frames, [None] * 3, progress=lambda *told: seen.append(told))
    done = [count for count, _ in seen]
    assert {total for _, total in seen} == {169}
    assert done == sorted(done)
    assert done[-1] == 169


def test_groups_of_some_photos_are_counted_from_0():
    numbers, local = local_groups(np.array([7, -1, 3, 7, 9]))
    assert numbers.tolist() == [3, 7, 9]
    assert local.tolist() == [1, -1, 0, 1, 2]
    assert local_groups(np.array([-1, -1]))[0].size == 0
