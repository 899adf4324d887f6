"""A few smooth photos among plain ones: their strangers are not linked, their cameras are."""

from concurrent.futures import Future

import numpy as np
import pytest

from samecam import correlate
from samecam.cluster.consolidate import ConsolidatedSSC
from samecam.frames import Frame
from samecam.store import DiskStore
from tests.smooth import colours_of, smooth_rows

SIDE, FACTOR = 128, 4
CAMERAS, EACH = 5, 8


def plain_rows():
    """Photos of some cameras, none of them zoomed."""
    rng = np.random.default_rng(50)
    patterns = rng.standard_normal((CAMERAS, SIDE, SIDE))
    return np.concatenate(
        [smooth_rows(EACH, 1, seed=k, pattern=p, strength=0.6) for k, p in enumerate(patterns)]
    )


PLAIN = plain_rows()


def with_strangers(seed):
    """Ten zoomed photos of as many cameras after the plain ones."""
    rows = np.concatenate([PLAIN, smooth_rows(10, FACTOR, seed=100 + seed)])
    return correlate.normalised(rows.astype(np.float32)), colours_of(rows)


def is_right(labels):
    """Every plain camera is a group, and nobody else is in any."""
    plain = labels[: len(PLAIN)].reshape(CAMERAS, EACH)
    return (
        (plain == plain[:, :1]).all()
        and sorted(plain[:, 0]) == list(range(CAMERAS))
        and (labels[len(PLAIN) :] == -1).all()
    )


@pytest.mark.parametrize("seed", [0, 4, 11])
def test_zoomed_strangers_are_not_linked(seed):
    X, colour = with_strangers(seed)
    assert not is_right(ConsolidatedSSC().fit(X).labels_)  # what colour is for
    method = ConsolidatedSSC().fit(X, colour=colour)
    assert is_right(method.labels_)
    zoomed = method.photo_scales_[len(PLAIN) :]
    assert (zoomed**2 * SIDE > 0.999 * colour[len(PLAIN) :]).all()


def test_a_zoomed_camera_is_a_group():
    pattern = np.random.default_rng(60).standard_normal((SIDE, SIDE))
    own = smooth_rows(EACH, FACTOR, seed=9, pattern=pattern, strength=1.5)
    rows = np.concatenate([PLAIN, own, smooth_rows(10, FACTOR, seed=100)])
    X, colour = correlate.normalised(rows.astype(np.float32)), colours_of(rows)
    labels = ConsolidatedSSC().fit(X, colour=colour).labels_
    camera = labels[len(PLAIN) : len(PLAIN) + EACH]
    assert (camera == camera[0]).all()
    assert camera[0] >= 0
    assert is_right(np.delete(np.where(labels > camera[0], labels - 1, labels), np.s_[40:48]))


def test_where_all_are_zoomed_strangers_are_not_linked():
    rows = smooth_rows(50, FACTOR, seed=7)
    X, colour = correlate.normalised(rows.astype(np.float32)), colours_of(rows)
    assert (ConsolidatedSSC().fit(X, colour=colour).labels_ == -1).all()


def test_correlations_give_the_same():
    X, colour = with_strangers(0)
    method = ConsolidatedSSC(metric="precomputed", n_pixels=SIDE**2)
    np.testing.assert_array_equal(
        method.fit(correlate.gram(X), colour=colour).labels_,
        ConsolidatedSSC().fit(X, colour=colour).labels_,
    )


class AtOnce:
    """An executor like those of other machines, in this process."""

    workers, remote = 2, True

    def __init__(self):
        self.colours = []

    def submit(self, function, argument):
        self.colours.append(argument.colour)
        future = Future()
        future.set_result(function(argument))
        return future


@pytest.mark.parametrize("remote", [False, True])
def test_batches_get_the_colours_of_their_rows(tmp_path, remote):
    X, colour = with_strangers(0)
    store = DiskStore.create(tmp_path / "store", frame=Frame(SIDE, SIDE), dtype="float32")
    for k, row in enumerate(X):
        store.add(f"{k:03d}", row)
    store.commit()
    executor = AtOnce() if remote else None
    method = ConsolidatedSSC(batch_size=30)
    method.fit(store.rows(), colour=colour, executor=executor)
    zoomed = method.labels_[len(PLAIN) :]
    assert (zoomed == -1).all()
    assert (method.photo_scales_**2 * SIDE > 0.999 * colour).all()
    if executor is not None:
        assert sum(len(part) for part in executor.colours[:2]) == len(X)
    store.close()


@pytest.mark.parametrize(
    ("colour", "words"),
    [
        (np.ones(3), "colour has shape"),
        (np.zeros(len(PLAIN)), "give a positive number"),
        (np.full(len(PLAIN), np.nan), "give a positive number"),
    ],
)
def test_colours_that_cannot_be_are_refused(colour, words):
    with pytest.raises(ValueError, match=words):
        ConsolidatedSSC().fit(PLAIN, colour=colour)


def test_colours_need_the_length_of_fingerprints():
    with pytest.raises(ValueError, match="n_pixels"):
        ConsolidatedSSC(metric="precomputed").fit(np.eye(4), colour=np.ones(4))
