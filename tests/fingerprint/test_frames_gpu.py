"""Rows of whole pictures on a GPU, or its code on the processor, against those of the processor."""

import numpy as np
import pytest

from samecam.errors import SamecamError
from samecam.fingerprint import SPINS, FrameRow, frame_row, frame_rows
from samecam.fingerprint._colour import colour
from tests.fingerprint.test_frame_row import clipped, key, signs
from tests.fingerprint.test_residual import picture

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from samecam.fingerprint import _frames_gpu, noise_residual  # noqa: E402
from samecam.fingerprint._gpu import spun  # noqa: E402
from samecam.fingerprint._quantise import random_word  # noqa: E402
from tests.devices import DEVICE, WHERE, host, there  # noqa: E402

SHAPES = [(64, 64), (127, 65), (101, 400), (400, 601)]


@pytest.mark.parametrize("spins", [1, 2, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_residuals_agree(shape, spins):
    images = [picture(k, shape) for k in range(3)]
    got = host(spun(_frames_gpu.residuals, there(np.stack(images)), 3.0, spins))
    for image, residual in zip(images, got, strict=True):
        np.testing.assert_allclose(residual, noise_residual(image, spins=spins), atol=2.5e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_bits_agree(shape):
    images = [picture(k, shape) for k in range(3)]
    keys = [key(k) for k in range(3)]
    rows = frame_rows(images, keys, dtype="bits", device=DEVICE)
    for image, name, row in zip(images, keys, rows, strict=True):
        expected = frame_row(image, key=name, dtype="bits")
        assert row.values.dtype == np.uint64
        same = signs(row, image.size) == signs(expected, image.size)
        assert same.mean() > 0.999
        assert row.scale == pytest.approx(expected.scale)
        assert row.flat == pytest.approx(expected.flat, abs=1e-3)
        assert row.colour == colour(row.values, shape) == pytest.approx(expected.colour, rel=0.01)


@pytest.mark.parametrize("shape", SHAPES)
def test_two_bits_agree(shape):
    images = [picture(1, shape), clipped(2, shape)]
    keys = [key(1), key(2)]
    rows = frame_rows(images, keys, dtype="2bits", device=DEVICE)
    for image, name, row in zip(images, keys, rows, strict=True):
        expected = frame_row(image, key=name, dtype="2bits")
        assert row.values.shape == expected.values.shape
        for plane in (0, 1):
            got, wanted = (
                signs(FrameRow(r.values[plane::2], 1, 0), image.size) for r in (row, expected)
            )
            assert (got == wanted).mean() > 0.999
        assert row.scale == pytest.approx(expected.scale, rel=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_bytes_agree(shape):
    image = picture(7, shape)
    expected = frame_row(image, key=key(7), dtype="int8")
    (row,) = frame_rows([image], [key(7)], dtype="int8", device=DEVICE)
    assert row.values.dtype == np.int8
    difference = np.abs(row.values.astype(int) - expected.values)
    both = (row.values != 0) & (expected.values != 0)  # else the border of no residual is between
    assert difference[both].max() <= 1
    assert (difference > 0).mean() < 2e-3
    assert row.scale == pytest.approx(expected.scale, rel=1e-4)


def test_random_bits_are_the_same_where_nothing_was_recorded():
    shape = (400, 600)
    images = [clipped(k, shape) for k in (1, 2)]
    rows = frame_rows(images, [key(1), key(2)], dtype="bits", device=DEVICE)
    for k, (image, row) in enumerate(zip(images, rows, strict=True), start=1):
        expected = frame_row(image, key=key(k), dtype="bits")
        got, wanted = (signs(r, image.size).reshape(shape) for r in (row, expected))
        np.testing.assert_array_equal(got[:, :180], wanted[:, :180])
        assert (got == wanted).mean() > 0.999


def test_random_words_are_those_of_the_processor():
    seeds = (0, 1234567, 2**63 + 5, 2**64 - 1)
    for seed in seeds:
        got = host(_frames_gpu.random_words(seed, 50, torch.device(WHERE))).view(np.uint64)
        assert got.tolist() == [int(random_word(np.uint64(seed), k)) for k in range(50)]


def test_a_row_does_not_depend_on_the_pictures_beside_it():
    images = [picture(k, (96, 130)) for k in range(11)]
    keys = [key(k) for k in range(11)]
    for dtype in ("bits", "2bits", "int8"):
        together = frame_rows(images, keys, dtype=dtype, device=DEVICE)
        little = frame_rows(images, keys, dtype=dtype, device=DEVICE, memory=1)
        for k in range(11):
            (alone,) = frame_rows(images[k : k + 1], keys[k : k + 1], dtype=dtype, device=DEVICE)
            for row in (together[k], little[k]):
                np.testing.assert_array_equal(row.values, alone.values)
                assert row[1:] == alone[1:]


@pytest.mark.parametrize("device", ["cpu", DEVICE])
def test_flat_pictures_are_none(device):
    flat = np.full((80, 90), 255, np.uint8)
    rows = frame_rows([picture(1, (80, 90)), flat], [key(1), key(2)], dtype="bits", device=device)
    assert rows[0] is not None
    assert rows[1] is None


def test_floats_and_bytes():
    image = picture(3, (90, 100)).astype(np.float32) + 0.25
    (row,) = frame_rows([image], [key(3)], dtype="bits", device=DEVICE)
    expected = frame_row(image, key=key(3), dtype="bits")
    assert (signs(row, 9000) == signs(expected, 9000)).mean() > 0.999


def test_want_of_memory_halves_the_group(monkeypatch):
    images, keys = [picture(k, (80, 90)) for k in range(6)], [key(k) for k in range(6)]
    monkeypatch.setattr(_frames_gpu, "GROUP", 8)
    expected = frame_rows(images, keys, dtype="bits", device=DEVICE)
    real, sizes = _frames_gpu.residuals, []

    def starved(stack, sigma):
        sizes.append(len(stack))
        if len(stack) > 2:
            raise RuntimeError("CUDA out of memory")
        return real(stack, sigma)

    monkeypatch.setattr(_frames_gpu, "residuals", starved)
    rows = frame_rows(images, keys, dtype="bits", device=DEVICE)
    assert sizes == [6, 3, *(1 for _ in images for _ in range(SPINS))]
    for row, wanted in zip(rows, expected, strict=True):
        np.testing.assert_array_equal(row.values, wanted.values)

    def empty(*_):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(_frames_gpu, "residuals", empty)
    with pytest.raises(SamecamError, match="no room for one picture"):
        frame_rows(images, keys, dtype="bits", device=DEVICE)


def test_wrong_arguments_are_named():
    image = picture(1, (64, 64))
    with pytest.raises(ValueError, match="one key a picture"):
        frame_rows([image], [], dtype="bits")
    with pytest.raises(ValueError, match="one key a picture"):
        frame_rows([], [], dtype="bits")
    with pytest.raises(ValueError, match="one shape"):
        frame_rows([image, image[:60]], [key(1)] * 2, dtype="bits")
