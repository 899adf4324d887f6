"""Versions of everything that may change a number."""

import platform
from importlib.metadata import PackageNotFoundError, version

from samecam._version import __version__


def versions() -> dict[str, str]:
    """Versions of samecam, Python, the libraries that compute, and the JPEG decoder."""
    from PIL import features

    found = {"samecam": __version__, "python": platform.python_version()}
    for name in ("numpy", "numba", "pillow"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    found["libjpeg"] = str(features.version("libjpeg_turbo") or features.version("jpg"))
    return found
