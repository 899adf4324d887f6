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


@pytest.mark.parametrize("words", [1, 7, 2**14])
def test_bits_are_correlated_pixel_by_pixel(words, monkeypatch):
    monkeypatch.setattr(recompressed, "_WORDS", words)
    made = rows("bits")
    d = 90 * 131
    plain = np.array(
        [[1 if int(row.values[k // 64]) >> (k % 64) & 1 else -1 for k in range(d)] for row in made]
    )
    G, n_pixels = recompressed.row_gram(made)
    assert n_pixels == d
    np.testing.assert_allclose(G, plain @ plain.T / d, atol=1e-6)


@pytest.mark.parametrize("words", [1, 2**14])
def test_bytes_are_correlated_pixel_by_pixel(words, monkeypatch):
    monkeypatch.setattr(recompressed, "_WORDS", words)
    made = rows("int8")
    plain = np.array([row.values * row.scale for row in made])
    G, n_pixels = recompressed.row_gram(made)
    assert n_pixels == 90 * 131
    np.testing.assert_allclose(G, plain @ plain.T, atol=1e-6)


def test_two_bits_are_signs_and_whether_the_residual_is_large():
    (row,) = rows("int8", 1)
    made = recompressed.two_bits(row, b"file")
    values = row.values.astype(int)
    assert set(np.unique(made.values)) == {-3, -1, 1, 3}
    assert np.array_equal(np.abs(made.values) == 3, np.abs(values) > 16)
    some = values != 0
    assert np.array_equal(np.sign(made.values)[some], np.sign(values)[some])
    empty = made.values[~some].astype(int)
    assert abs(empty.sum()) < 4 * np.sqrt(empty.size)
    assert np.linalg.norm(made.values * made.scale) == pytest.approx(1)
    assert np.array_equal(made.values, recompressed.two_bits(row, b"file").values)
    assert not np.array_equal(made.values, recompressed.two_bits(row, b"other").values)


def test_a_photo_is_saved_again_as_the_simulator_does_it():
    data = encode(scene(1, 80, 96), quality=95)
    assert recompressed.saved_again(data, None) == data
    again = recompressed.saved_again(data, 50)
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        picture.save(buffer, "JPEG", quality=50, subsampling=2)
    assert again == buffer.getvalue()
    assert len(again) < len(data) / 2
