"""A small clustered case with cameras, views and photos of none, for what notebooks show."""

import pickle
from dataclasses import replace

import pytest

from samecam import cluster_photos, compute
from tests.case.many import make_pile
from tests.case.seen import Search
from tests.once import made_once

FIND = "samecam.register.find_cameras"
ONE = compute.Resources(workers=1)


def _take(folder):
    pile = make_pile(folder / "photos")
    truth = "".join(f"{path},{camera}\n" for path, camera in pile.camera.items())
    (folder / "truth.csv").write_text("path,camera\n" + truth)
    (folder / "pile.pickle").write_bytes(pickle.dumps(pile))


@pytest.fixture(scope="session")
def taken(tmp_path_factory):
    """Folder with photos and truth.csv; not to be changed."""
    return made_once(tmp_path_factory, "photos of notebooks", _take)


@pytest.fixture(scope="session")
def made(taken, tmp_path_factory):
    """Folder with the case, and what clustering gave; not to be changed."""

    def make(folder):
        pile = pickle.loads((taken / "pile.pickle").read_bytes())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FIND, Search(pile))
            result = cluster_photos(taken / "photos", folder / "case", resources=ONE)
        (folder / "result.pickle").write_bytes(pickle.dumps(result))

    return made_once(tmp_path_factory, "case of notebooks", make)


@pytest.fixture(scope="session")
def case(made):
    """The case folder."""
    return made / "case"


@pytest.fixture(scope="session")
def result(made):
    """What clustering gave, at the place the case has now."""
    return replace(pickle.loads((made / "result.pickle").read_bytes()), case=made / "case")
