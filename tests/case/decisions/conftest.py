"""A clustered case of planted fingerprints: three cameras, and two photos of none."""

import shutil

import numpy as np
import pytest

from samecam import cluster_fingerprints
from samecam.case import Deciding, open_case
from tests.once import made_once

CAMERAS, EACH, ALONE = 3, 8, 2


def planted(seed=0, d=3000):
    rng = np.random.default_rng(seed)
    patterns = np.repeat(rng.normal(size=(CAMERAS, d)), EACH, axis=0)
    alone = rng.normal(size=(ALONE, d))
    return np.concatenate([0.4 * patterns + rng.normal(size=patterns.shape), alone])


@pytest.fixture(scope="session")
def planted_case(tmp_path_factory):
    def make(folder):
        np.save(folder / "x.npy", planted().astype(np.float32))
        result = cluster_fingerprints(folder / "x.npy", folder / "case")
        assert result.sizes == [EACH] * CAMERAS
        assert result.n_unclustered == ALONE

    return made_once(tmp_path_factory, "planted-case", make) / "case"


@pytest.fixture
def case(planted_case, tmp_path):
    shutil.copytree(planted_case, tmp_path / "case")
    return tmp_path / "case"


@pytest.fixture
def deciding(case):
    with Deciding(case, "Ada") as held:
        yield held


def members(decided):
    """Photos by the name of their camera; those of none under ""."""
    result = {}
    for k, photo in enumerate(decided.photos):
        result.setdefault(decided.name_of(k), []).append(photo.sha256)
    return result


def hashes_of(case):
    """SHA-256 of the used photos, in the order of the case."""
    return [photo.sha256 for photo in open_case(case).used]
