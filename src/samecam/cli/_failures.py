"""What nobody foresaw, as a sentence: never a traceback on the screen."""

import errno
import os
import platform
import sys
import tempfile
import traceback

from samecam._version import __version__

# What libraries say when they get no memory or no thread; most raise nothing of their own for it.
_NO_ROOM = ("failed to map segment", "annot allocate memory", "can't start new thread")
_MEMORY, _FILES = (errno.ENOMEM, errno.EAGAIN), (errno.EMFILE, errno.ENFILE)


def lack(error: BaseException | None) -> str:
    """A sentence about what this process was not given, if that lies behind an error; else ""."""
    while error is not None:
        number = error.errno if isinstance(error, OSError) else None
        if number in _FILES:
            return "This process may not open as many files as it needs: raise ulimit -n."
        if (
            isinstance(error, MemoryError)
            or number in _MEMORY
            or any(words in str(error) for words in _NO_ROOM)
        ):
            return (
                "This process gets too little memory, or too few threads: raise its limits "
                "(ulimit -v, ulimit -u), or end other programs."
            )
        error = error.__cause__ or error.__context__
    return ""


def system_error(error: Exception) -> str:
    """What the system refused, and of which file; "" if it was not the system."""
    if not isinstance(error, OSError):
        return ""
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
