"""A cluster of real processes for the tests of this folder, and photos to give it."""

import pytest

from samecam.case import extract_photos
from samecam.case.extraction import _dispatch
from samecam.simulate import simulate_photos
from tests.case.conftest import make_photos, write
from tests.case.dask.clusters import Cluster, table
from tests.once import made_once


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


def _make_pile(root):
    folder, pile = root / "photos", root / "pile"
    for size, cameras, images in (((512, 384), 2, 14), ((384, 416), 2, 10)):
        name = f"{size[0]}"
        simulate_photos(folder / name, cameras=cameras, images=images, size=size, seed=2, workers=1)
        extract_photos(folder / name / "images", root / name)
        for row in table(root / name):
            if row["status"] == "good":
                data = (folder / name / "images" / row["path"]).read_bytes()
                write(pile / "images" / name / row["path"], data)
    make_photos(pile / "more", 4)
    for k, file in enumerate(sorted((pile / "images").glob("*/*"))[:6]):
        write(pile / "duplicates" / f"{k}.jpg", file.read_bytes())
        write(pile / "duplicates" / f"{k} again.jpg", file.read_bytes())


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """Cameras of two frames, duplicates, a name of odd bytes, and what is no photo."""
    return made_once(tmp_path_factory, "dask", _make_pile) / "pile"
