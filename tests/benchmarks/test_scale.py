"""What `benchmarks.scale` makes: cameras that are no views of one another."""

import numpy as np

from benchmarks.scale import part

FRAME = (64, 48)


def patterns():
    return [part(0, FRAME, np.random.default_rng([8, camera])) for camera in range(40)]


def test_patterns_are_normal_numbers_and_the_same_again():
    for made, again in zip(patterns(), patterns(), strict=True):
        assert np.array_equal(made, again)
        assert abs(made.mean()) < 0.1
        assert abs(made.std() - 1) < 0.1


def test_no_pattern_is_a_part_of_another():
    """At no shift: a search for views would join such cameras."""
    spectra = [np.fft.rfft2(made) / np.linalg.norm(made) for made in patterns()]
    highest = max(
        np.fft.irfft2(a.conj() * b, s=FRAME[::-1]).max()
        for k, a in enumerate(spectra)
        for b in spectra[:k]
    )
    assert highest < 7 / np.sqrt(FRAME[0] * FRAME[1])
