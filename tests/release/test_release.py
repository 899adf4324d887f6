"""A release: archives hold what they should, and the checklist sees what does not."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import samecam
from release import check, contents

ROOT = Path(__file__).parents[2]


def test_pages_link_to_what_is_there(tmp_path):
    check.links()
    page = tmp_path / "page.md"
    page.write_text("![a](gone.png) [b](page.md#part) [c](https://example.org/d) [e](#f)")
    assert contents.dead_links(page) == ["page.md links to gone.png, which is not there."]


def test_hooks_are_what_make_lint_runs():
    told = subprocess.run(
        ["make", "--dry-run", "--always-make", "lint"], cwd=ROOT, capture_output=True, text=True
    )
    tools = "ruff|mypy|lint-imports"
    ran = re.findall(rf"(?m)^(\.venv/bin/(?:{tools})\b.*)$", told.stdout)
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert len(ran) == 4
    assert re.findall(r"(?m)^ +entry: (.*)$", hooks) == ran
    assert "http" not in hooks


def test_archives_that_lack_or_have_too_much_are_told(tmp_path):
    known = {"src/samecam/a.py", "src/samecam/b.css", "docs/c.md", "tests/d.py", ".ci/run"}
    wheel = tmp_path / "samecam-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("samecam/a.py", "tests/d.py", "samecam-1.dist-info/METADATA"):
            archive.writestr(name, "")
    assert contents.faults_of_wheel(wheel, known) == [
        f"{wheel.name} lacks samecam/b.css.",
        f"{wheel.name} has tests/d.py, not ours.",
        f"{wheel.name} has no LICENSE.",
    ]
    sdist = tmp_path / "samecam-1.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        for name in ("src/samecam/a.py", "src/samecam/b.css", "tests/d.py", "x.pyc", "PKG-INFO"):
            archive.addfile(tarfile.TarInfo(f"samecam-1/{name}"))
    assert contents.faults_of_sdist(sdist, known) == [
        f"{sdist.name} lacks docs/c.md.",
        f"{sdist.name} has x.pyc, not ours.",
    ]


def test_the_first_check_that_fails_ends_the_list(monkeypatch, capsys):
    def fails():
        raise check.CheckError("it is not so")

    listed = [("one", lambda: None), ("two", fails), ("three", lambda: pytest.fail("went on"))]
    monkeypatch.setattr(check, "checks", lambda *_: listed)
    assert check.main(["--quick"]) == 1
    assert capsys.readouterr().out == "- one … yes\n- two … no\nit is not so\n"


def test_a_python_that_does_not_start_is_not_there(tmp_path):
    shim = tmp_path / "python3.99"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert check.is_there(sys.executable)
    assert not check.is_there(str(shim))
    assert not check.is_there(str(tmp_path / "none"))


@pytest.mark.slow
def test_archives_hold_all_files_of_the_package(tmp_path):
    """From a copy: what `build` leaves in a tree must not be left in this one."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs a clone")
    known = contents.tracked(ROOT)
    for name in known:
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "tree" / name)
    dist = tmp_path / "dist"
    words = [sys.executable, "-m", "build", "--outdir", str(dist), str(tmp_path / "tree")]
    subprocess.run(words, check=True, capture_output=True)
    assert contents.faults_of_wheel(next(dist.glob("*.whl")), known) == []
    assert contents.faults_of_sdist(next(dist.glob("*.tar.gz")), known) == []
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as archive:
        names = archive.namelist()
        metadata = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    assert f"\nVersion: {samecam.__version__}\n" in metadata
    assert any(name.endswith("py.typed") for name in names)
