"""The version and its date are the same wherever they stand."""

import re
import shutil
from pathlib import Path

import pytest

import samecam
from release import versions

ROOT = Path(__file__).parents[2]


def test_versions_and_dates_agree():
    assert versions.disagreements(ROOT) == []
    assert versions.version_of_code(ROOT) == samecam.__version__


@pytest.mark.parametrize(
    ("file", "pattern", "instead", "told"),
    [
        ("src/samecam/_version.py", r'"[\d.]+"', '"9.8.7"', "_version.py has 9.8.7, CITATION"),
        ("CITATION.cff", r"(?m)^version: .*", "version: 9.8.7", "CITATION.cff 9.8.7"),
        ("CITATION.cff", r"(?m)^date-released: .*", "date-released: 1999-01-01", "1999-01-01"),
        ("CHANGELOG.md", r"## \[Unreleased\]", "", "does not begin with"),
        ("CHANGELOG.md", r"(?m)^(## \[\d\S+\]) – .*", r"\1", "has no date"),
        ("CHANGELOG.md", r"(?m)^## \[\d\S+\]", "## [9.8.7]", "CHANGELOG.md 9.8.7"),
    ],
)
def test_what_does_not_agree_is_told(tmp_path, file, pattern, instead, told):
    for name in ("src/samecam/_version.py", "CITATION.cff", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changed, count = re.subn(pattern, instead, (tmp_path / file).read_text(), count=1)
    assert count == 1
    (tmp_path / file).write_text(changed)
    assert told in " ".join(versions.disagreements(tmp_path))
