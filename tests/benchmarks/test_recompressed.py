"""What the benchmark of second compressions compares, and what it measured."""

import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from benchmarks import recompressed
from samecam.fingerprint import frame_row
from tests.photos.pictures import encode, scene


def rows(dtype, count=4):
    pictures = [scene(k, 90, 131).mean(axis=2) for k in range(count)]
    return [
        frame_row(picture, key=hashlib.sha256(bytes([k])).hexdigest(), dtype=dtype)
        for k, picture in enumerate(pictures)
    ]


def plain(row, d):
    """Numbers of a row, one by one."""
    if row.values.dtype == np.int8:
        return row.values.astype(int)
    planes = 2 if len(row.values) > -(-d // 64) else 1
    bits = [
        [int(row.values[planes * (k // 64) + plane]) >> (k % 64) & 1 for k in range(d)]
        for plane in range(planes)
    ]
    size = 3 - 2 * np.array(bits[1]) if planes == 2 else 1
    return (2 * np.array(bits[0]) - 1) * size


@pytest.mark.parametrize("dtype", ["bits", "2bits", "int8"])
def test_rows_are_correlated_pixel_by_pixel(dtype, monkeypatch):
    monkeypatch.setattr(recompressed, "_PIXELS", 1000)
    made, d = rows(dtype), 90 * 131
    X = np.array([plain(row, d) * row.scale for row in made])
    np.testing.assert_allclose(recompressed.row_gram(made, d), X @ X.T, atol=1e-6)


def test_a_photo_is_saved_again_as_the_simulator_does_it():
    data = encode(scene(1, 80, 96), quality=95)
    assert recompressed.saved_again(data, None) == data
    again = recompressed.saved_again(data, 50)
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        picture.save(buffer, "JPEG", quality=50, subsampling=2)
    assert again == buffer.getvalue()
    assert len(again) < len(data) / 2
