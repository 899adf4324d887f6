"""What must hold of the process before any command runs."""

import codecs
import sys

from samecam.errors import SamecamError


def check_environment() -> None:
    """Refuse a process whose names of files are not UTF-8.

    A case keeps paths as UTF-8: under another encoding, names that are not ASCII would be
    other names in its tables than on disk, and than in the same case elsewhere.
    """
    encoding = sys.getfilesystemencoding()
    if codecs.lookup(encoding).name != "utf-8":
        raise SamecamError(
            f"Names of files are read as {encoding} here, and samecam needs UTF-8: set "
            "PYTHONUTF8=1, or a locale like LC_ALL=C.UTF-8."
        )
