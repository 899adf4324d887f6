import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

from samecam import correlate
from samecam.errors import SamecamError
from samecam.evidence import (
    Chance,
    comparisons_from_gram,
    comparisons_from_rows,
    fingerprint_quality,
    group_evidence,
    intra_correlations,
    measured_null,
    photo_evidence,
    photo_scores,
)
from samecam.evidence import _comparisons as module
from samecam.simulate import fingerprints
from samecam.store import MemoryStore
from tests.stores import written


@pytest.fixture(scope="module")
def photos():
    X, truth = fingerprints([6, 5, 3, 1, 1], 0.1, n_pixels=900, seed=2)
    return X, np.where(truth < 3, truth, -1)


def slow_leave_one_out(X, labels):
    rows = X.astype(np.float64)
    result = np.zeros((len(X), labels.max() + 1))
    for i in range(len(X)):
        for c in range(labels.max() + 1):
            others = [j for j in range(len(X)) if labels[j] == c and j != i]
            if others:
                mean = rows[others].mean(axis=0)
                result[i, c] = rows[i] @ mean / np.linalg.norm(mean)
    return result


def test_leave_one_out_is_the_correlation_with_the_mean_of_the_others(photos):
    X, labels = photos
    slow = slow_leave_one_out(X, labels)
    G = correlate.gram(X)
    for given in (comparisons_from_gram(G, labels), comparisons_from_rows(X, labels)):
        assert np.allclose(given.array(), slow, atol=1e-6)
        inside = np.flatnonzero(labels >= 0)
        assert np.allclose(given.own[inside], slow[inside, labels[inside]], atol=1e-6)
        assert np.isnan(given.own[labels < 0]).all()
        slow_other = slow.copy()
        slow_other[inside, labels[inside]] = -1
        assert np.array_equal(given.other, slow_other.argmax(axis=1))
        assert np.allclose(given.other_correlation, slow_other.max(axis=1), atol=1e-6)
    assert np.allclose(correlate.centroid_correlations(G, labels), slow, atol=1e-6)


def test_rows_arrays_and_stores_agree(photos, tmp_path):
    X, labels = photos
    expected = comparisons_from_gram(correlate.gram(X), labels)
    in_memory = MemoryStore(X.shape[1])
    on_disk = written(tmp_path / "store", X, "float32")
    for i, row in enumerate(X):
        in_memory.add(f"{i:03}", row)
    in_memory.commit()
    for source in (X, in_memory, on_disk):
        got = comparisons_from_rows(source, labels)
        assert np.allclose(got.array(), expected.array(), atol=1e-5)
        assert np.allclose(got.norms, expected.norms, atol=1e-5)
        assert np.allclose(got.between.read(0, 3), expected.between.read(0, 3), atol=1e-5)
    on_disk.close()


def test_a_group_of_one_leaves_nothing(photos):
    X, labels = photos
    labels = labels.copy()
    labels[np.flatnonzero(labels == 2)[1:]] = -1
    r = comparisons_from_rows(X, labels).array()
    assert r[np.flatnonzero(labels == 2)[0], 2] == 0


def test_intra_correlation_is_the_mean_over_pairs(photos):
    X, labels = photos
    given = comparisons_from_rows(X, labels)
    for c in range(3):
        part = X[labels == c] @ X[labels == c].T
        pairs = part[np.triu_indices(len(part), 1)]
        assert intra_correlations(given)[c] == pytest.approx(pairs.mean(), abs=1e-6)


def test_fingerprint_correlations_are_those_of_the_means(photos):
    X, labels = photos
    means = np.stack([X[labels == c].mean(axis=0) for c in range(3)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    given = comparisons_from_rows(X, labels)
    one_by_one = dataclasses.replace(given, memory=0)
    for some in (given, one_by_one):
        blocks = dict(module.fingerprint_correlations(some))
        assert len(blocks) == (3 if some is one_by_one else 1)
        assert np.allclose(np.concatenate(list(blocks.values())), means @ means.T, atol=1e-6)


def test_quality_is_the_correlation_with_the_true_pattern():
    rng = np.random.default_rng(0)
    d, rho = 40_000, 0.04
    pattern = rng.standard_normal(d)
    for n in (2, 8, 50):
        X = rho**0.5 * pattern + (1 - rho) ** 0.5 * rng.standard_normal((n, d))
        mean = X.mean(axis=0)
        measured = mean @ pattern / np.linalg.norm(mean) / np.linalg.norm(pattern)
        assert fingerprint_quality(n, rho) == pytest.approx(measured, abs=0.02)
    assert fingerprint_quality(5, -0.01) == 0


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 1], "give 4 whole numbers"),
        ([0.0, 1.0, 0.0, 1.0], "give 4 whole numbers"),
        ([0, 2, 0, 2], "without gaps"),
        ([0, 1, 0, -2], "without gaps"),
    ],
)
def test_wrong_labels_are_named(labels, words):
    with pytest.raises(ValueError, match=words):
        comparisons_from_gram(np.eye(4), labels)


def test_a_budget_too_small_is_an_error():
    X = np.zeros((70_000, 64), dtype=np.float32)
    labels = np.arange(len(X)) % 2
    with pytest.raises(SamecamError, match="70000 photos with 2 groups takes .* raise it"):
        comparisons_from_rows(X, labels, memory=900)


def test_gram_must_be_square():
    with pytest.raises(ValueError, match=r"\(3, 4\)"):
        comparisons_from_gram(np.zeros((3, 4)), [0, 0, 0])


def many_groups():
    """3,000 photos of 600 cameras, some in no group; two cameras cut in halves."""
    X, truth = fingerprints([5] * 600, 0.15, n_pixels=1600, seed=7)
    labels = np.where(truth < 596, truth, -1)
    for number, camera in enumerate((3, 8)):
        labels[np.flatnonzero(labels == camera)[::2]] = 596 + number
    order = np.random.default_rng(1).permutation(len(X))
    return X[order], labels[order]


def facts(given):
    null = measured_null(given)
    unknown = Chance.unknown(len(given.labels))
    scores = photo_scores(given, null, unknown, unknown)
    photos = photo_evidence(given, scores, 1024)
    groups = group_evidence(given, null, scores[0], 1024)
    for value in (null, photos, *groups):
        for field in dataclasses.fields(value):
            yield field.name, getattr(value, field.name)


def test_evidence_does_not_depend_on_the_budget(tmp_path):
    X, labels = many_groups()
    on_disk = written(tmp_path / "store", X, "float32")
    large = comparisons_from_rows(X, labels, memory=2**30)
    assert large.correlations.in_memory
    small = comparisons_from_rows(on_disk, labels, memory=2**20, folder=tmp_path)
    # As if less were left: blocks of single groups, and values that are counted, not sorted.
    least = dataclasses.replace(small, memory=0)
    for given in (small, least):
        assert not given.correlations.in_memory
        for (name, expected), (_, got) in zip(facts(large), facts(given), strict=True):
            assert np.array_equal(expected, got, equal_nan=not isinstance(got, str)), name
    on_disk.close()


PEAK = """
import json, sys
import numpy as np
from samecam import evidence
from samecam.store import DiskStore, Subset

def peak():
    with open("/proc/self/status") as stream:
        return next(int(line.split()[1]) * 1024 for line in stream if line.startswith("VmHWM"))

def weigh(source, labels, memory):
    given = evidence.comparisons_from_rows(source, labels, memory=memory, folder=sys.argv[1])
    null = evidence.measured_null(given)
    chance = evidence.group_chance(source, given, given.labels, memory=memory)
    scores = evidence.photo_scores(given, null, chance, evidence.Chance.unknown(len(labels)))
    photos = evidence.photo_evidence(given, scores, source.n_pixels)
    evidence.group_evidence(given, null, scores[0], source.n_pixels, own=chance)
    return photos, null

with DiskStore.open(sys.argv[1] + "/store") as whole:
    store = whole.rows()
    labels = np.arange(len(store)) // 6
    weigh(Subset(store, np.arange(900)), labels[:900], 2**30)  # code and libraries are loaded
    before = peak()
    photos, null = weigh(store, labels, int(sys.argv[2]))
    grown = peak() - before
print(json.dumps({"grown": grown, "score": photos.score.tolist(), "p": photos.p_value.tolist(),
                  "other": photos.other.tolist(), "scale": null.scale}))
"""


@pytest.mark.slow
def test_peak_memory_is_the_budget_and_16_mib(tmp_path):
    # 6,000 photos and 1,000 groups: their comparisons take 48 MB, a strip of all rows 49 MB.
    X, _ = fingerprints([6] * 1000, 0.1, 1024, seed=3)
    written(tmp_path / "store", X).close()
    answers = []
    for memory in (24 * 2**20, 2**31):
        run = subprocess.run(
            [sys.executable, "-c", PEAK, str(tmp_path), str(memory)],
            capture_output=True,
            text=True,
            check=True,
        )
        answers.append(json.loads(run.stdout))
    small, large = answers
    assert small.pop("grown") < 24 * 2**20 + 16 * 2**20
    assert large.pop("grown") > 90 * 2**20
    assert small == large
