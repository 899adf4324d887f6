import numpy as np
import pytest

from samecam.evidence import alike_pictures, common_look, common_noise, picture_hashes, seen
from samecam.photos import low_pass
from tests.evidence.test_scenes import scene

VIEWS = range(8)


def small(picture):
    return np.clip(np.rint(low_pass(np.clip(picture, 0, 255))), 0, 255).astype(np.uint8)


def test_a_view_is_a_turn_or_a_mirror():
    picture = np.arange(6).reshape(2, 3)
    views = [seen(picture, view) for view in VIEWS]
    turned = [np.rot90(p, k) for p in (picture, picture[:, ::-1]) for k in range(4)]
    assert {v.tobytes() + bytes(v.shape) for v in views} == {
        t.tobytes() + bytes(t.shape) for t in turned
    }


@pytest.mark.parametrize("view", VIEWS)
def test_the_hash_of_a_view_is_that_of_the_picture_so_seen(view):
    picture = small(scene(1))[np.newaxis]
    assert np.array_equal(
        picture_hashes(picture)[:, view], picture_hashes(seen(picture, view))[:, 0]
    )


@pytest.mark.parametrize("view", VIEWS)
def test_a_copy_is_like_its_original_alone_however_it_was_turned(view):
    pictures = np.stack([small(scene(seed)) for seed in range(40)])
    rng = np.random.default_rng(0)
    turned = scene(7)[:, ::2]
    # Rows of `seen` are undone by the view that leads back.
    back = next(k for k in VIEWS if np.array_equal(seen(seen(turned, view), k), turned))
    copy = small(seen(turned, view) * 0.9 + rng.normal(0, 3, seen(turned, view).shape))
    *others, told = alike_pictures(np.concatenate([pictures, copy[np.newaxis]]))
    assert [(alike.picture, alike.copy, alike.view) for alike in told] == [(7, 40, back)]
    assert not any(others)


def test_nothing_but_what_came_before_decides_and_the_first_may_be_passed_over():
    rng = np.random.default_rng(1)
    pictures = np.stack([small(scene(k % 20) + rng.normal(0, 2, (320, 320))) for k in range(300)])
    whole = list(alike_pictures(pictures))
    assert list(alike_pictures(pictures[:170])) == whole[:170]
    assert list(alike_pictures(pictures, first=123)) == whole[123:]
    assert all(alike.picture < alike.copy for told in whole for alike in told)
    assert len(whole[299]) == 8


def test_no_more_than_8_are_told():
    rng = np.random.default_rng(1)
    pictures = np.stack([small(scene(3) + rng.normal(0, 2, (320, 320))) for _ in range(60)])
    assert [len(told) for told in alike_pictures(pictures)] == [min(k, 8) for k in range(60)]


def test_pictures_of_different_moments_are_not_told():
    pictures = np.stack([small(scene(3))] * 4)
    told = list(alike_pictures(pictures, np.array([5, 6, -1, 5])))
    assert [sorted(alike.picture for alike in some) for some in told] == [[], [], [0, 1], [0, 2]]


def test_flat_pictures_and_borders_are_like_nothing():
    rng = np.random.default_rng(0)
    flat = [np.full((320, 320), 90.0) + rng.normal(0, 5, (320, 320)) for _ in range(4)]
    framed = [scene(seed) for seed in range(4)]
    for picture in framed:
        picture[:60] = picture[-60:] = 0
    told = alike_pictures(np.stack([small(picture) for picture in flat + framed]))
    assert not any(told)
    assert common_look(small(flat[0])[np.newaxis], small(flat[0])[np.newaxis]) == 0


def test_there_may_be_no_pictures():
    assert list(alike_pictures(np.zeros((0, 32, 32), np.uint8))) == []
    with pytest.raises(ValueError, match=r"\(n, 32, 32\)"):
        list(alike_pictures(np.zeros((3, 16, 16))))


def test_a_copy_has_its_noise_everywhere_and_an_unmoving_scene_its_edges_alone():
    rng = np.random.default_rng(0)
    edges = np.zeros((768, 1024))
    edges[100:130], edges[:, 400:420] = 8, -8
    one, other = (edges + rng.normal(0, 1, edges.shape) for _ in range(2))
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.5
    assert common_noise(one.astype(np.float32), other.astype(np.float32)) < 0.03
    copy = (one + rng.normal(0, 1, one.shape)).astype(np.float32)
    assert common_noise(one.astype(np.float32), copy) > 0.6
    half = one.reshape(384, 2, 512, 2).mean(axis=(1, 3)).astype(np.float32)
    assert common_noise(one.astype(np.float32), half) == pytest.approx(1)
    assert common_noise(half, one.astype(np.float32)) == pytest.approx(1)


def test_without_residual_nothing_is_in_common():
    assert common_noise(np.zeros((128, 128), np.float32), np.zeros((128, 128), np.float32)) == 0
