"""Nothing that a worker process prints reaches a person: what counts comes back as a result.

Decoder libraries print what they like of a damaged file, and Python its warnings and the
traceback of a worker that was still starting when its pool closed. The server that workers are
forked from imports this before all else, and a worker of a local cluster calls `dask_setup`; in
any other process the import does nothing.
"""

import os
import sys
from typing import Any

_FORK_SERVER = "from multiprocessing.forkserver import main"


def silence() -> None:
    """Send what this process and its children print as errors to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != 2:
        os.dup2(nowhere, 2)
        os.close(nowhere)


def dask_setup(worker: Any) -> None:  # noqa: ARG001 - as dask calls it
    """See `silence`."""
    silence()


if any(word.startswith(_FORK_SERVER) for word in sys.orig_argv):
    silence()
