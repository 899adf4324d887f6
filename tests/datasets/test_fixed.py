"""The fixed sets: the same bytes on every machine, or an error; fingerprints that fit them."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from samecam.correlate import null_scale
from samecam.datasets import FixedSet, Twin, _fixed, fixed_sets, fixed_version
from samecam.errors import SamecamError

SETS = fixed_sets()
# SHA-256 of all names and checksums, by version: a set is never changed, a new list is counted up.
FIXED = {1: "5d7a1739"}


def tiny(**changes):
    """A set that is drawn at once, with the checksum it has."""
    model = Twin("tiny", (9, 6, 1), 0.2, 0.4, 0.5, 0.03, 1024, seed=5)
    model = replace(model, **changes)
    drawn = model.gram(np.float64)
    digest = _fixed.fixed_digest(np.rint(drawn.gram * 2**15), drawn.labels)
    return FixedSet("tiny", "three cameras", model, digest)


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_what_it_was(name):
    fixed = SETS[name]
    G, labels = fixed.gram()
    assert G.dtype == np.float32
    assert len(G) == len(labels) == fixed.n_images
    assert np.array_equal(G, G.T)
    assert set(np.diag(G)) == {1}
    steps = G.astype(np.float64) * 2**15
    assert np.array_equal(steps, np.rint(steps))
    sizes = np.bincount(labels)
    assert (np.count_nonzero(sizes > 1), np.count_nonzero(sizes == 1)) == (
        fixed.cameras,
        fixed.strangers,
    )
    assert null_scale(G, fixed.n_pixels) == pytest.approx(fixed.model.null_scale, rel=0.05)


def test_the_list_is_not_changed_without_a_new_version():
    known = repr([(one.name, one.sha256) for one in SETS.values()])
    assert hashlib.sha256(known.encode()).hexdigest()[:8] == FIXED[fixed_version()]
    assert [one.model.seed for one in SETS.values()] == [*range(1, len(SETS) + 1)]


def test_another_draw_is_an_error_that_says_so(monkeypatch):
    fixed = tiny()
    G, _ = fixed.gram()
    assert len(G) == 16
    with pytest.raises(SamecamError, match="'tiny' comes out different here .*NumPy"):
        replace(fixed, model=replace(fixed.model, seed=6)).gram()
    drawn = fixed.model.gram(np.float64)
    drawn.gram[2, 7] += 2**-15
    monkeypatch.setattr(Twin, "gram", lambda *_: drawn)
    with pytest.raises(SamecamError, match="comes out different"):
        fixed.gram()


def test_last_bits_do_not_matter():
    """Libraries differ by parts of 10⁻¹⁵; the checksum does not see ten times that."""
    for fixed in (tiny(), SETS["few"]):
        drawn = fixed.model.gram(np.float64)
        shaken = drawn.gram * (
            1 + np.random.default_rng(1).uniform(-1, 1, drawn.gram.shape) * 1e-14
        )
        assert _fixed.fixed_digest(np.rint(shaken * 2**15), drawn.labels) == fixed.sha256


def test_the_checksum_is_as_it_is_described():
    G, labels = tiny().gram()
    above = np.triu_indices(len(G), 1)
    parts = (np.int32(len(G)), labels.astype("<i4"), (G[above] * 2**15).astype("<i2"))
    assert hashlib.sha256(b"".join(p.tobytes() for p in parts)).hexdigest() == tiny().sha256


def test_fingerprints_have_just_these_correlations():
    fixed = tiny(models=(0, 0), model_mean=0.05)
    X, labels = fixed.fingerprints()
    G, same = fixed.gram()
    assert X.shape == (16, 1024)
    assert X.dtype == np.float32
    assert np.array_equal(labels, same)
    np.testing.assert_allclose(X @ X.T, G, atol=2e-6)
    np.testing.assert_allclose(np.corrcoef(X), G, atol=2e-6)
    again, _ = fixed.fingerprints()
    assert np.array_equal(X, again)


def test_fingerprints_look_like_noise():
    X, _ = fixed_sets()["few"].fingerprints()
    row = X[7] * 512
    assert row.std() == pytest.approx(1, abs=0.01)
    assert np.mean(row**4) == pytest.approx(3, abs=0.1)
    assert abs(np.mean(row[1:] * row[:-1])) < 0.2


def test_sets_are_the_same_without_vector_instructions():
    """Of these NumPy takes what a processor has, and last bits differ with them."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    there = " ".join(name for name in __cpu_dispatch__ if __cpu_features__.get(name))
    code = "from samecam.datasets import fixed_sets\nfor one in fixed_sets().values(): one.gram()"
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": there}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
