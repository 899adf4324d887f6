"""Tests that need more than `pip install '.[dev]'` say so by a mark, and run where it is there."""

import ast
from pathlib import Path

import pytest

from tests import conftest, extras

HERE = Path(__file__).parent


def skips(tree):
    """Modules without which a test file, or a test in it, skips itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("importorskip"):
            yield node.args[0].value


def test_a_file_that_skips_itself_without_an_extra_has_its_mark():
    """Else `make check` would not choose it, and nobody would run it."""
    needing = 0
    for path in HERE.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text if "importorskip" in text else "")
        needs = {name for name in skips(tree) if name in extras.EXTRAS}
        lines = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
        for name in needs:
            assert f"pytestmark = pytest.mark.{name}" in lines, path
        needing += bool(needs)
    assert needing >= 7


def test_what_is_demanded_and_missing_ends_the_run(monkeypatch):
    monkeypatch.setattr(conftest, "missing", lambda mark: "no torch" if mark == "torch" else "")
    monkeypatch.setenv("SAMECAM_NEEDS", "browser")
    conftest.pytest_configure()
    monkeypatch.setenv("SAMECAM_NEEDS", "browser torch")
    with pytest.raises(pytest.UsageError, match="SAMECAM_NEEDS asks for torch: no torch"):
        conftest.pytest_configure()


def test_what_is_missing_is_named_with_where_it_comes_from(monkeypatch):
    monkeypatch.setattr(extras.shutil, "which", lambda name: None if name == "chromium" else "/x")
    assert extras.missing("browser") == "chromium not installed: make browser"
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda _: None)
    assert extras.missing("torch") == "torch not installed: pip install torch"


def test_every_mark_is_registered(pytestconfig):
    known = {line.split(":")[0] for line in pytestconfig.getini("markers")}
    assert {*extras.EXTRAS, *conftest.ON_DEMAND} <= known
