"""What must hold of the process before any command runs."""

import codecs
import resource
import sys

from samecam.errors import SamecamError

# Address space in bytes without which numerical libraries end the process, whatever is caught.
_LEAST_SPACE = 2**30


def check_environment() -> None:
    """Refuse a process whose names of files are not UTF-8, or that may not have enough memory.

    A case keeps paths as UTF-8: under another encoding, names that are not ASCII would be
    other names in its tables than on disk, and than in the same case elsewhere.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < _LEAST_SPACE:
        raise SamecamError(
            f"This process may have {limit // 2**20} MB of address space, and samecam needs "
            f"{_LEAST_SPACE // 2**20} MB at least: raise ulimit -v."
        )
    encoding = sys.getfilesystemencoding()
    if codecs.lookup(encoding).name != "utf-8":
        raise SamecamError(
            f"Names of files are read as {encoding} here, and samecam needs UTF-8: set "
            "PYTHONUTF8=1, or a locale like LC_ALL=C.UTF-8."
        )
