import tempfile

import numpy as np
import pytest

from samecam.correlate import DoubleMatrix
from samecam.errors import SamecamError


@pytest.mark.parametrize("in_memory", [True, False])
def test_what_is_written_is_read(tmp_path, in_memory):
    expected = np.arange(35.0).reshape(5, 7)
    matrix = DoubleMatrix((5, 7), in_memory=in_memory, folder=tmp_path)
    assert matrix.in_memory is in_memory
    assert not matrix.read(0, 5).any()
    matrix.write(0, expected[:2])
    matrix.write(2, expected[2:, :3])
    matrix.write(2, expected[2:, 3:], column=3)
    assert np.array_equal(matrix.read(0, 5), expected)
    assert np.array_equal(matrix.read(1, 4, columns=slice(2, 6)), expected[1:4, 2:6])
    blocks = list(matrix.blocks(2 * 7 * 8))
    assert [first for first, _ in blocks] == [0, 2, 4]
    assert np.array_equal(np.concatenate([rows for _, rows in blocks]), expected)
    assert len(list(matrix.blocks(0))) == 5
    assert not any(tmp_path.iterdir())  # the file has no name


def test_rows_that_were_changed_in_place_are_written_back(tmp_path):
    for in_memory in (True, False):
        matrix = DoubleMatrix((2, 3), in_memory=in_memory, folder=tmp_path)
        for first, rows in matrix.blocks(0):
            rows += 1 + first
            matrix.write(first, rows)
        assert matrix.read(0, 2).tolist() == [[1] * 3, [2] * 3]


def test_no_room_for_the_file_is_an_error_at_once(tmp_path):
    with pytest.raises(SamecamError, match="temporary file of .* cannot be made .* memory budget"):
        DoubleMatrix((2**30, 2**28), in_memory=False, folder=tmp_path)
    with pytest.raises(SamecamError, match=tempfile.gettempdir()):
        DoubleMatrix((2**30, 2**28), in_memory=False)
