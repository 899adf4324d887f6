"""Where a number comes from: the commit, the processor."""

import platform
import subprocess
from pathlib import Path


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


def processor() -> str:
    """What the machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration, IndexError):
        return platform.processor()
