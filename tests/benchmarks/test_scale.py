"""What `benchmarks.scale` makes, cameras that are no views of one another, and what it counts."""

import subprocess
import sys

import numpy as np

from benchmarks.scale import memory_of, part

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


CHILD = "held = b'x' * 60_000_000; print(flush=True); input()"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"


def test_memory_is_that_of_all_processes():
    words = [sys.executable, "-c", PARENT]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert 60e6 < memory_of(process.pid) < 120e6
        process.communicate(b"\n")
    assert memory_of(process.pid) == 0
