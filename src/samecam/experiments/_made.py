"""Where a number comes from: the commit, the versions, the processor."""

import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Libraries that methods compute with beside those that a case names.
_MORE = ("scipy", "scikit-learn")
NOT_RECORDED = "not recorded"


def commit() -> str:
    """The commit of the code that runs, with "+" if files differ from it; "" outside a checkout."""
    here = Path(__file__).parent
    # Without optional locks git only reads.
    git = ("git", "--no-optional-locks", "-C", str(here))
    try:
        found = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--", str(here.parent)], capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip() + ("+" if changed.stdout else "")


def versions() -> dict[str, str]:
    """Versions of what a case names, and of SciPy and scikit-learn."""
    from samecam.provenance import versions as named

    found = named()
    for name in _MORE:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def each_version(runs: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """By library, all versions that runs were made with; they may be of several days.

    What a run did not record is said to be "not recorded".
    """
    told = list(runs)
    names = dict.fromkeys([*(name for one in told for name in one), *_MORE])
    return {
        name: ", ".join(sorted({one.get(name, NOT_RECORDED) for one in told})) or NOT_RECORDED
        for name in names
    }


def processor() -> str:
    """What the machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration, IndexError):
        return platform.processor()
