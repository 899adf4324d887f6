"""A cluster of real processes for the tests of this folder, and photos to give it."""

import pytest

from samecam.case import extract_photos
from samecam.case.extraction import _dispatch
from samecam.simulate import simulate_photos
from tests.case.conftest import make_photos, write
from tests.case.dask.clusters import SETTINGS, Cluster, table


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Two workers that give a task up when its worker has ended once."""
    folder = tmp_path_factory.mktemp("cluster")
    with Cluster(folder, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as made:
        made.nannies = [made.worker(), made.worker()]
        yield made.workers(*made.nannies)


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(_dispatch, "FEWEST", 4)
    monkeypatch.setattr(_dispatch, "MOST", 4)


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """Three cameras, duplicates, a name of odd bytes, and what is no photo."""
    folder = tmp_path_factory.mktemp("dask") / "photos"
    simulate_photos(folder / "sim", cameras=3, images=12, size=(512, 384), seed=2, workers=1)
    pile = folder.parent / "pile"
    extract_photos(folder / "sim" / "images", folder.parent / "all", SETTINGS)
    for row in table(folder.parent / "all"):
        if row["status"] == "good":
            write(pile / "images" / row["path"], (folder / "sim/images" / row["path"]).read_bytes())
    make_photos(pile / "more", 4)
    for k, file in enumerate(sorted((pile / "images").iterdir())[:6]):
        write(pile / "duplicates" / f"{k}.jpg", file.read_bytes())
        write(pile / "duplicates" / f"{k} again.jpg", file.read_bytes())
    return pile
