"""What some tests need beyond `pip install '.[dev]'`, by the mark that says so.

Without it they are skipped. Where the environment names marks in SAMECAM_NEEDS, as CI does once
it has installed everything, what is missing ends the run.
"""

import importlib.util
import os
import shutil

# Marks, what is looked for, and where it comes from.
_MODULES = {
    "torch": ("torch",),
    "validator": ("case_utils", "lir", "requests_cache"),
    "browser": ("selenium",),
}
_PROGRAMS = {"browser": ("chromium", "chromedriver")}
_SOURCES = {
    "torch": "pip install torch",
    "validator": "pip install 'samecam[validate]'",
    "browser": "make browser",
}
EXTRAS = tuple(_SOURCES)


def missing(mark):
    """Why tests with this mark cannot run here, or nothing."""
    lacking = [name for name in _MODULES[mark] if importlib.util.find_spec(name) is None]
    lacking += [name for name in _PROGRAMS.get(mark, ()) if shutil.which(name) is None]
    return f"{', '.join(lacking)} not installed: {_SOURCES[mark]}" if lacking else ""


def demanded():
    """Marks whose tests must not be skipped here."""
    return os.environ.get("SAMECAM_NEEDS", "").split()
