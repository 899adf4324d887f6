"""A process that runs commands one after another: `python -m tests.soak.slot FILE FOLDER BYTES`.

Words come as lines of JSON, what became of them goes back the same way. What anybody writes to
standard error beside the command, a worker or a library, is in FILE; temporary files are in
FOLDER. BYTES are the memory that may be had beside that of a process that has loaded everything.
"""

import faulthandler
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback


def main():
    replies = os.fdopen(os.dup(1), "w")
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.dup2(log, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.register(signal.SIGUSR1)
    load()
    tempfile.tempdir = sys.argv[2]  # not before: the server's socket needs a short name
    limit(int(sys.argv[3]))
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), file=replies, flush=True)


def load():
    """Everything a command needs, and the server that forks its workers."""
    import multiprocessing
    from multiprocessing import forkserver

    import tests.preload

    multiprocessing.get_context("forkserver").set_forkserver_preload([tests.preload.__name__])
    forkserver.ensure_running()


def limit(most):
    """Bound the address space; the server of workers was there before and is not bound."""
    with open("/proc/self/statm") as stream:
        held = int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (held + most, held + most))


def run(words):
    from tests.processes import run

    with open("/proc/self/clear_refs", "w") as stream:
        stream.write("5")  # the peak below is that of this command
    began, before = time.monotonic(), _memory("VmRSS")
    try:
        code, out, error = run(*words)
    except BaseException:
        code, out, error = "escaped", "", traceback.format_exc()
    seconds, peak = time.monotonic() - began, _memory("VmHWM")
    return {
        "code": code,
        "out": out[:4000] + out[4000:][-4000:],
        "error": error[:20_000],
        "length": len(error),
        "seconds": seconds,
        "memory": max(0, peak - before),
        "files": len(os.listdir("/proc/self/fd")),
    }


def _memory(name):
    with open("/proc/self/status") as stream:
        return next(int(line.split()[1]) * 1024 for line in stream if line.startswith(name))


if __name__ == "__main__":
    main()
