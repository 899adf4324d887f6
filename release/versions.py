"""The version and its date, in every file that names them."""

import re
from pathlib import Path

_SECTION = re.compile(r"^## \[([^\]]+)\](?: – (\S+))?$", re.MULTILINE)


def version_of_code(root: Path) -> str:
    """The version that `samecam --version` prints."""
    return _first(r'^__version__ = "([^"]+)"$', root / "src" / "samecam" / "_version.py")


def sections(root: Path) -> list[tuple[str, str]]:
    """Sections of the changelog in their order: version, and date or ""."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    return [(version, date) for version, date in _SECTION.findall(text)]


def disagreements(root: Path) -> list[str]:
    """What is wrong with versions and dates, a sentence each."""
    code = version_of_code(root)
    cited = _first(r"^version: (\S+)$", root / "CITATION.cff")
    cited_date = _first(r"^date-released: (\S+)$", root / "CITATION.cff")
    found = sections(root)
    wrong = []
    if not found or found[0] != ("Unreleased", ""):
        wrong.append("CHANGELOG.md does not begin with a section [Unreleased].")
    version, date = next(((v, d) for v, d in found if v != "Unreleased"), ("none", ""))
    if version != code:
        wrong.append(f"_version.py has {code}, the newest section of CHANGELOG.md {version}.")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        wrong.append(f"The section [{version}] of CHANGELOG.md has no date like 2026-01-31.")
    if cited != code:
        wrong.append(f"_version.py has {code}, CITATION.cff {cited}.")
    if cited_date != date:
        wrong.append(f"CHANGELOG.md dates {version} {date or 'never'}, CITATION.cff {cited_date}.")
    return wrong


def _first(pattern: str, path: Path) -> str:
    match = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else "none"
