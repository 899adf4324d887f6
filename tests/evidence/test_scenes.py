import csv

import numpy as np
import pytest
from PIL import Image

from samecam import correlate
from samecam.evidence import pair_evidence, scenes, still_scenes
from samecam.fingerprint import fingerprint
from samecam.photos import low_pass


def scene(seed, size=320):
    """Random shapes: a picture with detail at every scale."""
    rng = np.random.default_rng(seed)
    picture = np.full((size, size), 120.0)
    for _ in range(150):
        y, x = rng.integers(0, size, 2)
        h, w = rng.integers(8, 80, 2)
        picture[y : y + h, x : x + w] = rng.integers(20, 230)
    return picture


def vignette(size=320, strength=60):
    y, x = np.mgrid[:size, :size] / size - 0.5
    return -strength * (x**2 + y**2) + 10 * x


def test_low_pass_is_block_means():
    picture = np.arange(64 * 96 * 3, dtype=np.float64).reshape(64, 96, 3) % 251
    expected = picture.mean(axis=2).reshape(32, 2, 32, 3).mean(axis=(1, 3))
    assert np.allclose(low_pass(picture.astype(np.uint8)), expected, atol=1e-4)
    odd = np.random.default_rng(0).integers(0, 256, (50, 71)).astype(np.uint8)
    small = low_pass(odd)
    assert small.shape == (32, 32)
    assert small[0, 0] == pytest.approx(odd[0, :2].mean())
    with pytest.raises(ValueError, match="at least 32×32"):
        low_pass(odd[:20])


def test_a_tripod_series_is_alike_and_other_pictures_are_not():
    rng = np.random.default_rng(0)
    series = [0.7 * scene(1) + 30 + rng.normal(0, 8, (320, 320)) for _ in range(3)]
    series.append(1.1 * scene(1) - 10)  # another exposure
    others = [scene(seed) for seed in range(2, 12)]
    small = np.stack([low_pass(np.clip(p, 0, 255)) for p in series + others])
    alike = still_scenes(small)
    expected = np.zeros((14, 14), dtype=bool)
    expected[:4, :4] = ~np.eye(4, dtype=bool)
    assert np.array_equal(alike, expected)


def test_a_moved_camera_is_not_still():
    small = np.stack([low_pass(np.roll(scene(1), 25 * k, axis=(0, 1))) for k in range(3)])
    assert not still_scenes(small).any()


def test_vignetting_and_flat_fields_are_no_scene():
    rng = np.random.default_rng(0)
    flat = [128 + vignette() + rng.normal(0, 2, (320, 320)) for _ in range(4)]
    same_lens = [np.clip(scene(s) + vignette(), 0, 255) for s in range(4)]
    assert not still_scenes(np.stack([low_pass(p) for p in flat])).any()
    assert not still_scenes(np.stack([low_pass(p) for p in same_lens])).any()


def test_blocks_do_not_matter(monkeypatch):
    from samecam.evidence import _scenes

    small = np.stack([low_pass(scene(seed % 5)) for seed in range(20)])
    whole = still_scenes(small)
    monkeypatch.setattr(_scenes, "_BLOCK", 3)
    assert np.array_equal(still_scenes(small), whole)
    assert whole.sum() == 20 * 3


def test_scenes_are_connected_parts_largest_first():
    alike = np.zeros((7, 7), dtype=bool)
    for a, b in ((0, 4), (1, 2), (2, 3)):
        alike[a, b] = alike[b, a] = True
    assert [s.tolist() for s in scenes(alike)] == [[1, 2, 3], [0, 4]]
    assert scenes(np.zeros((0, 0), dtype=bool)) == []


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match=r"\(3, 30, 30\)"):
        still_scenes(np.zeros((3, 30, 30)))


@pytest.fixture(scope="module")
def tripod(photos_dir):
    """Pictures of a camera that took almost unmoving series, and of four that did not."""
    wanted = ("canon_eos6d", "dji_fc220", "apple_iphone7", "canon_eos600d", "eastman_kodak")
    with open(photos_dir / "truth.csv", newline="", encoding="utf-8") as stream:
        rows = [(r["path"], r["camera"]) for r in csv.DictReader(stream)]
    rows = [(p, c) for p, c in rows if c.startswith(wanted)]
    pictures = [np.asarray(Image.open(photos_dir / p))[:512, :512] for p, _ in rows]
    return pictures, np.array([c for _, c in rows])


def test_real_tripod_series_are_found_and_weigh_less_over_unlike_pictures(tripod):
    pictures, cameras = tripod
    alike = still_scenes(np.stack([low_pass(p) for p in pictures]))
    assert not alike[cameras[:, None] != cameras[None]].any()
    members = np.flatnonzero(np.char.startswith(cameras, "canon_eos6d"))
    inside = alike[np.ix_(members, members)]
    assert [len(s) for s in scenes(inside)] == [10, 10]
    G = correlate.gram(np.stack([fingerprint(pictures[i]) for i in members]))
    every, unlike = pair_evidence(G, 0.0026), pair_evidence(G, 0.0026, inside)
    assert every.correlation > 1.8 * unlike.correlation
    assert unlike.score > 20
