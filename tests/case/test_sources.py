"""Two folders of a case: which cameras took photos of both."""

import shutil

import pytest

from samecam import cluster_photos
from samecam.case import add_photos, open_case, two_sources
from tests.case.worlds import WHOLE, copied, shared_world


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory, WHOLE)


def sorted_out(world, root, shared):
    """Photos of one camera in a folder, those of the others in another; some of it in both."""
    own = world.result.groups[0].paths
    for path in world.result.paths:
        alice = path in own and own.index(path) >= shared
        target = root / ("alice" if alice else "bob") / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(world.root / "kept" / path, target)
    return root


@pytest.fixture(scope="module")
def apart(world, tmp_path_factory):
    """A case of two folders that share no camera."""
    root = tmp_path_factory.mktemp("apart")
    photos = sorted_out(world, root / "photos", 0)
    return cluster_photos([photos / "alice", photos / "bob"], root / "case", search="off").case


def test_two_sources_that_share_no_camera(apart):
    found = two_sources(open_case(apart))
    assert (found.first.name, found.second.name) == ("alice", "bob")
    assert found.shared == []
    assert found.first.is_reference
    assert not found.second.is_reference
    assert found.first.photos == sum(found.first.cameras.values())
    assert "no evidence of different cameras" in found.sentence
    assert found.as_dict()["shared"] == []


def test_two_folders_below_one_share_a_camera(world, tmp_path):
    sorted_out(world, tmp_path / "phones" / "both", 3)
    case = cluster_photos(tmp_path / "phones", tmp_path / "case", search="off").case
    found = two_sources(open_case(case))
    (shared,) = found.shared
    assert (found.first.above, found.first.name) == ("both", "alice")
    assert found.second.cameras[shared] == 3
    told = f"camera {shared} ({found.first.cameras[shared]} of alice, 3 of bob)"
    assert found.sentence == f"alice and bob share a camera: {told}."


def test_one_folder_three_folders_or_added_photos_are_not_two(world, apart, tmp_path):
    assert two_sources(open_case(world.case)) is None
    case = copied(apart, tmp_path / "case")
    add_photos(case, world.root / "held", search="off")
    assert two_sources(open_case(case)) is None
