"""Loaded by every Python process of a soak: ends it by kill -9 at a chosen step of writing.

The environment says at which: SOAK_KILL_AT=N in the process that was started, at its N-th
moment, where each call that makes something last (fsync, rename, truncate, unlink, a commit)
has two, just before and just after. SOAK_MOMENTS=FILE lets it say there how many it had.
SOAK_ANY_DISK=1 lets the check for free space pass.
"""

import atexit
import os
import signal
import sys

_at = int(os.environ.get("SOAK_KILL_AT", "0"))
_count_in = os.environ.get("SOAK_MOMENTS")
_moments = 0


def _moment():
    global _moments
    _moments += 1
    if _moments == _at:
        os.kill(os.getpid(), signal.SIGKILL)


def _wrap(function):
    def wrapped(*args, **kwargs):
        _moment()
        result = function(*args, **kwargs)
        _moment()
        return result

    return wrapped


def _tell():
    with open(_count_in, "w") as stream:
        stream.write(str(_moments))


if (_at or _count_in) and "samecam" in sys.orig_argv:
    if _count_in:
        atexit.register(_tell)
    for _name in ("fsync", "replace", "rename", "ftruncate", "unlink"):
        setattr(os, _name, _wrap(getattr(os, _name)))

    import sqlite3

    class _Connection(sqlite3.Connection):
        def execute(self, sql, *args):
            if sql.strip().upper() in ("COMMIT", "END"):
                return _wrap(super().execute)(sql, *args)
            return super().execute(sql, *args)

        commit = _wrap(sqlite3.Connection.commit)

        def __exit__(self, *args):
            return _wrap(super().__exit__)(*args)

    _connect = sqlite3.connect
    sqlite3.connect = lambda *args, **kwargs: _connect(*args, **{"factory": _Connection, **kwargs})

if os.environ.get("SOAK_ANY_DISK"):
    import shutil

    _usage = shutil.disk_usage
    shutil.disk_usage = lambda _: _usage("/")._replace(free=10**12)
