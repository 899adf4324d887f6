"""Surroundings in which no command can do what it says."""

import pytest

from tests.photos.pictures import encode, scene
from tests.processes import run_apart

ASCII = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}


@pytest.mark.parametrize("command", ["extract", "cluster"])
def test_names_that_are_not_utf_8_are_refused_before_any_work(tmp_path, command):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "é.png").write_bytes(encode(scene(1, 64, 64), "PNG"))
    words = (command, tmp_path / "photos", "-o", tmp_path / "case")
    code, out, error = run_apart(*words, variables=ASCII)
    assert (code, out) == (1, "")
    assert error.count("\n") == 1
    assert "PYTHONUTF8=1" in error
    assert not (tmp_path / "case").exists()


def test_help_is_given_everywhere():
    assert run_apart("extract", "--help", variables=ASCII)[0] == 0
