"""What `samecam cluster` says of too few photos, and of two sources."""

import json
import shlex
import shutil

import pytest
from click.testing import CliRunner

from samecam.cli import cli
from tests.case.worlds import WHOLE, shared_world


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return shared_world(tmp_path_factory, WHOLE)


def cluster(*words):
    given = ["cluster", *map(str, words), "--no-report", "--search", "off"]
    result = CliRunner().invoke(cli, given, standalone_mode=False)
    assert result.exception is None, result.exception
    return result.stdout


def test_two_photos_are_for_match(world, tmp_path):
    files = [world.root / "kept" / path for path in world.result.groups[0].paths[:2]]
    out = cluster(*files, "-o", tmp_path / "two")
    names = shlex.join(map(str, files))
    assert f"Two photos can be compared, with a likelihood ratio: samecam match {names}; " in out
    out = cluster(files[0], "-o", tmp_path / "one")
    assert "One photo can be used, and groups need several" in out
    answer = json.loads(cluster(files[0], "-o", tmp_path / "one", "--json", "-q"))
    assert answer["hint"].startswith("One photo can be used")
    assert answer["sources"] is None


def test_two_sources_are_told_apart_and_match_is_named(world, tmp_path):
    own = world.result.groups[0].paths
    for path in world.result.paths:
        folder = tmp_path / ("her phone" if path in own[1:] else "his")
        folder.mkdir(exist_ok=True)
        shutil.copy(world.root / "kept" / path, folder)
    words = (tmp_path / "her phone", tmp_path / "his", "-o", tmp_path / "case")
    lines = cluster(*words).splitlines()
    count = len(own) - 1
    assert f"her phone and his share a camera: camera 0 ({count} of her phone, 1 of his)." in lines
    command = shlex.join(
        ["samecam", "match", "--reference", str(tmp_path / "her phone"), str(tmp_path / "his")]
    )
    start = "To ask of each photo of his whether the camera of her phone took it: "
    assert start + command in lines
    answer = json.loads(cluster(*words, "--json", "-q"))
    assert answer["hint"] is None
    assert answer["sources"]["shared"] == [0]
    assert answer["sources"]["reference"] == command
    assert not any("share a camera" in line for line in cluster(world.root / "kept", "-o",
                   tmp_path / "one").splitlines())  # fmt: skip
