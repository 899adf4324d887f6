"""What nobody foresaw, as a sentence: never a traceback on the screen."""

import os
import platform
import sys
import tempfile
import traceback

from samecam._version import __version__


def system_error(error: OSError) -> str:
    """What the system refused, and of which file."""
    names = [repr(os.fsdecode(n)) for n in (error.filename, error.filename2) if _is_name(n)]
    what = error.strerror or type(error).__name__
    return f"{' and '.join(names)}: {what}." if names else f"The system says: {what}."


def _is_name(value: object) -> bool:
    return isinstance(value, str | bytes) and bool(value)


def last_resort(error: Exception) -> str:
    """Keep what happened in a file that can be sent to us, and say so."""
    what = " ".join(traceback.format_exception_only(error)[-1].split())[:200]
    told = f"Error: samecam has failed in a way that nobody foresaw ({what})."
    words = " ".join(map(repr, sys.argv[1:]))
    text = (
        f"samecam {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"samecam {words}\n\n{''.join(traceback.format_exception(error))}"
    )
    try:
        fd, name = tempfile.mkstemp(prefix="samecam-", suffix=".txt")
        with open(fd, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError:
        return f"{told} What happened could not be written down: please send this line."
    return f"{told} Please send {name!r}, which names your files; nothing in the case is lost."
