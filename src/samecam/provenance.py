"""Where a number comes from: the commit, the versions, the processor."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from samecam._version import __version__

__all__ = ["commit", "library_versions", "processor", "versions"]


def versions() -> dict[str, str]:
    """Versions of what makes fingerprints: samecam, Python, libraries, the JPEG decoder."""
    from PIL import features

    found = {"samecam": __version__, "python": platform.python_version()}
    found |= library_versions("numpy", "numba", "pillow")
    found["libjpeg"] = str(features.version("libjpeg_turbo") or features.version("jpg"))
    return found


def library_versions(*names: str) -> dict[str, str]:
    """Versions of installed libraries; "unknown" where one is not installed."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def commit() -> str:
    """The commit of the code that runs, with "+" if files differ from it; "" outside a checkout."""
    here = Path(__file__).parent
    # Without optional locks git only reads.
    git = ("git", "--no-optional-locks", "-C", str(here))
    try:
        head = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--", str(here)], capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head.stdout.strip() + ("+" if changed.stdout else "")


def processor() -> str:
    """What the machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration, IndexError):
        return platform.processor()
