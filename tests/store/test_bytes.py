"""Rows of one byte a pixel in memory."""

import numpy as np
import pytest

from samecam.store import ByteRows, Frame


@pytest.fixture
def values():
    return np.random.default_rng(0).integers(-127, 128, size=(5, 70)).astype(np.int8)


SCALES = np.array([0.5, 1, 2, 4, 8])


def test_rows_are_scale_times_values(values):
    rows = ByteRows(values, SCALES)
    wanted = (values * SCALES[:, np.newaxis]).astype(np.float32)
    assert (len(rows), rows.n_pixels, rows.kind, rows.is_bits) == (5, 70, np.int8, False)
    np.testing.assert_array_equal(rows.read(), wanted)
    np.testing.assert_array_equal(rows.read([3, 1]), wanted[[3, 1]])
    for width in (1, 64, 70, 100):
        parts = list(rows.columns(width))
        assert [start for start, _ in parts] == list(range(0, 70, width))
        np.testing.assert_array_equal(np.hstack([part for _, part in parts]), wanted)
    some = [part for _, part in rows.columns(64, np.array([4, 0]))]
    np.testing.assert_array_equal(np.hstack(some), wanted[[4, 0]])


def test_rows_are_given_as_they_are_kept(values):
    out, scales = np.empty((2, 30), dtype=np.int8), np.empty(2, dtype=np.float32)
    ByteRows(values, SCALES).read_stored(np.array([4, 2]), out, scales, start=20)
    np.testing.assert_array_equal(out, values[[4, 2], 20:50])
    assert scales.tolist() == [8, 2]


def test_records_have_keys_in_order(values):
    rows = ByteRows(values, SCALES)
    assert [record.key for record in rows.records()] == list(rows.keys) == sorted(rows.keys)
    assert list(rows.hashes) == [""] * 5
    assert rows.index(rows.keys[2]) == 2


@pytest.mark.parametrize(("kind", "count"), [(np.int16, 5), (np.int8, 4)])
def test_other_arrays_are_refused(values, kind, count):
    with pytest.raises(ValueError, match="give int8 and a scale for each row"):
        ByteRows(values.astype(kind), SCALES[:count])


def test_a_frame_is_kept_if_it_is_that_of_the_rows(values):
    count = values.shape[1]
    assert ByteRows(values, SCALES).frame == Frame(count, 1)
    assert ByteRows(values, SCALES, Frame(1, count)).frame == Frame(1, count)
    with pytest.raises(ValueError, match="rows have"):
        ByteRows(values, SCALES, Frame(2, count))
