"""What lies in a wheel and in a source archive, against what should."""

import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

# Of files that git knows, those that a source archive goes without: how this repository is kept.
LEFT_OUT = (".ci/", ".gitignore")
# What setuptools adds to a source archive.
_ADDED = re.compile(r"PKG-INFO|setup\.cfg|src/samecam\.egg-info/.*")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)#]+)(?:#[^)]*)?\)")


def tracked(root: Path) -> set[str]:
    """Files that git knows and that are there."""
    told = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
    names = told.stdout.decode().split("\0")
    return {name for name in names if name and (root / name).is_file()}


def faults_of_wheel(wheel: Path, known: Iterable[str]) -> list[str]:
    """A sentence for each file that is missing from a wheel, or should not be in it.

    Parameters
    ----------
    wheel : the archive
    known : names of all files of the source tree, such as `tracked` gives
    """
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    told = {name for name in names if re.match(r"samecam-[^/]+\.dist-info/", name)}
    wanted = {name.removeprefix("src/") for name in known if name.startswith("src/samecam/")}
    faults = _differences(wheel.name, names - told, wanted)
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in told):
        faults.append(f"{wheel.name} has no LICENSE.")
    return faults


def faults_of_sdist(sdist: Path, known: Iterable[str]) -> list[str]:
    """The same of a source archive, which has all files but those `LEFT_OUT`."""
    with tarfile.open(sdist) as archive:
        inside = [member.name for member in archive.getmembers() if member.isfile()]
    names = {name.partition("/")[2] for name in inside}
    wanted = {name for name in known if not name.startswith(LEFT_OUT)}
    return _differences(sdist.name, {n for n in names if not _ADDED.fullmatch(n)}, wanted)


def _differences(archive: str, names: set[str], wanted: set[str]) -> list[str]:
    missing = [f"{archive} lacks {name}." for name in sorted(wanted - names)]
    return missing + [f"{archive} has {name}, not ours." for name in sorted(names - wanted)]


def dead_links(page: Path) -> list[str]:
    """A sentence for each picture or page that a page of ours links to and that is not there."""
    targets = sorted(set(_LINK.findall(page.read_text(encoding="utf-8"))))
    return [
        f"{page.name} links to {target}, which is not there."
        for target in targets
        if "://" not in target and not (page.parent / target).exists()
    ]
