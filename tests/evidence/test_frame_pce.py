"""Peaks of whole frames: the obvious ratio over shifts by hand."""

import numpy as np
import pytest

from samecam.evidence import frame_pce, shifts
from samecam.frames import Frame
from samecam.store import BitRows, ByteRows, pack

FRAME = Frame(320, 200)


class BitFrames(BitRows):
    """Rows of bits of a known frame."""

    frame = FRAME


class ByteFrames(ByteRows):
    frame = FRAME


def cameras(labels, strength=0.3):
    """Patterns of cameras, by label, in noise; −1 is noise alone."""
    rng = np.random.default_rng(3)
    patterns = rng.normal(size=(max(labels) + 2, FRAME.n_pixels))
    patterns[-1] = 0
    return strength * patterns[labels] + rng.normal(size=(len(labels), FRAME.n_pixels))


def obvious(rows, labels):
    """Roll rows that are filled up with zeros to whole words, correlate, divide."""
    period = -(-FRAME.n_pixels // 64) * 64
    filled = np.pad(rows, ((0, 0), (0, period - rows.shape[1])))
    result = np.full(len(rows), np.nan)
    for i, group in enumerate(labels):
        others = filled[[j for j, g in enumerate(labels) if g == group and j != i]].sum(axis=0)
        if group < 0 or not others.any():
            continue
        peak = filled[i] @ others
        rest = [filled[i] @ np.roll(others, -offset) for offset in shifts(FRAME)]
        result[i] = np.sign(peak) * peak**2 / np.mean(np.square(rest))
    return result


LABELS = np.array([0, 1, 0, -1, 1, 0, 2, 1, 0])


def test_of_bits():
    X = cameras(LABELS)
    rows = BitFrames(pack(X), FRAME.n_pixels)
    wanted = obvious(np.where(X > 0, 1.0, -1.0), LABELS)
    told = []
    got = frame_pce(rows, LABELS, progress=lambda *each: told.append(each))
    np.testing.assert_allclose(got, wanted, rtol=1e-9)
    assert np.flatnonzero(np.isnan(got)).tolist() == [3, 6]  # in no group, and alone in one
    assert np.nanmin(got) > 30
    assert told == [(4, 8), (7, 8), (8, 8)]
    np.testing.assert_array_equal(frame_pce(rows, LABELS, memory=1), got)


def test_of_two_bits():
    X = cameras(LABELS)
    small = np.abs(X) <= np.linspace(0.8, 1.2, len(X))[:, np.newaxis]
    rows = BitFrames(pack(X, small), FRAME.n_pixels)
    got = frame_pce(rows, LABELS)
    np.testing.assert_allclose(got, obvious(rows.read().astype(float), LABELS), rtol=5e-3)
    assert np.nanmin(got) > 30
    np.testing.assert_array_equal(frame_pce(rows, LABELS, memory=1), got)


def test_of_bytes():
    X = np.rint(16 * cameras(LABELS)).clip(-127, 127).astype(np.int8)
    scales = 1 / np.linalg.norm(X.astype(float), axis=1)
    got = frame_pce(ByteFrames(X, scales), LABELS)
    np.testing.assert_allclose(got, obvious(X * scales[:, np.newaxis], LABELS), rtol=2e-3)
    assert np.nanmin(got) > 30


def test_what_shares_nothing_has_no_peak():
    X = cameras(LABELS, strength=0.0)
    assert np.nanmax(np.abs(frame_pce(BitFrames(pack(X), FRAME.n_pixels), LABELS))) < 15


@pytest.mark.parametrize(
    ("frame", "count"),
    [((64, 64), 0), ((65, 65), 0), ((130, 64), 1), ((322, 200), 14), ((4000, 3000), 32)],
)
def test_shifts_are_whole_blocks_down_and_across(frame, count):
    frame = Frame(*frame)
    for offsets in (shifts(frame), shifts(frame, 500), shifts(frame, 10**6)):
        down, across = np.divmod(offsets, frame.width)
        assert (down % 64 == 0).all()
        assert (across % 64 == 0).all()
        assert (np.diff(offsets) > 0).all()
        # A pixel that leaves on the right comes in on the left: no shift is near to none.
        far = (across >= 64) & (across <= frame.width - 64) | (down >= 64)
        assert far.all()
    assert len(shifts(frame)) == count
    assert len(shifts(frame, 500)) == min(500, len(offsets))


def test_a_frame_without_room_for_shifts_has_no_peak():
    class Small(BitRows):
        frame = Frame(64, 64)

    rows = Small(pack(np.random.default_rng(0).normal(size=(4, 4096))), 4096)
    assert np.isnan(frame_pce(rows, np.zeros(4, dtype=int))).all()
