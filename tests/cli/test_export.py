"""`samecam export`: words in, a file and an exit code out."""

import json
import shutil

import pytest
from click.testing import CliRunner

from samecam.case import cluster_photos
from samecam.cli import cli
from samecam.compute import Resources
from tests.case.conftest import run
from tests.photos.pictures import encode, scene


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    (root / "photos").mkdir()
    for k in range(4):
        (root / "photos" / f"{k}.jpg").write_bytes(encode(scene(k, 80, 90)))
    cluster_photos(
        [root / "photos"],
        root / "case",
        resources=Resources(workers=1),
    )
    return root


def export(*words):
    return CliRunner().invoke(cli, ["export", *map(str, words)], standalone_mode=False)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("csv", "export.csv"), ("json", "export.json"), ("vics", "export.vics.json"),
     ("case", "export.case.jsonld")],
)  # fmt: skip
def test_each_format_has_its_file(made, kind, name):
    result = export(made / "case", "--format", kind)
    assert result.return_value == 0
    assert (made / "case" / name).exists()
    assert f"{name}: 4 files," in result.output


def test_json_says_what_was_written(made, tmp_path):
    target = tmp_path / "x.csv"
    words = ("--format", "csv", "-o", target, "--hashes", "MD5, sha1", "--bom", "--json", "-q")
    result = export(made / "case", *words)
    assert json.loads(result.output) == {
        "file": str(target), "format": "csv", "files": 4, "cameras": 0, "groups": 0,
            "without_hashes": {},
    }  # fmt: skip
    assert target.read_bytes().startswith(b"\xef\xbb\xbfcamera_id,")
    assert target.read_text().count("-1,") >= 4


def test_a_photo_that_cannot_be_hashed_is_exit_code_3(made, tmp_path):
    shutil.copytree(made / "photos", tmp_path / "photos")
    cluster_photos(
        [tmp_path / "photos"],
        tmp_path / "case",
        resources=Resources(workers=1),
    )
    (tmp_path / "photos" / "2.jpg").unlink()
    result = export(tmp_path / "case", "--format", "vics")
    assert result.return_value == 3
    assert "1 file could not be hashed:\n  2.jpg: not found" in result.output


def test_errors_are_one_line_and_usage_is_2(made, tmp_path):
    code, _, error = run("export", tmp_path, "--format", "csv")
    assert (code, error) == (
        1,
        f"Error: {str(tmp_path)!r} is no case folder: it has no case.json.\n",
    )
    assert run("export", made / "case")[0] == 2
    assert run("export", made / "case", "--format", "xml")[0] == 2
    code, _, error = run("export", made / "case", "--format", "csv", "--hashes", "crc32")
    assert code == 1
    assert "choose of md5, sha1, sha256" in error
